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

// isStrong tells whether an entity tag stands for exactly these bytes, so that it may go into If-Match.
func isStrong(etag string) bool { return strings.HasPrefix(etag, `"`) }

// bareETag is the entity tag that the file itself has: servers add a suffix for what they compress on its way.
func bareETag(etag string) string {
	for _, suffix := range []string{`--gzip"`, `-gzip"`, `;gzip"`, `-br"`} {
		if bare, found := strings.CutSuffix(etag, suffix); found {
			return bare + `"`
		}
	}
	return etag
}

// sameETag compares weakly (RFC 9110 8.8.3.2): Apache calls the tag of a fresh file weak, and strong a second later.
func sameETag(a, b string) bool {
	return strings.TrimPrefix(bareETag(a), "W/") == strings.TrimPrefix(bareETag(b), "W/")
}
