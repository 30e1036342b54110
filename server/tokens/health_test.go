package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
)

var loopback = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func TestTheTokenEndpointIsCheckedWithoutGrantAndCredential(t *testing.T) {
	w := newWorld(t)
	w.server.set(func(s *signInServer) {
		s.fault = func(rw http.ResponseWriter, r *http.Request) {
			if r.Header.Get("Authorization") != "" || r.ContentLength > 0 || r.URL.RawQuery != "" {
				t.Error("the check sent something")
			}
			rw.WriteHeader(http.StatusMethodNotAllowed)
		}
	})
	require.NoError(t, w.node().CheckTokenEndpoint(t.Context()))
	require.Equal(t, []string{"HEAD " + tokenPath}, w.server.requests)
}

func TestATokenEndpointThatIsNotThereHasARemedy(t *testing.T) {
	answers := func(status int) roundTrip {
		return func(*http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: status, Body: http.NoBody}, nil
		}
	}
	fails := func(err error) roundTrip {
		return func(*http.Request) (*http.Response, error) { return nil, err }
	}
	tests := map[string]struct {
		transport http.RoundTripper
		remedy    string
	}{
		"a server error":       {answers(502), "answers with an error of its own (502)"},
		"something unforeseen": {fails(errors.New("refused")), "gives no answer that can be read: check “OAuth "},
		"too slow":             {fails(context.DeadlineExceeded), "does not answer in time"},
	}
	for name, test := range tests {
		for _, setting := range []string{"issuer", "token URL"} {
			t.Run(name+" of an "+setting, func(t *testing.T) {
				w := newWorld(t)
				node := w.node(func(c *Config) {
					c.Client = &http.Client{Transport: test.transport}
					if c.OAuth.TokenURL = w.server.URL + tokenPath; setting == "issuer" {
						c.OAuth.TokenURL = ""
						w.byIssuer(c)
					}
				})
				err := node.CheckTokenEndpoint(t.Context())
				requireKind(t, filehost.HostUnavailable, err)
				var known *filehost.Error
				require.ErrorAs(t, err, &known)
				require.Contains(t, known.Message, test.remedy)
			})
		}
	}
}

func TestASignInServerThatCannotBeReachedHasTheRemediesOfTheWayOut(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	for remedy, allowed := range map[string][]netip.Prefix{
		"has the address 127.0.0.1, which is not public":            nil,
		"The certificate of the sign-in server (https://127.0.0.1:": loopback,
	} {
		w := newWorld(t)
		client, err := outbound.New(outbound.Config{Allowed: allowed})
		require.NoError(t, err)
		err = w.node(func(c *Config) { c.OAuth.TokenURL, c.Client = secure.URL, client }).CheckTokenEndpoint(t.Context())
		require.ErrorContains(t, err, remedy)
	}
}

func TestASignInServerThatIsDownIsSparedAndTheCheckSaysWhenItIsBack(t *testing.T) {
	w := newWorld(t)
	client, err := outbound.New(outbound.Config{AllowHTTP: true, Allowed: loopback})
	require.NoError(t, err)
	t.Cleanup(client.CloseIdleConnections)
	node := w.node(func(c *Config) { c.Client = client })
	w.connect(node, ann)
	w.connect(node, bob)
	w.expire()
	down := func(rw http.ResponseWriter, _ *http.Request) { rw.WriteHeader(http.StatusBadGateway) }
	w.server.set(func(s *signInServer) { s.fault = down })
	var known *filehost.Error
	fail := func(user string) {
		_, err := node.For(t.Context(), user)
		requireKind(t, filehost.HostUnavailable, err)
		require.ErrorAs(t, err, &known)
	}
	for range 10 {
		fail(ann)
		require.Zero(t, known.RetryAfter, "what one user's refresh meets spares the server for nobody")
	}
	for range 10 {
		fail(bob)
	}
	require.NotZero(t, known.RetryAfter)
	require.Contains(t, known.Message, "has not answered lately")
	calls := w.server.tokenCalls()
	for range 3 {
		fail(ann)
	}
	require.Equal(t, calls, w.server.tokenCalls())

	require.Error(t, node.CheckTokenEndpoint(t.Context()))
	w.server.set(func(s *signInServer) { s.fault = nil })
	var degraded *filehost.Degraded
	require.ErrorAs(t, node.CheckTokenEndpoint(t.Context()), &degraded, "it is back, and has to prove it")
	require.Contains(t, degraded.Remedy, "answered the last sign-in with an error of its own (502)")
	w.credential(node, ann)
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
}
