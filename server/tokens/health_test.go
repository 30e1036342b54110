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
)

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

type blockedError struct{ error }

func (blockedError) BlockedAddress() netip.Addr { return netip.MustParseAddr("10.1.2.3") }

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
		"a server error":    {answers(502), "check the OAuth"},
		"no connection":     {fails(errors.New("refused")), "check the OAuth"},
		"a private address": {fails(blockedError{errors.New("blocked")}), "10.1.2.3"},
		"too slow":          {fails(context.DeadlineExceeded), "check the OAuth"},
	}
	for name, test := range tests {
		for _, setting := range []string{"issuer", "token URL"} {
			t.Run(name+" of an "+setting, func(t *testing.T) {
				w := newWorld(t)
				node := w.node(func(c *Config) {
					c.Client = &http.Client{Transport: test.transport}
					if setting == "issuer" {
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

func TestACertificateThatNobodyKnowsHasARemedy(t *testing.T) {
	secure := httptest.NewUnstartedServer(http.NotFoundHandler())
	secure.Config.ErrorLog = quiet()
	secure.StartTLS()
	t.Cleanup(secure.Close)
	w := newWorld(t)
	err := w.node(func(c *Config) { c.OAuth.TokenURL = secure.URL }).CheckTokenEndpoint(t.Context())
	require.ErrorContains(t, err, "certificate is not trusted")
}
