package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"net/http"
	"strconv"
	"strings"
)

// varyFiles are the headers that an answer to GET /files depends on (RFC 9110 12.5.5).
const varyFiles = "Authorization, Cookie, Accept-Language"

// filesTag is the validator of a page: over its body, and over what else the answer is for. It is a weak one (RFC 9110
// 8.8.1): the body's cursor is sealed anew each time, so that two answers with one tag differ in their bytes. state
// stands for what the cursor seals, and for the user and his connection.
func filesTag(body []byte, cursor, state string, languages []string) string {
	before, after, _ := bytes.Cut(body, []byte(cursor))
	return `W/"` + digest(before, after, []byte(state), []byte(strings.Join(languages, ","))) + `"`
}

// digest is a text that stands for all of the parts.
func digest(parts ...[]byte) string {
	sum := sha256.New()
	for _, part := range parts {
		sum.Write(append(strconv.AppendInt(nil, int64(len(part)), 10), ':'))
		sum.Write(part)
	}
	return base64.RawURLEncoding.EncodeToString(sum.Sum(nil)[:18])
}

// unlessKnown is the answer, or 304 with the headers that it must have (RFC 9110 15.4.5) when the caller has named the
// answer's ETag. It is for answers of 200 (RFC 9110 13.2.1).
func (a response) unlessKnown(r *http.Request) response {
	if !namesTag(r.Header.Values("If-None-Match"), a.header.Get("ETag")) {
		return a
	}
	return response{status: http.StatusNotModified, header: a.header}
}

// namesTag tells whether an If-None-Match (RFC 9110 13.1.2) is "*" or names tag in the weak comparison (8.8.3.2). What is
// malformed names nothing more.
func namesTag(fields []string, tag string) bool {
	rest := strings.Join(fields, ",")
	if strings.Trim(rest, " \t") == "*" {
		return true
	}
	opaque := strings.TrimPrefix(tag, "W/")
	for {
		rest = strings.TrimLeft(rest, " \t,")
		named, ok := cutTag(rest)
		switch {
		case !ok:
			return false
		case strings.TrimPrefix(named, "W/") == opaque:
			return true
		}
		rest = strings.TrimLeft(rest[len(named):], " \t")
		if !strings.HasPrefix(rest, ",") {
			return false
		}
	}
}

// cutTag returns the entity-tag (RFC 9110 8.8.3) that text begins with.
func cutTag(text string) (tag string, ok bool) {
	start := len(text) - len(strings.TrimPrefix(text, "W/"))
	if !strings.HasPrefix(text[start:], `"`) {
		return "", false
	}
	for i := start + 1; i < len(text); i++ {
		switch c := text[i]; {
		case c == '"':
			return text[:i+1], true
		case c < 0x21 || c == 0x7f:
			return "", false
		}
	}
	return "", false
}
