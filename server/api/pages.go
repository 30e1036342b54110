package api

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"html/template"
	"net/http"
	"net/url"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// page is the little HTML that a browser sees at the end of a sign-in. It loads and runs nothing.
var page = template.Must(template.New("page").Parse(`<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1"><title>{{.Title}}</title><style>{{.Style}}</style></head>
<body>
<h1>{{.Title}}</h1>
{{range .Lines}}<p>{{.}}</p>
{{end}}{{with .Code}}<p><strong><code>{{.}}</code></strong></p>
{{end}}</body>
</html>
`))

// style is all there is; the policy lets no other in.
const style = `body{font:16px/1.5 "Open Sans",system-ui,sans-serif;max-width:32rem;margin:15vh auto;padding:0 1.5rem;color:#3f4350;background:#fff}` +
	`h1{font-size:1.5rem}code{font-size:2rem;letter-spacing:.1em;user-select:all}` +
	`@media(prefers-color-scheme:dark){body{color:#dddfe4;background:#1b1d22}}`

// policy lets a page show its style and nothing else (Content Security Policy Level 3, 6.1.14).
var policy = func() string {
	sum := sha256.Sum256([]byte(style))
	return "default-src 'none'; style-src 'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'"
}()

type pageData struct {
	Title string
	Lines []string
	Code  string
}

func newPage(status int, data pageData) (response, error) {
	var body bytes.Buffer
	err := page.Execute(&body, struct {
		pageData
		Style template.CSS
	}{data, style})
	return response{status: status, contentType: typeHTML, body: body.Bytes(), header: pageHeader()}, err
}

func pageHeader() http.Header {
	return http.Header{
		"Referrer-Policy":         {"no-referrer"},
		"Content-Security-Policy": {policy},
		"X-Frame-Options":         {"DENY"},
	}
}

// callback serves GET /connection/callback/{host}: the redirect URI (RFC 6749 4.1.2). A browser leaves the code and the
// state behind with a redirect to a clean address of our own, however it ended.
func (h *Handler) callback(r *request) (response, error) {
	q, _ := url.ParseQuery(r.URL.RawQuery) // what can't be parsed has no valid state
	service, err := r.service()
	if err == nil {
		err = onceAtMost(q, "state", "code", "iss", "error")
	}
	if err == nil {
		var result filehost.CallbackResult
		result, err = service.Callback(r.ctx, filehost.Callback{UserID: r.userID, HostID: r.variable("host"),
			State: q.Get("state"), Code: q.Get("code"), Issuer: q.Get("iss"), Error: q.Get("error")})
		if err == nil {
			return h.seeOther(resultPage(result)), nil
		}
	}
	if !r.wantsPage() {
		return response{}, err
	}
	described := h.describe(r, err)
	h.log(r, described, err)
	return h.seeOther("/connection/failed?" + url.Values{"reason": {described.Code}}.Encode()), nil
}

// onceAtMost refuses an answer that says something twice (RFC 6749 3.1): others may have read the other one.
func onceAtMost(q url.Values, names ...string) error {
	for _, name := range names {
		if len(q[name]) > 1 {
			return filehost.Invalid(name, "The answer of the sign-in server has “"+name+"” more than once. Begin again in Mattermost.")
		}
	}
	return nil
}

func (r *request) wantsPage() bool { return strings.Contains(r.Header.Get("Accept"), "text/html") }

func resultPage(result filehost.CallbackResult) string {
	if result.Connected {
		return "/connection/done"
	}
	return "/connection/confirm/" + url.PathEscape(result.ConfirmPage)
}

func (h *Handler) seeOther(path string) response {
	header := pageHeader()
	header.Set("Location", h.SiteURL()+Base+path)
	return response{status: http.StatusSeeOther, header: header}
}

// confirmPage serves GET /connection/confirm/{handle}: the browser that signed in has no Mattermost session, so the user
// who began must prove in Mattermost that it was he who signed in.
func (h *Handler) confirmPage(r *request) (response, error) {
	service, err := r.service()
	if err != nil {
		return response{}, err
	}
	username, code, err := service.Confirmation(r.ctx, r.variable("handle"))
	if filehost.KindOf(err) == filehost.NotFound {
		return newPage(http.StatusNotFound, pageData{Title: "This page has expired", Lines: []string{"Begin again in Mattermost."}})
	}
	if err != nil {
		return response{}, err
	}
	return newPage(http.StatusOK, pageData{Title: "One more step", Code: code, Lines: []string{
		"The Mattermost user @" + username + " began this sign-in. If that is not you, close this window: somebody may be trying to get at your files.",
		"If it is you, type this code in Mattermost, where you began. It is valid for five minutes:"}})
}

// reasons are the words of the page after a failed sign-in.
var reasons = map[filehost.Kind]string{
	filehost.InvalidRequest:  "The sign-in has expired, was used before, or was declined.",
	filehost.Forbidden:       "This sign-in was begun by another Mattermost user than the one of this browser.",
	filehost.RateLimited:     "There were too many sign-ins; wait a few minutes.",
	filehost.HostUnavailable: "The sign-in server can't be reached at the moment, or its answer can't be trusted. Tell your system admin if it stays so.",
	filehost.Timeout:         "The sign-in server took too long.",
	filehost.NotConfigured:   "The file host is not configured completely; tell your system admin.",
	filehost.Internal:        "Something went wrong.",
}

// failedPage serves GET /connection/failed, with the status that the failed request would have had.
func (h *Handler) failedPage(r *request) (response, error) {
	reason, code := filehost.Internal, r.URL.Query().Get("reason")
	for kind := range reasons {
		if kind.Code() == code {
			reason = kind
		}
	}
	return newPage(statuses[reason], pageData{Title: "The sign-in did not work", Lines: []string{reasons[reason], "Close this window and try again from Mattermost."}})
}

// donePage serves GET /connection/done.
func (h *Handler) donePage(*request) (response, error) {
	return newPage(http.StatusOK, pageData{Title: "Connected", Lines: []string{"You can close this window and go back to Mattermost."}})
}
