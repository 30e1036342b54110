package remote

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// now is when the tests of shares are.
var now = time.Date(2026, 11, 21, 20, 0, 0, 0, time.UTC)

// ocsHost is a host with OCS that does as it is told.
type ocsHost struct {
	t            *testing.T
	shares       []map[string]any
	inherited    []map[string]any
	capabilities string // of files_sharing; "" = none are told
	properties   map[string]string
	spoil        func(made map[string]any) // what it makes otherwise than it was asked to
	refuse       func(w http.ResponseWriter, r *http.Request) bool
	seen         []string
	forms        []url.Values
}

func (h *ocsHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	_ = r.ParseForm()
	h.seen, h.forms = append(h.seen, r.Method+" "+r.URL.Path), append(h.forms, r.PostForm)
	if strings.HasPrefix(r.URL.Path, "/ocs/") {
		assert.Equal(h.t, "true", r.Header.Get("OCS-APIRequest"))
	}
	if h.refuse != nil && h.refuse(w, r) {
		return
	}
	id, of := strings.CutPrefix(r.URL.Path, ocsSharesPath)
	id = strings.TrimPrefix(id, "/")
	at := slices.IndexFunc(h.shares, func(s map[string]any) bool { return fmt.Sprint(s["id"]) == id })
	switch {
	case r.Method == "PROPFIND":
		h.propfind(w, r)
	case strings.HasSuffix(r.URL.Path, "/capabilities"):
		writeOCS(w, http.StatusOK, 200, "OK", json.RawMessage(`{"capabilities":{"files_sharing":`+h.capabilities+`}}`))
	case !of:
		w.WriteHeader(http.StatusTeapot)
	case r.Method == http.MethodPost:
		h.create(w, r)
	case id == "":
		writeOCS(w, http.StatusOK, 200, "OK", h.at(r.Form.Get("path")))
	case id == "inherited":
		writeOCS(w, http.StatusOK, 200, "OK", h.inherited)
	case at < 0:
		writeOCS(w, http.StatusNotFound, 404, "Wrong share ID, share does not exist", []any{})
	case r.Method == http.MethodDelete:
		h.shares = slices.Delete(h.shares, at, at+1)
		writeOCS(w, http.StatusOK, 200, "OK", []any{})
	case r.Method == http.MethodPut:
		h.change(w, r, h.shares[at])
	default:
		writeOCS(w, http.StatusOK, 200, "OK", []any{h.shares[at]})
	}
}

// at are the shares of what is at a path; those without one are of every entry.
func (h *ocsHost) at(path string) []any {
	listed := []any{}
	for _, each := range h.shares {
		if (each["path"] == nil || each["path"] == path) && each["hidden"] == nil {
			listed = append(listed, each)
		}
	}
	return listed
}

func (h *ocsHost) propfind(w http.ResponseWriter, r *http.Request) {
	properties := ""
	for name, text := range h.properties {
		properties += "<" + name + ">" + text + "</" + name + ">"
	}
	answer(`<d:multistatus xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns"><d:response><d:href>`+r.URL.EscapedPath()+
		`</d:href><d:propstat><d:prop>`+properties+`<d:resourcetype/><d:getetag>"e"</d:getetag></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>`)(w, r)
}

func (h *ocsHost) create(w http.ResponseWriter, r *http.Request) {
	made := ownShare(strconv.Itoa(100+len(h.shares)), r.PostForm.Get("shareType"))
	made["permissions"] = r.PostForm.Get("permissions")
	if password := r.PostForm.Get("password"); password != "" {
		made["password"], made["share_with"] = "hash", "hash"
	}
	if ends := r.PostForm.Get("expireDate"); ends != "" {
		made["expiration"] = ends + " 00:00:00"
	}
	if with := r.PostForm.Get("shareWith"); with != "" {
		made["share_with"] = with
	}
	if h.spoil != nil {
		h.spoil(made)
	}
	h.shares = append(h.shares, made)
	writeOCS(w, http.StatusOK, 200, "OK", made)
}

func (h *ocsHost) change(w http.ResponseWriter, r *http.Request, share map[string]any) {
	for asked, told := range map[string]string{"expireDate": "expiration", "permissions": "permissions", "password": "password"} {
		if r.PostForm.Has(asked) {
			share[told] = r.PostForm.Get(asked)
		}
	}
	if ends, ok := share["expiration"].(string); ok && ends != "" && len(ends) == len(time.DateOnly) {
		share["expiration"] = ends + " 00:00:00"
	}
	if h.spoil != nil {
		h.spoil(share)
	}
	writeOCS(w, http.StatusOK, 200, "OK", share)
}

func writeOCS(w http.ResponseWriter, status, code int, message string, data any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]any{"ocs": map[string]any{
		"meta": map[string]any{"status": "ok", "statuscode": code, "message": message}, "data": data,
	}})
}

// ownShare is a share of the file 7 that alice has made.
func ownShare(id, kind string) map[string]any {
	number, _ := strconv.Atoi(kind)
	return map[string]any{
		"id": id, "share_type": number, "uid_owner": "alice", "permissions": 17, "expiration": nil, "token": "oXQNtppsLGk6PrR",
		"share_with": nil, "password": nil, "label": "", "item_source": 7, "hide_download": 0, "attributes": nil, "url": "",
	}
}

// with is a share with some things of it changed.
func with(share map[string]any, changes ...any) map[string]any {
	for i := 0; i < len(changes); i += 2 {
		share[changes[i].(string)] = changes[i+1]
	}
	return share
}

const noRules = `{"api_enabled":true,"public":{"enabled":true}}`

var (
	file = filehost.Entry{Path: mustPath("/Docs/hello.txt"), HostID: "7", Kind: filehost.File, Permissions: ownedFile}
	view = filehost.LinkWish{Permission: filehost.MayView}
)

func mustPath(raw string) filehost.Path {
	path, err := filehost.ParsePath("path", raw)
	if err != nil {
		panic(err)
	}
	return path
}

func sharesOf(t *testing.T, kind string, host http.Handler) *Client {
	t.Helper()
	client := serve(t, kind, "", host.ServeHTTP)
	clock := clockwork.NewFakeClockAt(now)
	client.clock, client.offering.clock, client.names.clock = clock, clock, clock
	return client
}

func ocsOf(t *testing.T, host *ocsHost) *Client {
	t.Helper()
	host.t = t
	if host.capabilities == "" {
		host.capabilities = noRules
	}
	if host.properties == nil {
		host.properties = map[string]string{"oc:owner-id": "alice", "oc:permissions": "RGDNVW", "nc:mount-type": ""}
	}
	return sharesOf(t, "nextcloud", host)
}

// TestALinkIsAskedForWithWhatIsWishedForAlone holds the request to what was recorded of Nextcloud.
func TestALinkIsAskedForWithWhatIsWishedForAlone(t *testing.T) {
	folder := file
	folder.Kind = filehost.Folder
	for name, test := range map[string]struct {
		entry filehost.Entry
		wish  filehost.LinkWish
		want  url.Values
	}{
		"to read":          {file, view, url.Values{"permissions": {"1"}}},
		"to edit a file":   {file, filehost.LinkWish{Permission: filehost.MayEdit}, url.Values{"permissions": {"3"}}},
		"to edit a folder": {folder, filehost.LinkWish{Permission: filehost.MayEdit}, url.Values{"permissions": {"15"}}},
		"all": {file, filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("pass & word"), Label: "Mattermost", ExpiresAt: now.AddDate(0, 0, 7)},
			url.Values{"permissions": {"1"}, "password": {"pass & word"}, "label": {"Mattermost"}, "name": {"Mattermost"}, "expireDate": {"2026-11-28"}}},
	} {
		host := &ocsHost{}
		link, reused, err := ocsOf(t, host).CreateLink(t.Context(), alice, test.entry, test.wish)
		require.NoError(t, err, name)
		assert.False(t, reused, name)
		test.want["path"], test.want["shareType"] = []string{"/Docs/hello.txt"}, []string{"3"}
		assert.Equal(t, test.want, host.forms[1], name)
		assert.Equal(t, []string{"GET " + ocsSharesPath, "POST " + ocsSharesPath, "GET " + ocsSharesPath}, host.seen, "it is read again")
		assert.Empty(t, link.Account, "a hash is nobody's business")
		assert.Equal(t, test.wish.Permission, link.Permission, name)
	}
}

func TestALinkEndsAtTheLastMidnightThatIsNotAfterTheWish(t *testing.T) {
	for wish, want := range map[string]string{
		"2026-11-28T00:00:00Z": "2026-11-28", "2026-11-28T23:59:58Z": "2026-11-28", "2026-11-28T23:59:59Z": "2026-11-29",
		"2026-11-28T01:00:00+02:00": "2026-11-27", "2026-11-22T00:00:00Z": "2026-11-22", "2026-11-21T23:59:59Z": "2026-11-22",
		"2026-11-21T23:59:00Z": "", "2026-11-20T23:59:00Z": "", "2026-11-21T20:00:00Z": "",
	} {
		until, err := time.Parse(time.RFC3339, wish)
		require.NoError(t, err)
		host := &ocsHost{}
		link, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, filehost.LinkWish{Permission: filehost.MayView, ExpiresAt: until})
		if want == "" {
			assertField(t, "expires_at", err)
			assert.Empty(t, host.seen, wish)
			continue
		}
		require.NoError(t, err, wish)
		assert.Equal(t, want, link.ExpiresAt.Format(time.DateOnly), wish)
		assert.Equal(t, want, host.forms[1].Get("expireDate"), wish)
	}
}

func assertField(t *testing.T, field string, err error) {
	t.Helper()
	var invalid *filehost.Error
	if assert.ErrorAs(t, err, &invalid) {
		assert.Equal(t, filehost.InvalidRequest, invalid.Kind, "%v", err)
		assert.Equal(t, field, invalid.Field)
	}
}

// TestALinkOfMoreThanWasAskedForIsRemoved is about CVE-2026-45285 and its like.
func TestALinkOfMoreThanWasAskedForIsRemoved(t *testing.T) {
	wish := filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("password"), ExpiresAt: now.AddDate(0, 0, 7)}
	for name, spoil := range map[string]func(map[string]any){
		"it lets people edit":  func(s map[string]any) { s["permissions"] = 19 },
		"it lets people add":   func(s map[string]any) { s["permissions"] = 5 },
		"it has no password":   func(s map[string]any) { s["password"], s["share_with"] = nil, nil },
		"it has no end":        func(s map[string]any) { s["expiration"] = nil },
		"it ends later":        func(s map[string]any) { s["expiration"] = "2026-11-29 00:00:00" },
		"no list shows it":     func(s map[string]any) { s["hidden"] = true },
		"it is no link":        func(s map[string]any) { s["share_type"] = 1 },
		"it has no address":    func(s map[string]any) { s["token"] = "" },
		"its address is a lie": func(s map[string]any) { s["url"], s["token"] = "https://elsewhere.example/s/x", "" },
	} {
		host := &ocsHost{spoil: spoil}
		_, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, wish)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
		assert.Empty(t, host.shares, name)
	}
	host := &ocsHost{spoil: func(s map[string]any) { s["permissions"], s["expiration"] = 17, "2026-11-23 00:00:00" }}
	link, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, filehost.LinkWish{Permission: filehost.MayEdit, ExpiresAt: now.AddDate(0, 0, 7)})
	require.NoError(t, err, "less is handed on")
	assert.Equal(t, filehost.MayView, link.Permission)
	assert.Equal(t, 23, link.ExpiresAt.Day())
}

func TestALinkThatCantBeReadAgainIsRemoved(t *testing.T) {
	reads := 0
	host := &ocsHost{refuse: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodGet {
			if reads++; reads == 2 {
				w.WriteHeader(http.StatusBadGateway)
				return true
			}
		}
		return false
	}}
	_, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, view)
	assert.Equal(t, http.StatusBadGateway, answeredWith(err))
	assert.Empty(t, host.shares)

	host = &ocsHost{spoil: func(s map[string]any) { s["permissions"] = 31 }, refuse: func(w http.ResponseWriter, r *http.Request) bool {
		if r.Method == http.MethodDelete {
			writeOCS(w, http.StatusForbidden, 403, "Could not delete share", []any{})
		}
		return r.Method == http.MethodDelete
	}}
	_, _, err = ocsOf(t, host).CreateLink(t.Context(), alice, file, view)
	assert.ErrorContains(t, err, "remove it there")
}

func TestAnEqualLinkIsTakenAgain(t *testing.T) {
	link := func(changes ...any) []map[string]any { return []map[string]any{with(ownShare("1", "3"), changes...)} }
	later := filehost.LinkWish{Permission: filehost.MayView, ExpiresAt: now.AddDate(0, 0, 7)}
	for name, test := range map[string]struct {
		shares []map[string]any
		wish   filehost.LinkWish
		rules  string
		want   bool
	}{
		"equal":                     {shares: link(), wish: view, want: true},
		"equal, with an end":        {shares: link("expiration", "2026-11-28 00:00:00"), wish: later, want: true},
		"another's":                 {shares: link("uid_owner", "bob"), wish: view},
		"with a password":           {shares: link("password", "hash"), wish: view},
		"of ownCloud, with one":     {shares: link("share_with", "***redacted***"), wish: view},
		"a password is wished for":  {shares: link(), wish: filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("password")}},
		"it ends":                   {shares: link("expiration", "2026-11-28 00:00:00"), wish: view},
		"it never ends":             {shares: link(), wish: later},
		"it ends on another day":    {shares: link("expiration", "2026-11-27 00:00:00"), wish: later},
		"it lets people edit":       {shares: link("permissions", 19), wish: view},
		"it lets people only read":  {shares: link(), wish: filehost.LinkWish{Permission: filehost.MayEdit}},
		"no download":               {shares: link("hide_download", 1), wish: view},
		"with attributes":           {shares: link("attributes", `[{"scope":"permissions","key":"download","value":false}]`), wish: view},
		"a share with a group":      {shares: link("share_type", 1), wish: view},
		"passwords by now":          {shares: link(), wish: view, rules: `{"api_enabled":true,"public":{"enabled":true,"password":{"enforced":true}}}`},
		"ends by now":               {shares: link(), wish: view, rules: `{"api_enabled":true,"public":{"enabled":true,"expire_date":{"enabled":true,"days":7}}}`},
		"ends, and it has that one": {shares: link("expiration", "2026-11-28 00:00:00"), wish: later, rules: `{"api_enabled":true,"public":{"enabled":true,"expire_date":{"enabled":true,"days":7}}}`, want: true},
	} {
		host := &ocsHost{shares: test.shares, capabilities: test.rules}
		made, reused, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, test.wish)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, reused, name)
		assert.Equal(t, test.want, made.ID == "1", name)
		assert.Equal(t, test.want, !slices.Contains(host.seen, "POST "+ocsSharesPath), name)
	}
}

func TestTheAddressOfALinkIsTheHostsOwn(t *testing.T) {
	client := sharesOf(t, "nextcloud", &ocsHost{t: t})
	origin := client.host.Origin()
	for told, want := range map[string]string{
		origin + "/s/abc": origin + "/s/abc", "http://other.example/s/abc": origin + "/index.php/s/TOKEN",
		"javascript:alert(1)": origin + "/index.php/s/TOKEN", origin + "/" + strings.Repeat("a", 2000): origin + "/index.php/s/TOKEN",
		strings.Replace(origin, "http://", "http://u:p@", 1) + "/s/abc": origin + "/index.php/s/TOKEN", "": origin + "/index.php/s/TOKEN",
	} {
		assert.Equal(t, want, client.linkURL(told, "/index.php/s/", "TOKEN"), told)
	}
	for _, token := range []string{"", "../x", "a/b", "a?b", strings.Repeat("a", 65), "a b", "%2e"} {
		assert.Empty(t, client.linkURL("", "/index.php/s/", token), token)
	}
}

func TestWhatAHostRefusesIsSaidInItsOwnWords(t *testing.T) {
	secret := filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("hunter2hunter2")}
	until := filehost.LinkWish{Permission: filehost.MayView, ExpiresAt: now.AddDate(1, 0, 0)}
	enforced := `{"api_enabled":true,"public":{"enabled":true,"password":{"enforced":true}}}`
	for name, test := range map[string]struct {
		status, code int
		words        string
		wish         filehost.LinkWish
		rules        string
		kind         filehost.Kind
		field        string
		want         string
	}{
		"no password":            {403, 403, "Passwörter sind Pflicht", view, enforced, filehost.InvalidRequest, "password", "Passwörter sind Pflicht"},
		"no password, OpenCloud": {400, 400, "missing required password", view, enforced, filehost.InvalidRequest, "password", "missing required password"},
		"a weak password":        {400, 400, "Passwort zu kurz", secret, noRules, filehost.InvalidRequest, "password", "Passwort zu kurz"},
		"a repeated password":    {400, 400, "hunter2hunter2 is too common", secret, noRules, filehost.InvalidRequest, "password", "does not accept this password"},
		"too late an end":        {404, 404, "Nicht mehr als 7 Tage", until, noRules, filehost.InvalidRequest, "expires_at", "Nicht mehr als 7 Tage"},
		"links are off":          {404, 404, "Public link sharing is disabled", until, `{"api_enabled":true,"public":{"enabled":false}}`, filehost.Forbidden, "", "Public link sharing is disabled"},
		"it is shared never":     {404, 404, "No", view, noRules, filehost.Forbidden, "", "“No”"},
		"forbidden":              {403, 403, "Public upload\r\n<b>disabled</b>\x00", view, noRules, filehost.Forbidden, "", "“Public upload disabled”"},
		"by OCS alone":           {200, 403, "Not for you", view, noRules, filehost.Forbidden, "", "Not for you"},
		"OCS version 1":          {200, 404, "Not for you", view, noRules, filehost.Forbidden, "", "Not for you"},
		"long words":             {403, 403, strings.Repeat("ä", 5000), view, noRules, filehost.Forbidden, "", strings.Repeat("ä", 200) + "…”"},
		"a session":              {200, 997, "Unauthorised", view, noRules, filehost.CredentialRejected, "", "does not accept"},
		"a fault":                {200, 996, "Internal", view, noRules, filehost.HostUnavailable, "", "no sense"},
	} {
		host := &ocsHost{capabilities: test.rules, refuse: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				writeOCS(w, test.status, test.code, test.words, []any{})
			}
			return r.Method == http.MethodPost
		}}
		_, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, test.wish)
		var said *filehost.Error
		require.ErrorAs(t, err, &said, name)
		assert.Equal(t, test.kind.Code(), said.Kind.Code(), "%s: %v", name, err)
		assert.Equal(t, test.field, said.Field, name)
		assert.Contains(t, said.Message, test.want, name)
		assert.NotContains(t, err.Error(), "hunter2", name)
		assert.NotContains(t, said.Message, "<", name)
	}
}

func TestALinkToWhatIsGoneIsNotFound(t *testing.T) {
	host := &ocsHost{refuse: func(w http.ResponseWriter, r *http.Request) bool {
		switch r.Method {
		case http.MethodPost:
			writeOCS(w, http.StatusNotFound, 404, "Wrong path, file/folder does not exist", []any{})
		case "PROPFIND":
			w.WriteHeader(http.StatusNotFound)
		default:
			return false
		}
		return true
	}}
	for _, wish := range []filehost.LinkWish{view, {Permission: filehost.MayView, ExpiresAt: now.AddDate(0, 0, 7)}} {
		_, _, err := ocsOf(t, host).CreateLink(t.Context(), alice, file, wish)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "%v", err)
	}
}

func TestAHostThatMakesNoMoreSharesIsWaitedFor(t *testing.T) {
	for header, want := range map[string]time.Duration{"": 10 * time.Minute, "30": 30 * time.Second} {
		host := &ocsHost{refuse: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				w.Header().Set("Retry-After", header)
				w.WriteHeader(http.StatusTooManyRequests)
			}
			return r.Method == http.MethodPost
		}}
		client := ocsOf(t, host)
		_, _, link := client.CreateLink(t.Context(), alice, file, view)
		_, invited := client.Invite(t.Context(), alice, file, "bob", filehost.MayView)
		for _, err := range []error{link, invited} {
			var limited *filehost.Error
			require.ErrorAs(t, err, &limited)
			assert.Equal(t, filehost.RateLimited, limited.Kind)
			assert.Equal(t, want, limited.RetryAfter)
			assert.Contains(t, limited.Message, "no more shares")
		}
	}
}

func TestOnlyTheUsersOwnSharesOfTheEntryAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		share map[string]any
		id    string
		want  filehost.Kind
	}{
		"his own":          {ownShare("1", "3"), "1", filehost.Internal},
		"another's":        {with(ownShare("1", "3"), "uid_owner", "bob"), "1", filehost.NotFound},
		"nobody's":         {with(ownShare("1", "3"), "uid_owner", ""), "1", filehost.NotFound},
		"of another entry": {with(ownShare("1", "3"), "item_source", 8), "1", filehost.NotFound},
		"of no entry":      {with(ownShare("1", "3"), "item_source", nil), "1", filehost.NotFound},
		"none":             {ownShare("1", "3"), "2", filehost.NotFound},
		"no id":            {ownShare("1", "3"), "", filehost.NotFound},
		"a path":           {ownShare("1", "3"), "../1", filehost.NotFound},
		"all of them":      {ownShare("1", "3"), ".", filehost.NotFound},
	} {
		host := &ocsHost{shares: []map[string]any{test.share}}
		client := ocsOf(t, host)
		_, err := client.ShareOf(t.Context(), alice, file, test.id)
		assert.Equal(t, test.want, filehost.KindOf(err), "%s: %v", name, err)
		edit := filehost.MayEdit
		_, changeErr := client.ChangeShare(t.Context(), alice, file, test.id, filehost.ShareChange{Permission: &edit})
		assert.Equal(t, test.want, filehost.KindOf(changeErr), "%s: %v", name, changeErr)
		removeErr := client.RemoveShare(t.Context(), alice, file, test.id)
		if test.want == filehost.Internal {
			require.NoError(t, removeErr, name)
			assert.Empty(t, host.shares, name)
			continue
		}
		assert.Len(t, host.shares, 1, name)
		assert.NotContains(t, strings.Join(host.seen, " "), "PUT", name)
		assert.NotContains(t, strings.Join(host.seen, " "), "DELETE", name)
	}
	rootless := file
	rootless.HostID = ""
	_, err := ocsOf(t, &ocsHost{shares: []map[string]any{with(ownShare("1", "3"), "item_source", nil)}}).ShareOf(t.Context(), alice, rootless, "1")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "what has no id has no share")
	nobody := alice
	nobody.Account = ""
	_, err = ocsOf(t, &ocsHost{shares: []map[string]any{with(ownShare("1", "3"), "uid_owner", "")}}).ShareOf(t.Context(), nobody, file, "1")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "who has no account has made none")
}

func TestAShareIsGoneByTheStatusOfOCSToo(t *testing.T) {
	host := &ocsHost{refuse: func(w http.ResponseWriter, _ *http.Request) bool {
		writeOCS(w, http.StatusOK, 404, "Wrong share ID, share doesn't exist", []any{})
		return true
	}}
	client := ocsOf(t, host)
	_, err := client.ShareOf(t.Context(), alice, file, "1")
	assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "%v", err)
	assert.NoError(t, client.RemoveShare(t.Context(), alice, file, "1"))
}

func TestAChangeTouchesNothingElse(t *testing.T) {
	host := &ocsHost{shares: []map[string]any{with(ownShare("1", "3"), "expiration", "2026-12-01 00:00:00", "password", "hash")}}
	client := ocsOf(t, host)
	change := func(change filehost.ShareChange, want url.Values) {
		t.Helper()
		host.forms = nil
		_, err := client.ChangeShare(t.Context(), alice, file, "1", change)
		require.NoError(t, err)
		assert.Equal(t, want, host.forms[1])
	}
	never, later, none, some, edit := time.Time{}, now.AddDate(0, 0, 3), filehost.Secret{}, filehost.NewSecret("p"), filehost.MayEdit
	change(filehost.ShareChange{ExpiresAt: &later}, url.Values{"expireDate": {"2026-11-24"}})
	change(filehost.ShareChange{ExpiresAt: &never}, url.Values{"expireDate": {""}})
	change(filehost.ShareChange{Password: &some}, url.Values{"password": {"p"}})
	change(filehost.ShareChange{Password: &none}, url.Values{"password": {""}})
	change(filehost.ShareChange{Permission: &edit}, url.Values{"permissions": {"3"}})
	host.seen = nil
	_, err := client.ChangeShare(t.Context(), alice, file, "1", filehost.ShareChange{})
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(host.seen, " "), "PUT", "nothing is to be changed")
	past := now.Add(-time.Hour)
	_, err = client.ChangeShare(t.Context(), alice, file, "1", filehost.ShareChange{ExpiresAt: &past})
	assertField(t, "expires_at", err)

	host.shares[0]["share_type"] = 0
	_, err = client.ChangeShare(t.Context(), alice, file, "1", filehost.ShareChange{Password: &some})
	assertField(t, "password", err)
}

func TestAChangeThatLeavesMoreIsAnError(t *testing.T) {
	view, some, later := filehost.MayView, filehost.NewSecret("p"), now.AddDate(0, 0, 3)
	for name, test := range map[string]struct {
		change filehost.ShareChange
		spoil  func(map[string]any)
	}{
		"it still lets people edit": {filehost.ShareChange{Permission: &view}, func(s map[string]any) { s["permissions"] = 19 }},
		"it has no password":        {filehost.ShareChange{Password: &some}, func(s map[string]any) { s["password"] = nil }},
		"it has no end":             {filehost.ShareChange{ExpiresAt: &later}, func(s map[string]any) { s["expiration"] = nil }},
		"it ends later":             {filehost.ShareChange{ExpiresAt: &later}, func(s map[string]any) { s["expiration"] = "2027-11-24 00:00:00" }},
	} {
		host := &ocsHost{shares: []map[string]any{ownShare("1", "3")}, spoil: test.spoil}
		_, err := ocsOf(t, host).ChangeShare(t.Context(), alice, file, "1", test.change)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
	}
}

func TestOnlyWhoIsInvitedGetsAShare(t *testing.T) {
	for name, spoil := range map[string]func(map[string]any){
		"another name":  func(s map[string]any) { s["share_with"] = "Bob" },
		"nobody":        func(s map[string]any) { s["share_with"] = nil },
		"a group":       func(s map[string]any) { s["share_type"] = 1 },
		"everybody":     func(s map[string]any) { s["share_type"] = 3 },
		"he may change": func(s map[string]any) { s["permissions"] = 3 },
	} {
		host := &ocsHost{spoil: spoil}
		_, err := ocsOf(t, host).Invite(t.Context(), alice, file, "bob", filehost.MayView)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
		assert.Empty(t, host.shares, name)
	}
	host := &ocsHost{}
	share, err := ocsOf(t, host).Invite(t.Context(), alice, file, "bob", filehost.MayEdit)
	require.NoError(t, err)
	assert.Equal(t, filehost.HostShare{ID: "100", With: filehost.WithUser, Account: "bob", Permission: filehost.MayEdit}, share)
	assert.Equal(t, url.Values{"path": {"/Docs/hello.txt"}, "shareType": {"0"}, "shareWith": {"bob"}, "permissions": {"3"}}, host.forms[len(host.forms)-1])
}

func TestWhoMayOpenItAlreadyIsNotInvited(t *testing.T) {
	bob := func(permissions int) map[string]any {
		return with(ownShare("1", "0"), "share_with", "bob", "permissions", permissions)
	}
	for name, test := range map[string]struct {
		host       *ocsHost
		account    string
		permission filehost.SharePermission
		want       string // the share that he has then
		asked      string
	}{
		"he has it":             {&ocsHost{shares: []map[string]any{bob(1)}}, "bob", filehost.MayView, "1", ""},
		"he has more":           {&ocsHost{shares: []map[string]any{bob(19)}}, "bob", filehost.MayView, "1", ""},
		"he has less":           {&ocsHost{shares: []map[string]any{bob(1)}}, "bob", filehost.MayEdit, "1", "PUT"},
		"less, by another":      {&ocsHost{shares: []map[string]any{with(bob(1), "uid_owner", "carol")}}, "bob", filehost.MayEdit, "101", "POST"},
		"by the folder above":   {&ocsHost{inherited: []map[string]any{bob(1)}}, "bob", filehost.MayView, "1", ""},
		"less, by the folder":   {&ocsHost{inherited: []map[string]any{bob(1)}}, "bob", filehost.MayEdit, "100", "POST"},
		"it is his":             {&ocsHost{}, "alice", filehost.MayEdit, "", ""},
		"another has it":        {&ocsHost{shares: []map[string]any{bob(1)}}, "carol", filehost.MayView, "101", "POST"},
		"his is for handing in": {&ocsHost{shares: []map[string]any{with(bob(4), "uid_owner", "carol")}}, "bob", filehost.MayView, "101", "POST"},
	} {
		share, err := ocsOf(t, test.host).Invite(t.Context(), alice, file, test.account, test.permission)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, share.ID, name)
		assert.Equal(t, test.account, share.Account, name)
		changes := slices.DeleteFunc(test.host.seen, func(s string) bool { return strings.HasPrefix(s, "GET") || strings.HasPrefix(s, "PROPFIND") })
		assert.Equal(t, test.asked != "", len(changes) == 1, "%s: %v", name, changes)
		if test.asked != "" && len(changes) == 1 {
			assert.True(t, strings.HasPrefix(changes[0], test.asked), "%s: %v", name, changes)
		}
	}
}

func TestAccessIsWhatTheHostTellsOfIt(t *testing.T) {
	host := &ocsHost{
		shares: []map[string]any{
			with(ownShare("1", "0"), "share_with", "bob", "permissions", 1), with(ownShare("2", "1"), "share_with", "staff"),
			with(ownShare("3", "3"), "password", "hash", "share_with", "hash", "expiration", "2026-12-01 00:00:00", "label", "for you"),
			with(ownShare("4", "6"), "share_with", "carol@elsewhere.example"), with(ownShare("5", "3"), "permissions", 4),
			with(ownShare("6", "0"), "share_with", "line\nbreak"),
		},
		inherited: []map[string]any{with(ownShare("9", "0"), "share_with", "dave", "permissions", 31, "uid_owner", "bob")},
	}
	client := ocsOf(t, host)
	access, err := client.Access(t.Context(), alice, file)
	require.NoError(t, err)
	assert.Equal(t, filehost.Access{Owner: "alice", Complete: true, Shares: []filehost.HostShare{
		{ID: "1", With: filehost.WithUser, Account: "bob", Permission: filehost.MayView},
		{ID: "2", With: filehost.WithGroup, Account: "staff", Permission: filehost.MayView},
		{ID: "3", With: filehost.WithAnyone, Permission: filehost.MayView, Password: true, Label: "for you",
			URL: client.host.Origin() + "/index.php/s/oXQNtppsLGk6PrR", ExpiresAt: time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)},
		{ID: "4", With: filehost.WithOthers, Permission: filehost.MayView},
		{ID: "6", With: filehost.WithOthers, Permission: filehost.MayView},
		{ID: "9", With: filehost.WithUser, Account: "dave", Permission: filehost.MayEdit},
	}}, access)
}

func TestAccessIsCompleteForItsOwnerOnly(t *testing.T) {
	recipient := file
	recipient.Permissions = []filehost.Permission{filehost.Read}
	many := &ocsHost{}
	for i := range mostShares + 1 {
		many.shares = append(many.shares, with(ownShare(strconv.Itoa(i), "0"), "share_with", "bob"))
	}
	for name, test := range map[string]struct {
		host       *ocsHost
		properties map[string]string
		entry      filehost.Entry
		owner      string
		complete   bool
	}{
		"his own":              {&ocsHost{}, nil, file, "alice", true},
		"another's":            {&ocsHost{}, map[string]string{"oc:owner-id": "bob", "oc:permissions": "SRGDNVW"}, recipient, "bob", false},
		"another's, shareable": {&ocsHost{}, map[string]string{"oc:owner-id": "bob", "oc:permissions": "SRGDNVW"}, file, "bob", false},
		"a folder of a team":   {&ocsHost{}, map[string]string{"oc:owner-id": "alice", "oc:permissions": "MRGDNVW", "nc:mount-type": "group"}, file, "", false},
		"a mount, by its type": {&ocsHost{}, map[string]string{"oc:owner-id": "alice", "oc:permissions": "RGDNVW", "nc:mount-type": "external"}, file, "", false},
		"the owner isn't told": {&ocsHost{}, map[string]string{"oc:permissions": "RGDNVW"}, file, "", false},
		"he may not share it":  {&ocsHost{}, nil, recipient, "alice", false},
		"too many to be told":  {many, nil, file, "alice", false},
	} {
		test.host.properties = test.properties
		access, err := ocsOf(t, test.host).Access(t.Context(), alice, test.entry)
		require.NoError(t, err, name)
		assert.Equal(t, test.owner, access.Owner, name)
		assert.Equal(t, test.complete, access.Complete, name)
		assert.LessOrEqual(t, len(access.Shares), mostShares, name)
		if slices.Contains(test.entry.Permissions, filehost.Share) {
			continue
		}
		assert.NotContains(t, strings.Join(test.host.seen, " "), "inherited", "Nextcloud fails with an error of its own then")
	}
}

func TestOwnCloudIsAskedForEachFolderAbove(t *testing.T) {
	host := &ocsHost{t: t, capabilities: noRules, properties: map[string]string{"oc:owner-id": "alice", "oc:permissions": "RDNVW"}, shares: []map[string]any{
		with(ownShare("1", "0"), "share_with", "bob", "path", "/a"), with(ownShare("2", "0"), "share_with", "carol", "path", "/a/b"),
		with(ownShare("3", "0"), "share_with", "dave", "path", "/a/other"),
	}}
	client := sharesOf(t, "owncloud", host)
	deep := file
	deep.Path = mustPath("/a/b/c.txt")
	access, err := client.Access(t.Context(), alice, deep)
	require.NoError(t, err)
	require.Len(t, access.Shares, 2)
	assert.Equal(t, "carol", access.Shares[0].Account)
	assert.Equal(t, "bob", access.Shares[1].Account)
	assert.True(t, access.Complete)

	host.seen = nil
	deep.Path = mustPath(strings.Repeat("/d", mostAbove+10))
	access, err = client.Access(t.Context(), alice, deep)
	require.NoError(t, err)
	assert.False(t, access.Complete, "what is above was not asked for")
	assert.Len(t, host.seen, mostAbove+2)
}

func TestALongAnswerAboutSharesIsNotRead(t *testing.T) {
	host := &ocsHost{refuse: func(w http.ResponseWriter, r *http.Request) bool {
		if strings.HasPrefix(r.URL.Path, ocsSharesPath) {
			_, _ = w.Write([]byte(`{"ocs":{"meta":{"statuscode":200},"data":["` + strings.Repeat("a", maxSharesBytes) + `"]}}`))
		}
		return strings.HasPrefix(r.URL.Path, ocsSharesPath)
	}}
	_, err := ocsOf(t, host).Access(t.Context(), alice, file)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	assert.ErrorContains(t, err, "too long")
}

func TestNonsenseAboutSharesIsAnError(t *testing.T) {
	for _, data := range []string{
		`"text"`, `7`, `[7]`, `{"id":""}`, `[{"share_type":3}]`, `[{"id":"1","expiration":"tomorrow"}]`, `[{"id":"` + longText(2000) + `"}]`,
	} {
		host := &ocsHost{refuse: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodGet {
				writeOCS(w, http.StatusOK, 200, "OK", json.RawMessage(data))
			}
			return r.Method == http.MethodGet
		}}
		_, err := ocsOf(t, host).ShareOf(t.Context(), alice, file, "1")
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", data, err)
	}
	for _, page := range []string{"", "<html>", `{"ocs":null}`, "[]"} {
		host := &ocsHost{refuse: func(w http.ResponseWriter, _ *http.Request) bool { _, _ = w.Write([]byte(page)); return true }}
		_, err := ocsOf(t, host).ShareOf(t.Context(), alice, file, "1")
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", page, err)
	}
}

func TestWhoMayOnlyReadSharesNothing(t *testing.T) {
	host := &ocsHost{shares: []map[string]any{ownShare("1", "3")}}
	client := ocsOf(t, host)
	edit, wish := filehost.MayEdit, filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("password")}
	_, _, link := client.CreateLink(t.Context(), reader(), file, wish)
	_, invited := client.Invite(t.Context(), reader(), file, "bob", filehost.MayView)
	_, changed := client.ChangeShare(t.Context(), reader(), file, "1", filehost.ShareChange{Permission: &edit})
	for _, err := range []error{link, invited, changed, client.RemoveShare(t.Context(), reader(), file, "1")} {
		assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "%v", err)
	}
	for _, each := range host.seen {
		assert.True(t, strings.HasPrefix(each, "GET") || strings.HasPrefix(each, "PROPFIND"), each)
	}
}

func TestWordsOfAHostAreALineOfPlainText(t *testing.T) {
	for said, want := range map[string]string{
		"": "", "plain": "plain", " a\t\nb\u2028c ": "a b c", "<script>x</script>y": "xy", "a<b": "a", "\xff": "", "\x1b[31mred": "[31mred",
		"\u202eright": "right", "tea \U0001F375": "tea \U0001F375",
	} {
		assert.Equal(t, want, words(said), "%q", said)
	}
}
