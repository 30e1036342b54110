package api

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestFilesListsAFolder(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFolder("/Photos")
	w.remote.AddFile("/Photos/a%2Fb #1.txt", []byte("hello"), noon)
	recorder := w.call(t, alice, http.MethodGet, "/files?path=/Photos&type=file&type=image/&sort=size&order=desc&limit=5&view=folder&host=default", "")
	assert.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	assert.Equal(t, "private, no-cache", recorder.Header().Get("Cache-Control"))
	assert.Equal(t, "Authorization, Cookie, Accept-Language", recorder.Header().Get("Vary"))
	var page pageBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &page))
	assert.Equal(t, "Photos", page.Folder.Name)
	require.Len(t, page.Entries, 1)
	entry := page.Entries[0]
	assert.Equal(t, "/Photos/a%2Fb #1.txt", entry.Path)
	assert.Equal(t, "a%2Fb #1.txt", entry.Name)
	assert.Equal(t, int64(5), entry.Size)
	assert.Equal(t, noon, *entry.ModifiedAt)

	byID := w.call(t, alice, http.MethodGet, "/files?id="+page.Folder.ID, "")
	assert.Equal(t, http.StatusOK, byID.Code)
	assert.Contains(t, byID.Body.String(), `"name":"Photos"`)
}

func TestFilesFindsWhatIsLookedFor(t *testing.T) {
	w := newWorld(t)
	w.remote.Offer(filehost.Capabilities{Search: true, Recent: true})
	w.remote.AddFile("/old.txt", []byte("1"), noon)
	w.remote.AddFile("/new.txt", []byte("1"), noon.Add(time.Hour))
	w.remote.AddFolder("/Photos")
	w.remote.AddFile("/Photos/old.txt", []byte("1"), noon)
	for query, want := range map[string][]string{
		"view=recent":           {"/new.txt", "/old.txt", "/Photos/old.txt"},
		"view=recent&order=asc": {"/Photos/old.txt", "/old.txt", "/new.txt"},
		"view=recent&sort=name": {"/new.txt", "/Photos/old.txt", "/old.txt"},
		"q=OLD&path=/Photos":    {"/Photos/old.txt"},
	} {
		recorder := w.call(t, alice, http.MethodGet, "/files?"+query, "")
		assert.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
		var page pageBody
		require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &page))
		assert.Nil(t, page.Folder, query)
		var paths []string
		for _, entry := range page.Entries {
			paths = append(paths, entry.Path)
		}
		assert.Equal(t, want, paths, query)
	}
}

func TestItemsByIDTellTheIDAndWhereItIs(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/a.txt", []byte("hello"), noon)
	w.remote.Change("/a.txt", func(e *filehost.Entry) { e.HostID = "7" })
	var page pageBody
	require.NoError(t, json.Unmarshal(w.call(t, alice, http.MethodGet, "/files", "").Body.Bytes(), &page))
	id, missing := page.Entries[0].ID, filehost.Ref{HostID: "8"}.ID()
	recorder := w.call(t, alice, http.MethodPost, "/attach", `{"channel_id": "`+channel+`", "dry_run": true, "items": [{"id": "`+id+`"}, {"id": "`+missing+`"}, {"path": "/a.txt"}]}`)
	assert.Equal(t, http.StatusOK, recorder.Code, recorder.Body.String())
	var answer attachedBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &answer))
	require.Len(t, answer.Items, 3)
	assert.Equal(t, attachedItemBody{ID: id, Path: "/a.txt", Name: "a.txt", Size: 5}, answer.Items[0])
	assert.Equal(t, []string{missing, "", ""}, []string{answer.Items[1].ID, answer.Items[1].Path, answer.Items[1].Name})
	assert.Equal(t, "not_found", answer.Items[1].Error.Code)
	assert.Empty(t, answer.Items[2].ID)
}

func TestTheRootIsNamedLikeTheHost(t *testing.T) {
	w := newWorld(t)
	assert.Contains(t, w.call(t, alice, http.MethodGet, "/files", "").Body.String(), `"name":"Cloud","path":"/"`)
}

func TestWrongQueriesNameTheParameter(t *testing.T) {
	w := newWorld(t)
	for query, want := range map[string]string{
		"path=a":               "invalid_request path",
		"path=/a/../b":         "invalid_request path",
		"path=/a%00":           "invalid_request path",
		"path=/a%5C..%5Cb":     "invalid_request path",
		"path=/a&id=pL2E":      "invalid_request path",
		"path=/a&path=/b":      "invalid_request path",
		"id=nonsense":          "invalid_request id",
		"limit=0":              "invalid_request limit",
		"limit=1001":           "invalid_request limit",
		"limit=ten":            "invalid_request limit",
		"sort=colour":          "invalid_request sort",
		"order=up":             "invalid_request order",
		"type=image":           "invalid_request type",
		"cursor=forged":        "invalid_request cursor",
		"folder=/a":            "invalid_request folder",
		"host=other":           "invalid_request host",
		"view=all":             "invalid_request view",
		"path=%zz":             "invalid_request query",
		"view=recent":          "unsupported view",
		"q=words":              "unsupported q",
		"sort=host":            "",
		"user_id=" + bob:       "invalid_request user_id",
		"access_token=x&path=": "",
	} {
		recorder := w.call(t, alice, http.MethodGet, "/files?"+query, "")
		if want == "" {
			assert.Equal(t, http.StatusOK, recorder.Code, query)
			continue
		}
		f := failureOf(t, recorder)
		assert.Equal(t, want, f.Code+" "+f.Details.Field, query)
	}
}

func TestAttachAnswersItemByItem(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/good.txt", []byte("hello"), noon)
	id := filehosttest.MustPath("/good.txt").ID()
	recorder := w.call(t, alice, http.MethodPost, "/attach", `{"channel_id":"`+channel+`","message":"m","as":"copy","dry_run":false,"items":[{"path":"/bad.txt"},{"id":"`+id+`"}]}`)
	require.Equal(t, http.StatusCreated, recorder.Code, recorder.Body.String())
	var body attachedBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	assert.Equal(t, "post0", body.PostID)
	assert.Equal(t, "not_found", body.Items[0].Error.Code)
	assert.Empty(t, body.Items[0].FileID)
	assert.Equal(t, "/good.txt", body.Items[1].Path)
	assert.Equal(t, "file0", body.Items[1].FileID)
}

func TestWrongBodiesNameTheField(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/a", []byte("hello"), noon)
	for body, want := range map[string]string{
		``:                                       "invalid_request body",
		`[]`:                                     "invalid_request body",
		`{"channel_id":`:                         "invalid_request body",
		`{"items":[{"path":"/a"}]} {}`:           "invalid_request body",
		`{"items":[]}`:                           "invalid_request items",
		`{"items":[{"path":"/a"},{}]}`:           "invalid_request items[1]",
		`{"items":[{"path":"/a"},{"path":"a"}]}`: "invalid_request items[1].path",
		`{"items":[{"path":"/a","id":"p"}]}`:     "invalid_request items[0].path",
		`{"items":[{"id":"nonsense"}]}`:          "invalid_request items[0].id",
		`{"items":[{"path":"/a"}],"as":""}`:      "invalid_request as",
		`{"items":[{"path":5}]}`:                 "invalid_request items[0].path",
		`{"items":"/a"}`:                         "invalid_request items",
		`{"chanel_id":"x"}`:                      "invalid_request chanel_id",
		`{"user_id":"` + bob + `"}`:              "invalid_request user_id",
		`{"items":[{"path":"/a"}],"as":"x"}`:     "invalid_request as",
		`{"items":[{"path":"/a"}],"link":{"audience":"public"}}`:                 "invalid_request link",
		`{"items":[{"path":"/a"}],"as":"link","link":{"audience":"all"}}`:        "invalid_request link.audience",
		`{"items":[{"path":"/a"}],"as":"link","link":{"permission":"own"}}`:      "invalid_request link.permission",
		`{"items":[{"path":"/a"}],"as":"link","link":{"permission":"edit"}}`:     "invalid_request link.permission",
		`{"items":[{"path":"/a"}],"as":"link","link":{"expires_at":"tomorrow"}}`: "invalid_request link.expires_at",
		`{"items":[{"path":"/a"}],"as":"link","link":{"grant_to":["x"]}}`:        "invalid_request link.grant_to",
		`{"items":[{"path":"/a"}],"as":"link","link":{"password":"p"}}`:          "invalid_request link.audience",
		`{"items":[{"path":"/a"}],"as":"link","link":{"user_id":"x"}}`:           "invalid_request link.user_id",
		`{"items":[{"path":"/a"}],"as":"link","link":{"audience":"public"}}`:     "unsupported link.audience",
		`{"items":[{"path":"/a"}],"as":"link"}`:                                  "unsupported link.audience",
		`{"items":[{"path":"/a"}],"as":"draft","message":"m"}`:                   "invalid_request message",
		`{"items":[{"path":"/a"}],"host":"other"}`:                               "invalid_request host",
		`{"message":"` + strings.Repeat("a", 1<<20) + `"}`:                       "too_large body",
	} {
		f := failureOf(t, w.call(t, alice, http.MethodPost, "/attach", body))
		assert.Equal(t, want, f.Code+" "+f.Details.Field, body[:min(len(body), 60)])
	}
	assert.Empty(t, w.mattermost.Posts())
}

func FuzzNoBodyPanicsOrPosts(f *testing.F) {
	f.Add(`{"channel_id":"x","items":[{"path":"/a"}]}`)
	f.Add(`{"items":[null],"as":null}`)
	f.Fuzz(func(t *testing.T, body string) {
		w := newWorld(t)
		recorder := w.call(t, alice, http.MethodPost, "/attach", body)
		if recorder.Code == http.StatusInternalServerError || len(w.mattermost.Posts()) > 0 {
			t.Fatalf("%d for %q", recorder.Code, body)
		}
	})
}

func FuzzNoQueryPanics(f *testing.F) {
	f.Add("path=/a&limit=1")
	f.Add("id=pL2E&type=%ff")
	f.Fuzz(func(t *testing.T, query string) {
		if _, err := url.ParseRequestURI("/files?" + query); err != nil || strings.ContainsAny(query, " #") {
			return // no HTTP server would let it in
		}
		recorder := newWorld(t).call(t, alice, http.MethodGet, "/files?"+query, "")
		if recorder.Code == http.StatusInternalServerError {
			t.Fatalf("%q: %s", query, recorder.Body)
		}
	})
}

func TestConnectionByBody(t *testing.T) {
	w := newWorld(t)
	recorder := w.call(t, bob, http.MethodPost, "/connection", `{}`)
	assert.JSONEq(t, `{"authorize_url":"https://login.example.com/authorize?state=state"}`, recorder.Body.String())
	assert.Equal(t, "no-store", recorder.Header().Get("Cache-Control"))

	w.tokens.BeginConfirm(bob)
	for body, want := range map[string]string{
		`{"confirm":"WRONG"}`: "invalid_request",
		`{"username":"u"}`:    "invalid_request",
		`{"password":"p"}`:    "invalid_request",
		`{"username":"u","password":"right","confirm":"c"}`: "invalid_request",
		`{"username":"u","password":"right"}`:               "unsupported",
		`{"user_id":"x"}`:                                   "invalid_request",
		`{"method":"magic"}`:                                "invalid_request",
		`{"method":""}`:                                     "invalid_request",
		`{"method":"login_flow"}`:                           "unsupported",
		`{"method":"oauth","accept":true}`:                  "invalid_request",
		`{"accept":true}`:                                   "not_found",
	} {
		assert.Equal(t, want, failureOf(t, w.call(t, bob, http.MethodPost, "/connection", body)).Code, body)
	}
	assert.Contains(t, w.call(t, bob, http.MethodPost, "/connection", `{"confirm":"ABCD-EFGH"}`).Body.String(), `"state":"connected"`)
	assert.Equal(t, http.StatusNoContent, w.call(t, bob, http.MethodDelete, "/connection", "").Code)
	assert.Contains(t, w.call(t, bob, http.MethodGet, "/connection", "").Body.String(), `"state":"not_connected"`)

	w.runtime.Service.Methods = []filehost.Method{filehost.MethodPassword}
	assert.Equal(t, "invalid_request", failureOf(t, w.call(t, bob, http.MethodPost, "/connection", `{"username":"u","password":"wrong"}`)).Code)
	assert.Contains(t, w.call(t, bob, http.MethodPost, "/connection", `{"username":"u","password":"right"}`).Body.String(), `"method":"password"`)
	assert.Equal(t, "unsupported", failureOf(t, w.call(t, bob, http.MethodPost, "/connection", `{}`)).Code)
}

func TestAClientIsToldWhetherItsUserConnectsByHimself(t *testing.T) {
	w := newWorld(t)
	w.runtime.Service.Methods = []filehost.Method{filehost.MethodTokenExchange}
	assert.Contains(t, w.call(t, bob, http.MethodGet, "/connection", "").Body.String(), `"automatic":true`)
	w.tokens.Refuse(bob, filehost.Refusal{Method: filehost.MethodTokenExchange, Reason: "You have no account there."})
	assert.Contains(t, w.call(t, bob, http.MethodGet, "/connection", "").Body.String(), `"automatic":false`)
}

func TestAClientIsToldTheLimitsBeforeItAttaches(t *testing.T) {
	w := newWorld(t)
	w.mattermost.Limit(func(l *filehost.Limits) { l.FileSize, l.FilesPerPost = 1000, 5 })
	assert.Contains(t, w.call(t, alice, http.MethodGet, "/connection", "").Body.String(), `"limits":{"files":5,"file_size":1000,"total_size":1048576}`)
	w.runtime.Service.Settings.MaxFiles, w.runtime.Service.Settings.MaxCopyBytes = 3, 10
	assert.Contains(t, w.call(t, alice, http.MethodGet, "/connection", "").Body.String(), `"limits":{"files":3,"file_size":10,"total_size":10}`)
}

func TestTheCallbackLeavesItsCodeBehind(t *testing.T) {
	w := newWorld(t)
	recorder := w.call(t, bob, http.MethodGet, "/connection/callback/default?code=good&state=s", "")
	assert.Equal(t, http.StatusSeeOther, recorder.Code)
	assert.Equal(t, site+"/plugins/filehost-attach/api/connection/done", recorder.Header().Get("Location"))
	assertPageHeader(t, recorder.Header())

	w.tokens.BeginConfirm(bob)
	recorder = w.call(t, "", http.MethodGet, "/connection/callback/default?code=good&state=s", "")
	assert.Equal(t, site+"/plugins/filehost-attach/api/connection/confirm/handle", recorder.Header().Get("Location"))
	recorder = w.call(t, "", http.MethodGet, "/connection/confirm/handle", "")
	assert.Contains(t, recorder.Body.String(), "@bob")
	assert.Contains(t, recorder.Body.String(), "ABCD-EFGH")
	assertPageHeader(t, recorder.Header())

	assert.Equal(t, http.StatusNotFound, w.call(t, "", http.MethodGet, "/connection/confirm/other", "").Code)
	assert.Equal(t, "not_found", failureOf(t, w.call(t, bob, http.MethodGet, "/connection/callback/other?code=good&state=s", "")).Code)
}

func TestAnAnswerConnectsInTheQueryAndWithEachParameterOnceOnly(t *testing.T) {
	for name, test := range map[string]struct {
		method, target, body, contentType, want string
	}{
		"a form post":          {http.MethodPost, "", "code=good&state=s", "application/x-www-form-urlencoded", "method_not_allowed"},
		"a post with a query":  {http.MethodPost, "?code=good&state=s", "", "application/x-www-form-urlencoded", "method_not_allowed"},
		"JSON":                 {http.MethodPost, "", `{"code":"good","state":"s"}`, "application/json", "method_not_allowed"},
		"a body with a GET":    {http.MethodGet, "", "code=good&state=s", "application/x-www-form-urlencoded", "invalid_request"},
		"nothing but the path": {http.MethodGet, "", "", "", "invalid_request"}, // which is all that a browser sends of a fragment
		"two codes":            {http.MethodGet, "?code=good&code=good&state=s", "", "", "invalid_request"},
		"two states":           {http.MethodGet, "?code=good&state=s&state=s", "", "", "invalid_request"},
		"two issuers":          {http.MethodGet, "?code=good&state=s&iss=a&iss=b", "", "", "invalid_request"},
		"two errors":           {http.MethodGet, "?code=good&state=s&error=&error=access_denied", "", "", "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			recorder := w.call(t, bob, test.method, "/connection/callback/default"+test.target, test.body, "Content-Type", test.contentType)
			assert.Equal(t, test.want, failureOf(t, recorder).Code)
			assert.Empty(t, w.mattermost.Changed(), "nobody is told of a connection")
		})
	}
}

func assertPageHeader(t *testing.T, header http.Header) {
	t.Helper()
	assert.Equal(t, "no-referrer", header.Get("Referrer-Policy"))
	assert.Equal(t, "no-store", header.Get("Cache-Control"))
	assert.Regexp(t, `^default-src 'none'; style-src 'sha256-[^']+'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'$`, header.Get("Content-Security-Policy"))
	assert.Equal(t, "DENY", header.Get("X-Frame-Options"))
	assert.Equal(t, "nosniff", header.Get("X-Content-Type-Options"))
}

// TestTheCallbackRedirectsNowhereElse gives the callback every place to go to that an attacker could write into its address
// or into a header.
func TestTheCallbackRedirectsNowhereElse(t *testing.T) {
	const evil = "https%3A%2F%2Fevil.example.com%2F"
	for name, query := range map[string]string{
		"connected": "code=good&state=s", "failed": "code=bad&state=" + evil, "an error of the server's": "error=" + evil + "&error_uri=" + evil + "&state=s",
		"parameters of other kits": "code=good&state=s&redirect_uri=" + evil + "&next=" + evil + "&return_to=" + evil + "&url=//evil.example.com",
		"a line break":             "code=bad&state=%0d%0aLocation:%20" + evil,
	} {
		for _, caller := range []string{bob, ""} {
			w := newWorld(t)
			recorder := w.call(t, caller, http.MethodGet, "/connection/callback/default?"+query, "", "Accept", "text/html",
				"Host", "evil.example.com", "X-Forwarded-Host", "evil.example.com", "X-Forwarded-Proto", "javascript", "Referer", "https://evil.example.com/")
			assert.Equal(t, http.StatusSeeOther, recorder.Code, name)
			location, err := url.Parse(recorder.Header().Get("Location"))
			require.NoError(t, err, name)
			assert.True(t, strings.HasPrefix(location.String(), site+Base+"/connection/"), "%s: %s", name, location)
			assert.NotContains(t, location.String(), "evil", name)
			for _, secret := range []string{"code", "state", "iss", "error"} {
				assert.False(t, location.Query().Has(secret), "%s leaves %s in %s", name, secret, location)
			}
			assertPageHeader(t, recorder.Header())
		}
	}
}

// TestTheCallbackTakesTheQueryOnly shows that no answer in a form is taken (OAuth 2.0 Form Post Response Mode): a browser
// sends cookies with it or not, as it likes.
func TestTheCallbackTakesTheQueryOnly(t *testing.T) {
	w := newWorld(t)
	recorder := w.call(t, bob, http.MethodPost, "/connection/callback/default", "code=good&state=s", "Content-Type", "application/x-www-form-urlencoded")
	assert.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
	assert.Equal(t, "GET", recorder.Header().Get("Allow"))
	assert.Empty(t, w.mattermost.Changed())
}

func TestAFailedCallbackIsAPageForABrowserAndJSONForAProgram(t *testing.T) {
	w := newWorld(t)
	const target = "/connection/callback/default?code=bad&state=%3Cscript%3E"
	f := failureOf(t, w.call(t, bob, http.MethodGet, target, ""))
	assert.Equal(t, "invalid_request", f.Code)
	recorder := w.call(t, bob, http.MethodGet, target, "", "Accept", "text/html,*/*")
	assert.Equal(t, http.StatusSeeOther, recorder.Code)
	assert.Equal(t, site+Base+"/connection/failed?reason=invalid_request", recorder.Header().Get("Location"))
	assertPageHeader(t, recorder.Header())
	recorder = w.call(t, "", http.MethodGet, "/connection/failed?reason=invalid_request", "")
	assert.Equal(t, http.StatusBadRequest, recorder.Code)
	assert.Contains(t, recorder.Body.String(), "has expired, was used before")
	recorder = w.call(t, "", http.MethodGet, "/connection/failed?reason=%3Cscript%3E", "")
	assert.Contains(t, recorder.Body.String(), "Something went wrong.")
	assert.NotContains(t, recorder.Body.String(), "script")
	assertPageHeader(t, recorder.Header())
}

func TestAHostileNameIsEscapedOnEveryPage(t *testing.T) {
	page, err := newPage(http.StatusOK, pageData{Title: "<b>", Lines: []string{"@<script>alert(1)</script>"}, Code: "<i>"})
	require.NoError(t, err)
	for _, tag := range []string{"<b>", "<script>", "<i>"} {
		assert.NotContains(t, string(page.body.([]byte)), tag)
	}
}

func TestSecretsOfARequestNeverReachTheLog(t *testing.T) {
	w := newWorld(t)
	const canary = "canary-7f3a"
	w.runtime.Service.Methods = []filehost.Method{filehost.MethodPassword}
	w.call(t, bob, http.MethodPost, "/connection", `{"username":"u","password":"`+canary+`"}`)
	w.call(t, bob, http.MethodPost, "/connection", `{"username":"u","password":5,"x":"`+canary+`"}`)
	w.call(t, bob, http.MethodPost, "/connection", `{"confirm":"`+canary+`"}`)
	w.call(t, bob, http.MethodGet, "/connection/callback/default?code="+canary+"&state="+canary, "")
	w.call(t, bob, http.MethodGet, "/files?access_token="+canary, "")
	assert.NotEmpty(t, w.logged.String())
	assert.NotContains(t, w.logged.String(), canary)
}

func TestTheTimeOfACopyEndsBeforeTheServers(t *testing.T) {
	w := newWorld(t)
	for seconds, want := range map[int]string{300: "4m50s", 30: "20s", 10: "5s", 0: "4m50s"} {
		w.mattermost.Limit(func(l *filehost.Limits) { l.RequestTimeout = time.Duration(seconds) * time.Second })
		assert.Equal(t, want, TransferLimit(w.runtime.Service).String())
	}
	assert.Equal(t, "4m50s", TransferLimit(nil).String())
}
