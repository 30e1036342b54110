package api

import (
	"bytes"
	"context"
	"encoding/json"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/assets"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

const (
	site    = "https://chat.example.com/team"
	alice   = "aliceaaaaaaaaaaaaaaaaaaaaa"
	bob     = "bobbbbbbbbbbbbbbbbbbbbbbbb"
	admin   = "adminaaaaaaaaaaaaaaaaaaaaa"
	channel = "channelaaaaaaaaaaaaaaaaaaa"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is the API over doubles that behave.
type world struct {
	*Handler
	remote     *filehosttest.Remote
	shares     *filehosttest.Shares
	tokens     *filehosttest.Tokens
	mattermost *filehosttest.Mattermost
	bot        filehosttest.Bot
	kv         *filehosttest.KV
	runtime    Runtime
	logged     *bytes.Buffer
	refused    error // of whoever has a session
	commands   commands
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{remote: filehosttest.NewRemote(), shares: filehosttest.NewShares(), tokens: filehosttest.NewTokens(alice, admin), logged: &bytes.Buffer{}, mattermost: filehosttest.NewMattermost(
		filehost.User{ID: alice, Username: "alice", Active: true}, filehost.User{ID: bob, Username: "bob", Active: true}, filehost.User{ID: admin, Active: true, Admin: true})}
	w.remote.Shares = w.shares
	clock := clockwork.NewFakeClockAt(noon)
	w.kv = filehosttest.NewKV(clock)
	host := filehost.Host{ID: filehost.DefaultHostID, Name: "Cloud", Kind: "webdav", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com"}}
	w.runtime = Runtime{
		Monitor: filehost.NewMonitor(clock, slog.New(slog.DiscardHandler), time.Second),
		Service: filehost.New(filehost.Config{
			Host:     host,
			Methods:  []filehost.Method{filehost.MethodOAuth},
			Settings: filehost.Settings{MaxCopyBytes: 1 << 20, MaxFiles: 10, CopiesPerNode: 2, CopiesPerUser: 1},
			Tokens:   w.tokens, Connections: w.tokens, Issuer: w.tokens, Accounts: w.tokens, Remote: w.remote, Mattermost: w.mattermost, Audit: &filehosttest.Audit{}, Sealer: filehosttest.Sealer{},
			Reminders: filehost.NewReminders(filehost.RemindersConfig{Host: host, Users: w.mattermost.User, Bot: &w.bot, KV: w.kv, Clock: clock, Log: slog.New(slog.DiscardHandler)}),
			KV:        w.kv, Clock: clock, Claims: filehost.NewClaims(filehosttest.Process{Name: "run"}),
			Copies: filehost.NewPlaces("copies"), Listings: filehost.NewPlaces("listings"), Pictures: filehost.NewPlaces("thumbnails"),
		}),
	}
	w.Handler = New(Config{
		Commands: &w.commands, Lifetime: t.Context(), Runtime: func() Runtime { return w.runtime }, User: w.mattermost.User, Admit: w.admit, SiteURL: func() string { return site },
		Version: "1.2.3", ServerVersion: "11.1.0", OpenAPI: assets.OpenAPI, Log: slog.New(slog.NewTextHandler(w.logged, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	return w
}

// admit takes a session for its own user's only.
func (w *world) admit(_ context.Context, userID, sessionID string) error {
	if sessionID != userID+"'s session" {
		return filehost.E(filehost.Internal, "That is another session.", nil)
	}
	return w.refused
}

// call sends a request and holds the answer to the published contract.
func (w *world) call(t *testing.T, userID, method, target, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), method, "/api"+target, strings.NewReader(body))
	if userID != "" {
		r.Header.Set("Mattermost-User-Id", userID)
	}
	if method == http.MethodPost || method == http.MethodPatch {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	recorder := httptest.NewRecorder()
	w.ServeHTTP(recorder, WithOrigin(r, Origin{RequestID: "request1", SessionID: userID + "'s session"}))
	assert.Equal(t, "request1", recorder.Header().Get("X-Request-Id"))
	checkContract(t, r, recorder)
	return recorder
}

// document is the published contract.
var document = func() *openapi3.T {
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(assets.OpenAPI)
	if err != nil {
		panic(err)
	}
	if err = document.Validate(loader.Context); err != nil {
		panic(err)
	}
	document.Servers = openapi3.Servers{{URL: "/api"}}
	return document
}()

var contract = func() routers.Router {
	openapi3filter.RegisterBodyDecoder("text/html", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/yaml", openapi3filter.PlainBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/health+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("application/jwk-set+json", openapi3filter.JSONBodyDecoder)
	openapi3filter.RegisterBodyDecoder("image/png", openapi3filter.FileBodyDecoder)
	router, err := gorillamux.NewRouter(document)
	if err != nil {
		panic(err)
	}
	return router
}()

func checkContract(t *testing.T, r *http.Request, recorder *httptest.ResponseRecorder) {
	t.Helper()
	if r.Method == http.MethodHead { // a GET without its body (RFC 9110 9.3.2), which no document lists
		assert.Empty(t, recorder.Body.String())
		return
	}
	route, parameters, err := contract.FindRoute(r)
	if err != nil {
		assert.Contains(t, []int{http.StatusNotFound, http.StatusMethodNotAllowed}, recorder.Code, "a route without a contract")
		return
	}
	input := &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: parameters}
	answer := &openapi3filter.ResponseValidationInput{RequestValidationInput: input, Status: recorder.Code, Header: recorder.Header(),
		Options: &openapi3filter.Options{IncludeResponseStatus: true}}
	answer.SetBodyBytes(recorder.Body.Bytes())
	assert.NoError(t, openapi3filter.ValidateResponse(context.Background(), answer))
}

// failure is the error shape as a client reads it.
type failure struct {
	ID, Code, Message string
	StatusCode        int    `json:"status_code"`
	RequestID         string `json:"request_id"`
	Details           struct {
		Field      string
		Limit      int64
		LimitOwner string `json:"limit_owner"`
		RetryAfter int    `json:"retry_after_s"`
		ConnectURL string `json:"connect_url"`
	}
}

func failureOf(t *testing.T, recorder *httptest.ResponseRecorder) (f failure) {
	t.Helper()
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &f), recorder.Body.String())
	assert.Equal(t, recorder.Code, f.StatusCode)
	assert.Equal(t, "filehost."+f.Code, f.ID)
	assert.Equal(t, "request1", f.RequestID)
	assert.NotEmpty(t, f.Message)
	return f
}

// public are the routes that answer without a session. A new one needs a reason to be here.
var public = map[string]bool{
	"GET /api/health": true, "GET /api/openapi.yaml": true,
	"GET /api/jwks.json": true, "GET /api/.well-known/openid-configuration": true, // read by sign-in servers
	"GET /api/connection/callback/{host}": true, "GET /api/connection/confirm/{handle}": true, "GET /api/connection/done": true, "GET /api/connection/failed": true,
}

func TestEveryRouteIsRefusedWithoutASessionUnlessItIsPublic(t *testing.T) {
	w := newWorld(t)
	for _, route := range routes {
		name := route.method + " " + route.path
		assert.Equal(t, public[name], route.public, name)
		target := strings.NewReplacer("/api", "", "{host}", "default", "{handle}", "handle", "{post_id}", "post0", "{id}", "post0-0").Replace(route.path)
		for _, caller := range []string{"", "short", "UPPERCASEaaaaaaaaaaaaaaaaa", alice + "a", "../../../aaaaaaaaaaaaaaaaa"} {
			recorder := w.call(t, caller, route.method, target, "{}")
			if route.public && caller == "" {
				assert.NotEqual(t, http.StatusUnauthorized, recorder.Code, name)
				continue
			}
			assert.Equal(t, "not_authenticated", failureOf(t, recorder).Code, name)
		}
	}
	assert.Zero(t, w.remote.Calls())
	assert.Empty(t, w.mattermost.Changed())
}

func TestTheRouteTableAndTheContractNameTheSameRoutes(t *testing.T) {
	var published, served []string
	for path, item := range document.Paths.Map() {
		for method := range item.Operations() {
			published = append(published, method+" /api"+path)
		}
	}
	for _, route := range routes {
		served = append(served, route.method+" "+route.path)
	}
	assert.ElementsMatch(t, published, served)
}

// TestEveryObjectOfTheContractIsClosed lets no answer have a field that the contract doesn't: the other tests hold answers
// to it.
func TestEveryObjectOfTheContractIsClosed(t *testing.T) {
	open := map[string]bool{
		"FileInfo": true, // Mattermost's own
	}
	var walk func(name string, schema *openapi3.SchemaRef)
	walk = func(name string, schema *openapi3.SchemaRef) {
		if schema == nil || schema.Ref != "" {
			return
		}
		more := schema.Value.AdditionalProperties
		if schema.Value.Type.Is("object") {
			assert.Equal(t, open[name], more.Has == nil && more.Schema == nil, name)
			assert.False(t, more.Has != nil && *more.Has, name)
		}
		for property, of := range schema.Value.Properties {
			walk(name+"."+property, of)
		}
		walk(name+"[]", schema.Value.Items)
		walk(name+"{}", more.Schema)
	}
	for name, schema := range document.Components.Schemas {
		walk(name, schema)
	}
}

func TestTheContractHasTheManifestsVersion(t *testing.T) {
	raw, err := os.ReadFile("../../plugin.json")
	require.NoError(t, err)
	var manifest struct{ Version string }
	require.NoError(t, json.Unmarshal(raw, &manifest))
	assert.Equal(t, manifest.Version, document.Info.Version)
}

func TestOtherPluginsAreRefusedWhoeverTheyClaimToBe(t *testing.T) {
	w := newWorld(t)
	for _, route := range routes {
		target := strings.NewReplacer("/api", "", "{host}", "default", "{handle}", "handle", "{post_id}", "post0", "{id}", "post0-0").Replace(route.path)
		recorder := w.call(t, admin, route.method, target, "{}", "Mattermost-Plugin-ID", "evil")
		assert.Equal(t, "forbidden", failureOf(t, recorder).Code, route.path)
	}
	assert.Zero(t, w.remote.Calls())
}

func TestWhoMayNotActAsTheUserIsRefusedAndNobodyOnPublicRoutes(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[filehost.Kind]string{filehost.Forbidden: "forbidden", filehost.Internal: "internal"} {
		w.refused = filehost.E(kind, "No.", nil)
		for _, route := range routes {
			target := strings.NewReplacer("/api", "", "{host}", "default", "{handle}", "handle", "{post_id}", "post0", "{id}", "post0-0").Replace(route.path)
			recorder := w.call(t, admin, route.method, target, "{}")
			if !route.public {
				assert.Equal(t, want, failureOf(t, recorder).Code, route.path)
			}
		}
		assert.JSONEq(t, `{"status":"warn"}`, w.call(t, admin, http.MethodGet, "/health", "").Body.String())
	}
	assert.Zero(t, w.remote.Calls())
	assert.Empty(t, w.mattermost.Changed())
}

// effects are what calls have changed, at Mattermost, at the host's door and in the store.
func (w *world) effects(t *testing.T) map[string]any {
	t.Helper()
	stored := map[string]string{}
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		stored[key] = string(value)
	}
	seen := map[string]any{"stored": stored, "told": w.mattermost.Changed(), "posts": w.mattermost.Posts(), "uploads": w.mattermost.Uploads(),
		"dialogs": w.mattermost.Asked(), "messages": w.bot.Sent(), "sign-ins": w.tokens.Begun()}
	for _, user := range []string{alice, bob} {
		connection, err := w.tokens.Connection(t.Context(), user)
		require.NoError(t, err)
		seen["connection of "+user] = connection
	}
	return seen
}

// TestGETNeverChangesState calls every path of the table with methods that must be safe (RFC 9110 9.2.1), and with all that
// the route of another method would need to act. The callback is there to end what a POST has begun; without such a state
// it is as safe.
func TestGETNeverChangesState(t *testing.T) {
	w := newWorld(t)
	w.remote.AddFile("/a", []byte("hello"), noon)
	w.tokens.BeginConfirm(alice)
	w.tokens.Offer(bob, filehost.Pending{Account: "bob", ExpiresAt: noon.Add(time.Hour)})
	before := w.effects(t)
	bodies := []string{"", `{}`, `{"accept":true}`, `{"confirm":"ABCD-EFGH"}`, `{"channel_id":"` + channel + `","items":[{"path":"/a"}]}`, saveRequest, `{"path":"/new"}`, pressed, `{"submission":{"code":"ABCD-EFGH"}}`}
	for _, route := range routes {
		target := strings.NewReplacer("/api", "", "{host}", "default", "{handle}", "handle", "{post_id}", "post0", "{id}", "post0-0").Replace(route.path)
		for _, method := range []string{http.MethodGet, http.MethodHead, http.MethodOptions} {
			for _, caller := range []string{alice, bob, ""} {
				for _, body := range bodies {
					w.call(t, caller, method, target, body, "X-HTTP-Method-Override", route.method, "Content-Type", "application/json")
				}
				w.call(t, caller, method, target+"?confirm=ABCD-EFGH&accept=true&code=bad&state=guessed&_method="+route.method, "")
			}
		}
	}
	assert.Equal(t, before, w.effects(t))

	w.call(t, alice, http.MethodPost, "/actions/confirm", `{"submission":{"code":"ABCD-EFGH"}}`)
	assert.NotEqual(t, before, w.effects(t), "an effect would show")
}

func TestUnknownRoutesAndMethods(t *testing.T) {
	w := newWorld(t)
	for _, target := range []string{"/nothing", "/files/", "//files", "/connection/callback/", "/health/x", "/%66iles%2F"} {
		assert.Equal(t, "not_found", failureOf(t, w.call(t, alice, http.MethodGet, target, "")).Code, target)
	}
	recorder := w.call(t, alice, http.MethodPut, "/connection", "")
	assert.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
	assert.Equal(t, "DELETE, GET, HEAD, POST", recorder.Header().Get("Allow"))
	assert.Equal(t, "method_not_allowed", failureOf(t, recorder).Code)
}

func TestEveryKindHasItsCodeAndStatus(t *testing.T) {
	w := newWorld(t)
	for kind, want := range map[filehost.Kind]string{
		filehost.Internal: "500 internal", filehost.InvalidRequest: "400 invalid_request", filehost.NotAuthenticated: "401 not_authenticated",
		filehost.Forbidden: "403 forbidden", filehost.NotFound: "404 not_found", filehost.MethodNotAllowed: "405 method_not_allowed",
		filehost.Conflict: "409 conflict", filehost.Changed: "412 changed", filehost.TooLarge: "413 too_large", filehost.Unsupported: "422 unsupported",
		filehost.NotConnected: "424 not_connected", filehost.CredentialRejected: "424 not_connected", filehost.RateLimited: "429 rate_limited",
		filehost.HostUnavailable: "502 host_unavailable", filehost.NotConfigured: "503 not_configured", filehost.Maintenance: "503 maintenance",
		filehost.Timeout: "504 timeout", filehost.KeyReused: "422 key_reused",
	} {
		w.mattermost.Refuse(&filehost.Error{Kind: kind, Message: "Said so.", Err: http.ErrAbortHandler})
		recorder := w.call(t, alice, http.MethodPost, "/attach", `{"channel_id":"`+channel+`","items":[{"path":"/a"}]}`)
		f := failureOf(t, recorder)
		assert.Equal(t, want, strconv.Itoa(recorder.Code)+" "+f.Code)
		assert.Equal(t, "Said so.", f.Message)
		assert.NotContains(t, recorder.Body.String(), "abort", "the cause is for the log")
		if kind == filehost.RateLimited || kind == filehost.Maintenance {
			assert.NotEmpty(t, recorder.Header().Get("Retry-After"), want)
		}
		if f.Code == "not_connected" {
			assert.Equal(t, site+"/plugins/filehost-attach/api/connection", f.Details.ConnectURL)
		}
	}
	assert.Len(t, statuses, 18)
}

func TestHEADDoesNotSpendACallback(t *testing.T) {
	w := newWorld(t)
	recorder := w.call(t, bob, http.MethodHead, "/connection/callback/default?code=good&state=s", "")
	assert.Equal(t, http.StatusMethodNotAllowed, recorder.Code)
	assert.Equal(t, "GET", recorder.Header().Get("Allow"))
	assert.Empty(t, w.mattermost.Changed())
}

func TestHealthAnswersWhenTheCallerCannotBeLookedUp(t *testing.T) {
	w := newWorld(t)
	w.User = func(context.Context, string) (filehost.User, error) { return filehost.User{}, http.ErrServerClosed }
	recorder := w.call(t, admin, http.MethodGet, "/health", "")
	assert.Equal(t, http.StatusOK, recorder.Code)
	assert.NotContains(t, recorder.Body.String(), "checks")
}

// hangingStore is a database that doesn't answer, and heeds no context.
type hangingStore struct {
	filehost.Connections
	release chan bool
}

func (s hangingStore) Connection(context.Context, string) (filehost.Connection, error) {
	<-s.release
	return filehost.Connection{}, http.ErrServerClosed
}

func TestHealthAnswersWhileTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		config := w.runtime.Service.Config
		store := hangingStore{config.Connections, make(chan bool)}
		defer close(store.release)
		config.Connections = store
		w.runtime.Service = filehost.New(config)
		w.runtime.Monitor.SetFailed("kv_store", "Check the database.")
		recorder := w.call(t, admin, http.MethodGet, "/health", "")
		assert.Equal(t, http.StatusServiceUnavailable, recorder.Code)
		assert.Contains(t, recorder.Body.String(), "Check the database.")
		assert.NotContains(t, recorder.Body.String(), "connection")
	})
}

func TestHealthAnswersWhenALookUpPanics(t *testing.T) {
	w := newWorld(t)
	w.User = func(context.Context, string) (filehost.User, error) { panic("secret") }
	assert.Equal(t, http.StatusOK, w.call(t, admin, http.MethodGet, "/health", "").Code)
	assert.Contains(t, w.logged.String(), "panic of type string")
	assert.NotContains(t, w.logged.String(), "secret")
}

func TestAPanicIsAnInternalErrorThatSaysNothing(t *testing.T) {
	w := newWorld(t)
	w.Admit = func(context.Context, string, string) error { panic("secret") }
	f := failureOf(t, w.call(t, alice, http.MethodGet, "/connection", ""))
	assert.Equal(t, "internal", f.Code)
	assert.NotContains(t, f.Message, "secret")
	assert.Contains(t, w.logged.String(), "panic of type string")
	assert.NotContains(t, w.logged.String(), "secret")
}

func TestWithoutAConfigurationTheRoutesSaySoAndHealthAnswers(t *testing.T) {
	w := newWorld(t)
	w.runtime.Service = nil
	w.runtime.Monitor.SetFailed("configuration", "HostURL: enter the address.")
	for _, route := range routes {
		target := strings.NewReplacer("/api", "", "{host}", "default", "{handle}", "handle", "{post_id}", "post0", "{id}", "post0-0").Replace(route.path)
		body, ok := map[string]string{"/attach": `{"items":[{"path":"/a"}]}`, "/save": saveRequest, "/folders": `{"path":"/a"}`}[target]
		if !ok {
			body = `{}`
		}
		recorder := w.call(t, alice, route.method, target, body)
		switch target {
		case "/health":
			assert.JSONEq(t, `{"status":"fail"}`, recorder.Body.String())
			assert.Equal(t, http.StatusServiceUnavailable, recorder.Code)
		case "/connection/failed":
			assert.Equal(t, http.StatusInternalServerError, recorder.Code)
		case "/openapi.yaml", "/connection/done":
			assert.Equal(t, http.StatusOK, recorder.Code)
		default:
			assert.Equal(t, "not_configured", failureOf(t, recorder).Code, target)
		}
	}
	assert.Contains(t, w.call(t, admin, http.MethodGet, "/health", "").Body.String(), "HostURL: enter the address.")
}

func TestHealthHasThreeDepths(t *testing.T) {
	w := newWorld(t)
	w.runtime.Monitor.SetFailed("host", "Check the address.")
	assert.JSONEq(t, `{"status":"fail"}`, w.call(t, "", http.MethodGet, "/health", "").Body.String())
	assert.JSONEq(t, `{"status":"fail","connection":{"state":"connected","host":{"id":"default","name":"Cloud","kind":"webdav"},"method":"oauth","methods":["oauth"],"automatic":false,"account":"account","grant":"password"}}`,
		w.call(t, alice, http.MethodGet, "/health", "").Body.String())
	recorder := w.call(t, admin, http.MethodGet, "/health", "")
	assert.Equal(t, "application/health+json; charset=utf-8", recorder.Header().Get("Content-Type"))
	var body healthBody
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body))
	assert.Equal(t, "1.2.3", body.Version)
	assert.Equal(t, "Check the address.", body.Checks["host"][0].Output)
	assert.Zero(t, w.remote.Calls(), "a call of health calls nobody")
}
