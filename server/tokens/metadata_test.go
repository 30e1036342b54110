package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
)

// publish makes the sign-in server publish metadata at a path. more are further members and their values.
func (w *world) publish(at string, more ...any) {
	published := map[string]any{
		"at":                                    at,
		"issuer":                                w.server.URL,
		"authorization_endpoint":                w.server.URL + authorizePath,
		"token_endpoint":                        w.server.URL + tokenPath,
		"token_endpoint_auth_methods_supported": []string{"client_secret_post"},
	}
	for i := 0; i < len(more); i += 2 {
		published[more[i].(string)] = more[i+1]
	}
	w.server.set(func(s *signInServer) { s.metadata = published })
}

// byIssuer lets a node find the sign-in server by its metadata.
func (w *world) byIssuer(c *Config) {
	c.Host.Kind = "webdav"
	c.OAuth.Issuer = w.server.URL
}

func TestTheMetadataOfTheIssuerIsFoundByEitherStandard(t *testing.T) {
	for name, path := range map[string]string{
		"OpenID Connect Discovery": "/.well-known/openid-configuration",
		"RFC 8414":                 "/.well-known/oauth-authorization-server",
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish(path)
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			require.NoError(t, node.CheckTokenEndpoint(t.Context()))
		})
	}
}

func TestAnIssuerWithAPath(t *testing.T) {
	require.Equal(t, "https://a.example/.well-known/oauth-authorization-server/realms/one", rfc8414URL("https://a.example/realms/one"))
	require.Equal(t, "https://a.example/.well-known/oauth-authorization-server", rfc8414URL("https://a.example/"))
}

func TestMetadataThatIsRefused(t *testing.T) {
	tests := map[string]func(*metadata){
		"another issuer":             func(m *metadata) { m.Issuer = "https://evil.example" },
		"the issuer with a slash":    func(m *metadata) { m.Issuer += "/" },
		"a token URL without TLS":    func(m *metadata) { m.Token = "http://sign-in.example/token" },
		"an authorize URL that runs": func(m *metadata) { m.Authorize = "javascript:alert(1)" },
		"no token URL":               func(m *metadata) { m.Token = "" },
		"a revocation URL with user": func(m *metadata) { m.Revocation = "https://user@sign-in.example/" },
		"keys without TLS":           func(m *metadata) { m.Keys = "http://sign-in.example/keys" },
		"a user info URL of a file":  func(m *metadata) { m.UserInfo = "file:///etc/passwd" },
	}
	const issuer = "https://sign-in.example"
	p := &provider{OAuth: OAuth{Issuer: issuer}, people: true}
	good := metadata{Issuer: issuer, Authorize: issuer + "/authorize", Token: issuer + "/token"}
	require.NoError(t, p.accept(good))
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			bad := good
			edit(&bad)
			require.Error(t, p.accept(bad))
		})
	}
}

func TestNobodyIsSentToAServerWithTheMetadataOfAnother(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration", "issuer", "https://evil.example")
	node := w.node(w.byIssuer)
	_, err := node.Authorize(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	requireKind(t, filehost.HostUnavailable, node.CheckTokenEndpoint(t.Context()))
}

func TestMetadataIsReadOnceAnHourAndSurvivesAnOutage(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration")
	node := w.node(w.byIssuer, impatient)
	authorize := func() {
		_, err := node.Authorize(t.Context(), ann)
		require.NoError(t, err)
	}
	for _, err := range outcomes(20, func(i int) error { _, err := node.Authorize(t.Context(), strconv.Itoa(i)); return err }) {
		require.NoError(t, err)
	}
	w.clock.Advance(metadataLifetime - 1)
	authorize()
	require.Len(t, w.server.requests, 1)
	w.clock.Advance(1)
	authorize()
	require.Len(t, w.server.requests, 2)

	w.server.set(func(s *signInServer) { s.metadata = nil })
	w.clock.Advance(metadataLifetime)
	authorize()
	asked := len(w.server.requests)
	authorize()
	require.Len(t, w.server.requests, asked, "the old ones do for a while")
}

func TestMetadataThatCannotBeReadSpendsNothing(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration")
	state, code := w.begin(w.node(w.byIssuer), ann)
	w.server.set(func(s *signInServer) { s.metadata = nil })
	node := w.node(w.byIssuer)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.HostUnavailable, err)
	w.publish("/.well-known/openid-configuration")
	_, err = node.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
}

func TestTheMetadataSaysHowTheClientAuthenticates(t *testing.T) {
	tests := map[string]struct {
		methods []string
		want    clientAuth
	}{
		"none listed": {nil, authInHeader},
		"header":      {[]string{"client_secret_basic"}, authInHeader},
		"both":        {[]string{"client_secret_post", "client_secret_basic"}, authInHeader},
		"body":        {[]string{"client_secret_post", "private_key_jwt"}, authInBody},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, metadata{ClientAuth: test.methods}.endpoints().ClientAuth)
		})
	}
}

func TestAPublicClientSendsItsIDAlone(t *testing.T) {
	w := newWorld(t)
	w.host.Kind = "owncloud" // which wants a secret in the header, if there is one
	w.server.clientSecret = ""
	w.connect(w.node(func(c *Config) { c.OAuth.ClientSecret = filehost.Secret{} }), ann)
}

func TestSettingsThatCannotWork(t *testing.T) {
	tests := map[string]func(*Config){
		"no client id":                   func(c *Config) { c.OAuth.ClientID = "" },
		"a kind without known endpoints": func(c *Config) { c.Host.Kind = "webdav" },
		"an authorize URL alone": func(c *Config) {
			c.Host.Kind, c.OAuth.AuthorizeURL = "webdav", "https://sign-in.example/authorize"
		},
		"a token URL without TLS":    func(c *Config) { c.OAuth.TokenURL = "http://sign-in.example/token" },
		"an issuer that is no URL":   func(c *Config) { c.OAuth.Issuer = "sign-in" },
		"a revocation URL with user": func(c *Config) { c.OAuth.RevocationURL = "https://u:p@sign-in.example" },
		"an authorize URL with a #":  func(c *Config) { c.OAuth.AuthorizeURL = "https://sign-in.example/#a" },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			config := w.node().config
			base := url.URL{Scheme: "https", Host: "cloud.example", Path: "/sub/"}
			config.AllowHTTP, config.Host.BaseURL = false, &base
			_, err := New(config)
			require.NoError(t, err)
			edit(&config)
			_, err = New(config)
			requireKind(t, filehost.NotConfigured, err)
		})
	}
}

func TestEndpointsAreDerivedBelowTheHostsAddress(t *testing.T) {
	w := newWorld(t)
	for base, want := range map[string]string{
		"https://cloud.example":      "https://cloud.example" + tokenPath,
		"https://cloud.example/sub/": "https://cloud.example/sub" + tokenPath,
	} {
		parsed, err := url.Parse(base)
		require.NoError(t, err)
		at, err := w.node(func(c *Config) { c.Host.BaseURL = parsed }).endpoints(t.Context())
		require.NoError(t, err)
		require.Equal(t, want, at.Token)
	}
}

func TestAPanicOfTheMetadatasReaderIsAnErrorOfItsCallers(t *testing.T) {
	w := newWorld(t)
	node := w.node(func(c *Config) {
		c.OAuth.Issuer = w.server.URL
		c.Client = &http.Client{Transport: faulty{}}
	})
	_, err := node.Authorize(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
}

// faulty is a transport with a fault.
type faulty struct{}

func (faulty) RoundTrip(*http.Request) (*http.Response, error) { panic("a fault") }

func TestAnEndpointThatTheMetadataNamesIsDialledByTheSameRules(t *testing.T) {
	for endpoint, address := range map[string]string{
		"token_endpoint":      "10.11.12.13",
		"userinfo_endpoint":   "169.254.169.254",
		"revocation_endpoint": "[fd00:ec2::254]",
		"jwks_uri":            "[::ffff:127.0.0.2]",
	} {
		t.Run(endpoint, func(t *testing.T) {
			w := newWorld(t)
			w.openID(endpoint, "http://"+address+"/")
			client, err := outbound.New(outbound.Config{AllowHTTP: true, Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
			require.NoError(t, err)
			t.Cleanup(client.CloseIdleConnections)
			node := w.node(w.byIssuer, func(c *Config) { c.Client = client })
			state, code := w.begin(node, ann)
			_, err = node.Callback(t.Context(), callback(ann, state, code))
			if endpoint == "revocation_endpoint" {
				require.NoError(t, err)
				require.NoError(t, node.Disconnect(t.Context(), ann))
				require.Contains(t, w.log.String(), "connection to fd00:ec2::254 refused")
				return
			}
			var blocked interface{ BlockedAddress() netip.Addr }
			require.ErrorAs(t, err, &blocked)
			require.Equal(t, netip.MustParseAddr(strings.Trim(address, "[]")).Unmap(), blocked.BlockedAddress())
			require.Equal(t, filehost.Disconnected, w.state(node, ann))
		})
	}
}

func TestNoAnswerOfTheSignInServerSendsAnythingElsewhere(t *testing.T) {
	for _, path := range []string{tokenPath, "/userinfo", "/keys", "/revoke", "/.well-known/openid-configuration"} {
		for _, status := range []int{http.StatusFound, http.StatusTemporaryRedirect} {
			t.Run(path+" "+strconv.Itoa(status), func(t *testing.T) {
				elsewhere := 0
				other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere++ }))
				defer other.Close()
				w := newWorld(t)
				w.openID()
				node := w.node(w.byIssuer)
				state, code := w.begin(node, ann)
				redirect := func(rw http.ResponseWriter, r *http.Request) {
					if r.URL.Path == path {
						http.Redirect(rw, r, other.URL+"/"+r.URL.RawQuery, status)
						return
					}
					w.server.set(func(s *signInServer) { s.answerTo(rw, r) })
				}
				w.server.set(func(s *signInServer) { s.fault = redirect })
				_, _ = node.Callback(t.Context(), callback(ann, state, code))
				_ = node.CheckTokenEndpoint(t.Context())
				require.NoError(t, node.Disconnect(t.Context(), ann))
				require.Zero(t, elsewhere)
				require.Contains(t, w.server.requests, methodOf(path)+" "+path)
			})
		}
	}
}

// methodOf is how the plugin asks at a path.
func methodOf(path string) string {
	if path == tokenPath || path == "/revoke" {
		return http.MethodPost
	}
	return http.MethodGet
}

func TestTheOnlyGrantsThatAreSentAreACodeAndARefreshToken(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.byIssuer)
	require.Equal(t, "code", w.query(node).Get("response_type"), "not the implicit grant")
	w.connect(node, ann)
	w.expire()
	w.credential(node, ann)
	before := len(w.server.requests)
	require.NoError(t, node.ConnectWithPassword(t.Context(), bob, "bob", filehost.NewSecret("canary-app-password")))
	require.Len(t, w.server.requests, before, "a password goes to the host alone")
	require.Equal(t, []string{"authorization_code", "refresh_token"}, w.server.grants)
}

func TestASignInServerThatHangsOverItsMetadataIsGivenUp(t *testing.T) {
	w := newWorld(t)
	arrived, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	w.server.set(func(s *signInServer) {
		s.fault = func(http.ResponseWriter, *http.Request) { close(arrived); <-over }
	})
	node := w.node(w.byIssuer)
	done := make(chan error)
	go func() {
		_, err := node.Authorize(t.Context(), ann)
		done <- err
	}()
	<-arrived
	w.clock.Advance(callLimit)
	err := <-done
	requireKind(t, filehost.HostUnavailable, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}

func TestAFailedCallDoesNotNameItsAddress(t *testing.T) {
	failed := &url.Error{Op: "Post", URL: "https://user:canary@id.example/?key=canary", Err: errors.New("connection refused")}
	require.EqualError(t, callFailed(t.Context(), failed), "connection refused")
	require.EqualError(t, tokenCallFailed(t.Context(), failed), "token endpoint: connection refused")
}
