package remote

import "strings"

// quoteETag makes an entity tag (RFC 9110 8.8.3) of what a host sent: some forget the quotes. "" = it is none.
func quoteETag(raw string) string {
	opaque, weak := strings.CutPrefix(strings.TrimSpace(raw), "W/")
	opaque = strings.TrimSuffix(strings.TrimPrefix(opaque, `"`), `"`)
	if opaque == "" || strings.ContainsFunc(opaque, func(r rune) bool { return r <= ' ' || r == '"' || r == 0x7f }) {
		return ""
	}
	if weak {
		return `W/"` + opaque + `"`
	}
	return `"` + opaque + `"`
}
