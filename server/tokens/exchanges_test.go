package tokens

import (
	"net/http"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// told is what an admin is told of the token endpoint, and how.
func told(t *testing.T, node *Store) (status filehost.Status, remedy string) {
	t.Helper()
	err := node.CheckTokenEndpoint(t.Context())
	var degraded *filehost.Degraded
	if err == nil {
		return filehost.Pass, ""
	}
	if ok := asDegraded(err, &degraded); ok {
		return filehost.Warn, degraded.Remedy
	}
	var known *filehost.Error
	require.ErrorAs(t, err, &known)
	return filehost.Fail, known.Message
}

func asDegraded(err error, into **filehost.Degraded) bool {
	degraded, ok := err.(*filehost.Degraded) //nolint:errorlint // exactly this
	*into = degraded
	return ok
}

// page answers everything in the same way.
func page(status int, contentType, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", "https://login.example.com/elsewhere?token=canary")
		w.WriteHeader(status)
		_, _ = w.Write([]byte(body))
	}
}

// onExchange lets token requests fail and answers the check's own as a token endpoint would.
func onExchange(fault http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			w.WriteHeader(http.StatusMethodNotAllowed)
			return
		}
		fault(w, r)
	}
}

func TestWhatARealExchangeMeetsIsToldForFiveMinutes(t *testing.T) {
	const json, html = "application/json", "text/html; charset=utf-8"
	for name, c := range map[string]struct {
		fault  http.HandlerFunc
		status filehost.Status
		remedy string
	}{
		"no such page":       {page(404, html, "<html>canary"), filehost.Fail, "did not answer the last sign-in as a token endpoint does (status 404): correct “OAuth token URL”"},
		"a redirect":         {page(302, html, ""), filehost.Fail, "did not answer the last sign-in as a token endpoint does (status 302)"},
		"a web page":         {page(200, html, "<html>canary"), filehost.Fail, "as a token endpoint does (a page or something else without tokens)"},
		"no token in it":     {page(200, json, `{"access_token":"a b\n","token_type":"mac"}`), filehost.Fail, "as a token endpoint does (a page or something else without tokens)"},
		"a broken server":    {page(502, html, "canary"), filehost.Warn, "answered the last sign-in with an error of its own (502)"},
		"too many requests":  {page(429, html, "canary"), filehost.Warn, "refuses requests as too many (429), so that sign-ins wait"},
		"a scope it forbids": {page(400, json, `{"error":"invalid_scope"}`), filehost.Warn, "declined the plugin's last request (invalid_scope)"},
		"a hung-up":          {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, filehost.Warn, "gave no answer to the last sign-in"},
		"a dead grant":       {page(400, json, `{"error":"invalid_grant"}`), filehost.Pass, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var changes atomic.Int64
			node := w.node(func(c *Config) {
				c.OAuth.TokenURL = w.server.URL + tokenPath
				c.Changed = func() { changes.Add(1) }
			})
			w.connect(node, ann)
			w.expire()
			w.server.set(func(s *signInServer) { s.fault = onExchange(c.fault) })
			_, err := node.For(t.Context(), ann)
			require.Error(t, err)
			status, remedy := told(t, node)
			require.Equal(t, c.status, status, remedy)
			if c.status == filehost.Pass {
				require.Zero(t, changes.Load())
				return
			}
			require.Contains(t, remedy, c.remedy)
			require.Contains(t, remedy, "The sign-in server ("+w.server.URL+tokenPath+")")
			require.NotContains(t, remedy, "canary")
			require.EqualValues(t, 1, changes.Load(), "the check is asked for at once")

			w.clock.Advance(restTime)
			status, _ = told(t, node)
			require.Equal(t, filehost.Pass, status, "it may have been mended")
			w.server.set(func(s *signInServer) { s.fault = nil })
			_, err = node.For(t.Context(), ann)
			require.NoError(t, err)
			require.EqualValues(t, 2, changes.Load())
		})
	}
}

func TestARefusedClientIsToldAtOnceAndUntilAnExchangeSucceeds(t *testing.T) {
	w := newWorld(t)
	var changes atomic.Int64
	node := w.node(func(c *Config) { c.Changed = func() { changes.Add(1) } })
	w.connect(node, ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.clientSecret = "another" })
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.EqualValues(t, 1, changes.Load())
	status, remedy := told(t, node)
	require.Equal(t, filehost.Fail, status)
	require.Contains(t, remedy, "The sign-in server ("+w.server.URL+") refused “OAuth client id” or “OAuth client secret” at the last sign-in (invalid_client)")
	require.NotContains(t, remedy, "canary")

	w.clock.Advance(time.Hour)
	w.server.set(func(s *signInServer) {
		s.fault = onExchange(page(400, "application/json", `{"error":"invalid_request"}`))
	})
	node.noteExchange(&tokenError{Status: 400, Code: "invalid_request"}, "")
	status, _ = told(t, node)
	require.Equal(t, filehost.Fail, status, "some servers look at the grant first, so that this clears nothing")

	w.server.set(func(s *signInServer) { s.clientSecret, s.fault = "canary-client-secret", nil })
	w.credential(node, ann)
	status, _ = told(t, node)
	require.Equal(t, filehost.Pass, status)
	require.EqualValues(t, 2, changes.Load())
}

func TestAnAnswerThatNoTokenEndpointGivesIsToldUnlessItHasProvenItself(t *testing.T) {
	for name, c := range map[string]struct {
		fault  http.HandlerFunc
		status filehost.Status
		remedy string
		proven filehost.Status // the status once an exchange has succeeded
	}{
		"nothing there":     {page(404, "text/html", ""), filehost.Warn, "seems to have nothing at this address (404). If sign-ins fail, correct “Address of the file host”", filehost.Pass},
		"a web page":        {page(200, "text/html", ""), filehost.Warn, "shows a web page at this address", filehost.Pass},
		"a redirect":        {page(302, "text/html", ""), filehost.Warn, "redirects (302) to https://login.example.com/elsewhere, and", filehost.Pass},
		"a proxy's sign-in": {page(407, "text/html", ""), filehost.Fail, "A proxy between Mattermost and the sign-in server", filehost.Fail},
		"a throttle":        {page(429, "text/html", ""), filehost.Warn, "refuses requests as too many (429)", filehost.Warn},
		"a broken server":   {page(500, "text/html", ""), filehost.Fail, "an error of its own (500)", filehost.Fail},
		"no such method":    {page(501, "text/html", ""), filehost.Pass, "", filehost.Pass},
		"maintenance": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Nextcloud-Maintenance-Mode", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}, filehost.Fail, "is in maintenance", filehost.Fail},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node()
			w.server.set(func(s *signInServer) { s.fault = c.fault })
			status, remedy := told(t, node)
			require.Equal(t, c.status, status, remedy)
			require.Contains(t, remedy, c.remedy)
			require.NotContains(t, remedy, "canary")

			w.server.set(func(s *signInServer) { s.fault = nil })
			w.connect(node, ann)
			w.server.set(func(s *signInServer) { s.fault = c.fault })
			status, _ = told(t, node)
			require.Equal(t, c.proven, status)
		})
	}
}

func TestMetadataThatCannotBeHadHasARemedy(t *testing.T) {
	for name, c := range map[string]struct {
		fault  http.HandlerFunc
		remedy string
	}{
		"none":        {http.NotFound, "publishes no metadata below that address"},
		"a web page":  {page(200, "text/html", "<html>"), "answers with something else than its metadata, such as a web page: correct “OAuth issuer”"},
		"forbidden":   {page(403, "text/html", ""), "does not show its metadata (403)"},
		"broken":      {page(500, "text/html", ""), "an error of its own (500)"},
		"another's":   {page(200, "application/json", `{"issuer":"https://canary.example"}`), `publishes metadata that can't be used: the metadata is of another issuer than "`},
		"a dead line": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "gives no answer that can be read: check “OAuth issuer”"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.set(func(s *signInServer) { s.fault = c.fault })
			status, remedy := told(t, w.node(w.byIssuer))
			require.Equal(t, filehost.Fail, status)
			require.Contains(t, remedy, "The sign-in server ("+w.server.URL+")")
			require.Contains(t, remedy, c.remedy)
			require.NotContains(t, remedy, "canary")
		})
	}
}

// TestAPublishedTokenEndpointNeedNotKnowTheKnock is about oidc-provider, which answers 404 where others answer 405.
func TestAPublishedTokenEndpointNeedNotKnowTheKnock(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration")
	router := newSignInServer(t)
	router.set(func(s *signInServer) { s.fault = page(404, "application/json", "") })
	w.server.set(func(s *signInServer) { s.metadata["token_endpoint"] = router.URL + "/token" })
	status, remedy := told(t, w.node(w.byIssuer))
	require.Equal(t, filehost.Pass, status, remedy)

	status, remedy = told(t, w.node(w.byIssuer, func(c *Config) { c.OAuth.TokenURL = router.URL + "/token" }))
	require.Equal(t, filehost.Warn, status)
	require.Contains(t, remedy, "seems to have nothing at this address (404). If sign-ins fail, correct “OAuth token URL”")
}

func TestATokenEndpointOfAnIssuerThatIsDownIsTold(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration")
	gone := newSignInServer(t)
	gone.Close()
	w.server.set(func(s *signInServer) { s.metadata["token_endpoint"] = gone.URL + "/token" })
	status, remedy := told(t, w.node(w.byIssuer))
	require.Equal(t, filehost.Fail, status)
	require.Contains(t, remedy, "The sign-in server ("+gone.URL+"/token)")
}

func TestTheClockOfASignInServerThatIsOffWarns(t *testing.T) {
	w := newWorld(t)
	w.server.set(func(s *signInServer) { s.clock = func() time.Time { return w.clock.Now().Add(-time.Hour) } })
	status, remedy := told(t, w.node())
	require.Equal(t, filehost.Warn, status)
	require.Contains(t, remedy, "The clock of the sign-in server ("+w.server.URL+tokenPath+") is 1 h 0 min behind")
}
