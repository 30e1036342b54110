package remote

import "strings"

const maxETagBytes = 1 << 10

// quoteETag makes an entity tag (RFC 9110 8.8.3) of what a host sent: some forget the quotes. "" = it is none, or
// too long to be kept with every entry.
func quoteETag(raw string) string {
	raw = strings.TrimSpace(raw)
	opaque, weak := strings.CutPrefix(raw, "W/")
	opaque = strings.TrimSuffix(strings.TrimPrefix(opaque, `"`), `"`)
	if opaque == "" || len(opaque) > maxETagBytes || strings.ContainsFunc(opaque, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }) {
		return ""
	}
	prefix := ""
	if weak {
		prefix = "W/"
	}
	if len(raw) == len(prefix)+len(`""`)+len(opaque) {
		return raw // nothing was missing
	}
	return prefix + `"` + opaque + `"`
}
