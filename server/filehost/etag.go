package filehost

import "strings"

// IsStrongETag tells whether an entity tag stands for exactly these bytes (RFC 9110 8.8.1).
func IsStrongETag(etag string) bool { return strings.HasPrefix(etag, `"`) }

// BareETag is the entity tag that the file itself has: servers add a suffix for what they compress on its way.
func BareETag(etag string) string {
	for _, suffix := range []string{`--gzip"`, `-gzip"`, `;gzip"`, `-br"`} {
		if bare, found := strings.CutSuffix(etag, suffix); found {
			return bare + `"`
		}
	}
	return etag
}

// SameETag compares weakly (RFC 9110 8.8.3.2): Apache calls the tag of a fresh file weak, and strong a second later.
func SameETag(a, b string) bool {
	return strings.TrimPrefix(BareETag(a), "W/") == strings.TrimPrefix(BareETag(b), "W/")
}
