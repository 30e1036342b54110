package tokens

import (
	"context"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestANonceIsFreshForEachAttemptAndNeverStoredInTheClear(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.byIssuer)
	first, second := w.query(node).Get("nonce"), w.query(node).Get("nonce")
	require.GreaterOrEqual(t, len(first)*5, 128, "base32: 5 bits a character")
	require.NotEqual(t, first, second)
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		require.NotContains(t, string(value), second)
	}
	plain := w.node(w.byIssuer, func(c *Config) { c.OAuth.Scopes = []string{"files"} })
	require.False(t, w.query(plain).Has("nonce"), "no ID token is asked for")
}

func TestAnIDTokenOfEachAllowedAlgorithmSignsIn(t *testing.T) {
	for algorithm, key := range map[jose.SignatureAlgorithm]any{
		jose.RS256: rsaKey(), jose.RS384: rsaKey(), jose.RS512: rsaKey(),
		jose.PS256: rsaKey(), jose.PS384: rsaKey(), jose.PS512: rsaKey(),
		jose.ES256: ecKey(elliptic.P256()), jose.ES384: ecKey(elliptic.P384()), jose.ES512: ecKey(elliptic.P521()),
		jose.EdDSA: edKey(),
	} {
		t.Run(string(algorithm), func(t *testing.T) {
			w := newWorld(t)
			server := w.openID()
			server.algorithm = algorithm
			server.replaceKey(key, "one")
			require.Equal(t, "alan", w.connect(w.node(w.byIssuer), ann).Account)
		})
	}
}

func TestIDTokensThatAreTaken(t *testing.T) {
	tests := map[string]func(o *openID, claims map[string]any){
		"expired almost a minute ago":                     func(o *openID, c map[string]any) { c["exp"] = o.clock().Add(time.Second - idTokenSkew).Unix() },
		"issued in a minute":                              func(o *openID, c map[string]any) { c["iat"] = o.clock().Add(idTokenSkew).Unix() },
		"of several audiences, for this client":           func(_ *openID, c map[string]any) { c["aud"], c["azp"] = []string{"api", "mattermost"}, "mattermost" },
		"of one audience in a list":                       func(_ *openID, c map[string]any) { c["aud"] = []string{"mattermost"} },
		"of one audience, with the client named as party": func(_ *openID, c map[string]any) { c["azp"] = "mattermost" },
		"without a hash of the access token":              func(_ *openID, c map[string]any) { delete(c, "at_hash") },
		"without the id of the key":                       func(o *openID, _ map[string]any) { o.keyID = "" },
		"of a subject as long as may be":                  func(_ *openID, c map[string]any) { c["sub"] = strings.Repeat("s", maxSubjectBytes) },
	}
	for name, edit := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID("userinfo_endpoint", "")
			server.claims = func(claims map[string]any) { edit(server, claims) }
			require.Equal(t, "alan", w.connect(w.node(w.byIssuer), ann).Account)
		})
	}
}

// forgeries are answers of whoever stands between the plugin and the sign-in server, or of a server that mixes up its
// users. Each makes the ID token of a sign-in.
func forgeries() map[string]func(o *openID, claims map[string]any) string {
	claim := func(name string, value any) func(*openID, map[string]any) string {
		return func(o *openID, claims map[string]any) string {
			if claims[name] = value; value == nil {
				delete(claims, name)
			}
			return o.sign(claims)
		}
	}
	at := func(name string, after time.Duration) func(*openID, map[string]any) string {
		return func(o *openID, claims map[string]any) string {
			claims[name] = o.clock().Add(after).Unix()
			return o.sign(claims)
		}
	}
	return map[string]func(*openID, map[string]any) string{
		"none":               func(*openID, map[string]any) string { return "" },
		"no JWT":             func(*openID, map[string]any) string { return "canary-id-token" },
		"a JWT without end":  claim("pad", strings.Repeat("A", maxIDTokenBytes)),
		"unsigned":           func(_ *openID, c map[string]any) string { return unsigned(c, "none") },
		"unsigned, as RS256": func(_ *openID, c map[string]any) string { return unsigned(c, "RS256") },
		"signed with the client secret": func(_ *openID, c map[string]any) string {
			return signedBy(jose.HS256, []byte("canary-client-secret-of-32-bytes"), nil, c)
		},
		"signed with the public key as the secret": func(o *openID, c map[string]any) string {
			der := must(x509.MarshalPKIXPublicKey(o.public().Key))
			return signedBy(jose.HS256, pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: der}), nil, c)
		},
		"signed with another key of the same id": func(_ *openID, c map[string]any) string {
			return signedBy(jose.RS256, jose.JSONWebKey{Key: otherRSA(), KeyID: "one"}, nil, c)
		},
		"signed with a key of another id": func(_ *openID, c map[string]any) string {
			return signedBy(jose.RS256, jose.JSONWebKey{Key: otherRSA(), KeyID: "two"}, nil, c)
		},
		"signed with a key that it brings along": func(_ *openID, c map[string]any) string {
			return signedBy(jose.RS256, otherRSA(), (&jose.SignerOptions{EmbedJWK: true}), c)
		},
		"signed with an algorithm that the server doesn't name": func(_ *openID, c map[string]any) string {
			return signedBy(jose.RS512, jose.JSONWebKey{Key: rsaKey(), KeyID: "one"}, nil, c)
		},
		"with claims that were exchanged": func(o *openID, c map[string]any) string {
			parts := strings.Split(o.sign(c), ".")
			c["sub"] = "0816"
			return parts[0] + "." + base64.RawURLEncoding.EncodeToString(must(json.Marshal(c))) + "." + parts[2]
		},
		"with two signatures":     func(_ *openID, c map[string]any) string { return serialized(c, true) },
		"in another form":         func(_ *openID, c map[string]any) string { return serialized(c, false) },
		"of another issuer":       claim("iss", "https://evil.example"),
		"of no issuer":            claim("iss", nil),
		"for another audience":    claim("aud", "canary-audience"),
		"for no audience":         claim("aud", []string{}),
		"for several audiences":   claim("aud", []string{"mattermost", "api"}),
		"for another party":       claim("azp", "api"),
		"for a party of no name":  claim("azp", ""),
		"for a party that is odd": claim("azp", 7),
		"of nobody":               claim("sub", ""),
		"without a subject":       claim("sub", nil),
		"of an endless subject":   claim("sub", strings.Repeat("s", maxSubjectBytes+1)),
		"expired":                 at("exp", -idTokenSkew-time.Second),
		"of no end":               claim("exp", nil),
		"from the future":         at("iat", idTokenSkew+time.Second),
		"of no time":              claim("iat", nil),
		"not valid yet":           at("nbf", time.Hour),
		"without a nonce":         claim("nonce", nil),
		"with another nonce":      claim("nonce", "AAAAAAAAAAAAAAAAAAAAAAAAAA"),
		"of another access token": claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
	}
}

func unsigned(claims map[string]any, algorithm string) string {
	header := base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"` + algorithm + `","kid":"one"}`))
	return header + "." + base64.RawURLEncoding.EncodeToString(must(json.Marshal(claims))) + "."
}

func signedBy(algorithm jose.SignatureAlgorithm, key any, options *jose.SignerOptions, claims map[string]any) string {
	signer := must(jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options))
	return must(jwt.Signed(signer).Claims(claims).Serialize())
}

// serialized is a token that is signed as it should be, in JSON instead of the compact form (RFC 7515 7.2).
func serialized(claims map[string]any, twice bool) string {
	keys := []jose.SigningKey{{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: rsaKey(), KeyID: "one"}}}
	if twice {
		keys = append(keys, jose.SigningKey{Algorithm: jose.RS256, Key: jose.JSONWebKey{Key: otherRSA(), KeyID: "two"}})
	}
	return must(must(jose.NewMultiSigner(keys, nil)).Sign(must(json.Marshal(claims)))).FullSerialize()
}

func TestAForgedIDTokenConnectsNobodyAndItsTokensAreRevoked(t *testing.T) {
	for name, forge := range forgeries() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID("id_token_signing_alg_values_supported", []string{"RS256", "none", "HS256"}, "userinfo_endpoint", "")
			server.forge = func(claims map[string]any) string { return forge(server, claims) }
			node := w.node(w.byIssuer)
			state, code := w.begin(node, ann)

			result, err := node.Callback(t.Context(), callback(ann, state, code))

			want := filehost.HostUnavailable
			if strings.Contains(name, "nonce") {
				want = filehost.InvalidRequest
			}
			requireKind(t, want, err)
			require.NotContains(t, err.Error(), "canary")
			require.NotContains(t, err.Error(), "evil")
			require.False(t, result.Connected)
			require.Equal(t, filehost.Disconnected, w.state(node, ann))
			require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked)
			require.Empty(t, w.server.tokens, "none of them works")

			server.forge = nil
			w.connect(node, ann)
		})
	}
}

func TestAnIDTokenOfAnotherSignInOfTheSameUserIsRefused(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	var first string
	server.forge = func(claims map[string]any) string {
		if first == "" {
			first = server.sign(claims)
		}
		return first
	}
	w.connect(node, ann)
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	require.Equal(t, filehost.Connected, w.state(node, ann), "what there was stays")
}

func TestTheUserInfoOfSomebodyElseIsRefused(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	server.claims = func(claims map[string]any) { claims["sub"] = "4711" }
	node := w.node(w.byIssuer)
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.HostUnavailable, err)
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
	require.Empty(t, w.server.tokens)
}

func TestARefreshTellsTheSameUserOrEndsTheConnection(t *testing.T) {
	claim := func(name string, value any) func(*openID, map[string]any) string {
		return func(o *openID, claims map[string]any) string {
			claims[name] = value
			return o.sign(claims)
		}
	}
	for name, forge := range map[string]func(*openID, map[string]any) string{
		"another user":            claim("sub", "0816"),
		"another issuer":          claim("iss", "https://evil.example"),
		"another client":          claim("aud", "another"),
		"another party":           claim("azp", "another"),
		"another nonce":           claim("nonce", "AAAAAAAAAAAAAAAAAAAAAAAAAA"),
		"another access token":    claim("at_hash", "AAAAAAAAAAAAAAAAAAAAAA"),
		"unsigned":                func(_ *openID, c map[string]any) string { return unsigned(c, "none") },
		"signed by somebody else": func(_ *openID, c map[string]any) string { return signedBy(jose.RS256, otherRSA(), nil, c) },
		"signed with the client secret": func(_ *openID, c map[string]any) string {
			return signedBy(jose.HS256, []byte(strings.Repeat("s", 32)), nil, c)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID()
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			w.expire()
			server.forge = func(claims map[string]any) string { return forge(server, claims) }

			_, err := node.For(t.Context(), ann)

			requireKind(t, filehost.NotConnected, err)
			require.Equal(t, filehost.Reconnect, w.state(node, ann))
			node.config.Pending.running.Wait()
			require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked, "what came with it")
			require.Empty(t, w.server.tokens)
			require.NotContains(t, w.log.String(), "evil")
			_, err = node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			require.Equal(t, 2, w.server.tokenCalls())
		})
	}
}

func TestAnIDTokenNamesItsUserForPeopleOrNotAtAll(t *testing.T) {
	for name, test := range map[string]struct {
		claims map[string]any
		want   string
	}{
		"by user name":      {map[string]any{"preferred_username": "alan", "name": "Alan"}, "alan"},
		"by name":           {map[string]any{"preferred_username": nil, "name": "Alan"}, "Alan"},
		"by an opaque id":   {map[string]any{"preferred_username": nil}, ""},
		"by an endless one": {map[string]any{"preferred_username": strings.Repeat("a", maxAccountBytes+1)}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID("userinfo_endpoint", nil)
			server.claims = func(claims map[string]any) { maps.Copy(claims, test.claims) }
			require.Equal(t, test.want, w.connect(w.node(w.byIssuer), ann).Account)
		})
	}
}

func TestARefreshThatTellsNoOtherUserGoesOn(t *testing.T) {
	for name, edit := range map[string]func(w *world, o *openID){
		"without an ID token":          func(_ *world, o *openID) { o.forge = func(map[string]any) string { return "" } },
		"with the nonce of the first":  func(_ *world, o *openID) { o.claims = func(c map[string]any) { c["nonce"] = o.nonce } },
		"by a clock that is hours off": func(_ *world, o *openID) { o.claims = func(c map[string]any) { c["exp"], c["iat"] = 1, 1<<40 } },
		"while the keys can't be had": func(w *world, o *openID) {
			o.replaceKey(otherRSA(), "two")
			w.server.set(func(s *signInServer) { s.keys = nil })
		},
		"with a key that was just replaced": func(_ *world, o *openID) { o.replaceKey(otherRSA(), "one") },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID()
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			for range 2 {
				w.expire()
				edit(w, server)
				require.True(t, w.server.accepts(w.credential(node, ann).Secret.Reveal()))
			}
		})
	}
}

func TestAKeyReplacedSecondsAfterTheKeysWereReadEndsNoConnection(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	w.expire()
	w.connect(node, bob)
	server.replaceKey(otherRSA(), "two")
	w.clock.Advance(keysPause - 1)
	w.credential(node, ann)
	require.Equal(t, 2, server.served, "they are not asked for again so soon")
}

func TestKeysThatHangHoldNoRefreshForLongerThanItsLeaseAllows(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	w.expire()
	arrived, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	w.server.set(func(s *signInServer) {
		s.fault = func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/keys" {
				close(arrived)
				<-over
				return
			}
			w.server.set(func(s *signInServer) { s.answerTo(rw, r) })
		}
	})
	done := make(chan error, 1)
	go func() {
		_, err := node.For(context.Background(), ann)
		done <- err
	}()
	<-arrived
	w.clock.Advance(refreshedKeysLimit)
	eventually(t, func() bool { return len(done) == 1 })
	require.NoError(t, <-done)
	require.Less(t, exchangeLimit+refreshedKeysLimit, leaseTime)
}

func TestAnotherUsersIDTokenEndsTheConnectionAlsoWhileTheKeysCannotBeHad(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	w.connect(w.node(w.byIssuer), ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.keys = nil })
	server.claims = func(claims map[string]any) { claims["sub"] = "0816" }
	_, err := w.node(w.byIssuer).For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
}

func TestAConnectionFromBeforeIDTokensWereCheckedGoesOn(t *testing.T) {
	w := newWorld(t)
	w.openID()
	old := func(c *Config) { c.OAuth.Scopes = []string{"files"} }
	w.connect(w.node(w.byIssuer, old), ann)
	w.expire()
	w.credential(w.node(w.byIssuer), ann)
}

func TestTheSubjectOfTheSignInServerIsKept(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	w.expire()
	w.credential(node, ann)
	kept, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, "0815", kept.Subject)
}

func TestKeysThatCannotBeHadSaveNothingAndRevokeWhatCame(t *testing.T) {
	refusals := map[string]struct {
		answer http.HandlerFunc
		remedy string
	}{
		"not there":       {http.NotFound, "shows no keys: correct jwks_uri"},
		"an error":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "does not show them (502)"},
		"a page":          {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>canary")) }, "shows no keys"},
		"no keys":         {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, jose.JSONWebKeySet{}) }, "public RSA keys"},
		"another address": {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/keys/elsewhere", http.StatusFound) }, "does not show them (302)"},
		"hung up":         {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "gives no answer"},
		"a document of MB": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = w.Write([]byte(`{"pad":"` + strings.Repeat("A", answerLimit) + `","keys":[]}`))
		}, "shows no keys"},
	}
	for name, refusal := range refusals {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			server := w.openID()
			node := w.node(w.byIssuer)
			w.server.set(func(s *signInServer) { s.keys = refusal.answer })
			state, code := w.begin(node, ann)

			_, err := node.Callback(t.Context(), callback(ann, state, code))

			requireKind(t, filehost.HostUnavailable, err)
			require.ErrorContains(t, err, "Try again later")
			require.NotContains(t, err.Error(), "canary")
			require.Equal(t, filehost.Disconnected, w.state(node, ann))
			require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked)
			require.Empty(t, w.server.tokens)
			err = node.CheckTokenEndpoint(t.Context())
			requireKind(t, filehost.HostUnavailable, err)
			require.ErrorContains(t, err, "The address of the sign-in server's keys ("+w.server.URL+"/keys)")
			require.ErrorContains(t, err, refusal.remedy)
			require.NotContains(t, err.Error(), "canary")

			w.server.set(func(s *signInServer) { s.keys = server.serveKeys })
			w.clock.Advance(keysPause)
			require.NoError(t, node.CheckTokenEndpoint(t.Context()))
			w.connect(node, ann)
		})
	}
}

func TestWhatIsAskedForWhereTheSettingsLeaveItOpen(t *testing.T) {
	tests := map[string]struct {
		kind     string
		settings string
		metadata []any
		want     string
	}{
		"OpenID Connect with refresh tokens":    {"webdav", "", nil, "openid offline_access"},
		"OpenID Connect without refresh tokens": {"webdav", "", []any{"scopes_supported", []string{"openid", "email"}}, "openid"},
		"a server that names no scopes":         {"webdav", "", []any{"scopes_supported", nil}, "openid"},
		"OAuth without OpenID Connect":          {"webdav", "", []any{"scopes_supported", []string{"files"}}, ""},
		"a server without keys":                 {"webdav", "", []any{"jwks_uri", ""}, ""},
		"OpenCloud":                             {"opencloud", "", nil, "openid profile email offline_access"},
		"what the settings say":                 {"opencloud", "openid files", nil, "openid files"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.openID(test.metadata...)
			node := w.node(w.byIssuer, func(c *Config) {
				c.Host.Kind, c.OAuth.Scopes = test.kind, strings.Fields(test.settings)
			})
			asked := w.query(node)
			require.Equal(t, test.want, asked.Get("scope"))
			require.Equal(t, strings.Contains(test.want, "openid"), asked.Has("nonce"))
			w.connect(node, ann)
		})
	}
}

func TestConsentIsAskedForWithOfflineAccessExceptWhereThatLocksPeopleOut(t *testing.T) {
	for name, test := range map[string]struct{ issuer, scopes, want string }{
		"with offline access":      {"https://id.example", "openid offline_access", "consent"},
		"without":                  {"https://id.example", "openid", ""},
		"without OpenID Connect":   {"https://id.example", "files offline_access", ""},
		"Entra ID":                 {"https://login.microsoftonline.com/t/v2.0", "openid offline_access", ""},
		"a name that only ends so": {"https://evil-login.microsoftonline.com", "openid offline_access", "consent"},
	} {
		t.Run(name, func(t *testing.T) {
			begun := signIn{Verifier: "v", Scopes: strings.Fields(test.scopes)}
			if strings.Contains(test.scopes, "openid") {
				begun.Nonce = "n"
			}
			p := &provider{OAuth: OAuth{Issuer: test.issuer}}
			address := (&oauth2.Config{}).AuthCodeURL("s", p.authorizeOptions(begun)...)
			require.Equal(t, test.want, must(url.Parse(address)).Query().Get("prompt"))
		})
	}
}

func TestTheScopeOfTheSignInThatWasBegunIsTheOneThatCounts(t *testing.T) {
	w := newWorld(t)
	w.openID("scopes_supported", []string{"openid"})
	node := w.node(w.byIssuer)
	state, code := w.begin(node, ann)
	w.server.answer["scope"] = "openid"
	later := w.node(w.byIssuer, func(c *Config) { c.OAuth.Scopes = []string{"openid", "files"} })
	_, err := later.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
	state, code = w.begin(later, ann)
	_, err = later.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.Forbidden, err)
	require.ErrorContains(t, err, "files")
}

func TestNobodyIsSentToAServerThatCannotProveWhoSignsIn(t *testing.T) {
	tests := map[string]struct {
		metadata []any
		says     string
	}{
		"no S256":           {[]any{"code_challenge_methods_supported", []string{"plain"}}, "S256"},
		"no keys":           {[]any{"jwks_uri", ""}, "jwks_uri"},
		"only HS256":        {[]any{"id_token_signing_alg_values_supported", []string{"HS256", "none"}}, "RS256"},
		"an unknown method": {[]any{"id_token_signing_alg_values_supported", []string{"ES256K"}}, "algorithm"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.openID(test.metadata...)
			node := w.node(w.byIssuer, func(c *Config) { c.OAuth.Scopes = []string{"openid"} })
			for _, err := range []error{
				errorOf(node.Authorize(t.Context(), ann)),
				node.CheckTokenEndpoint(t.Context()),
			} {
				requireKind(t, filehost.NotConfigured, err)
				require.ErrorContains(t, err, test.says)
			}
			require.Empty(t, w.kv.Keys(), "nothing was begun")
		})
	}
}

func errorOf(_ string, err error) error { return err }

func TestAServerThatNamesNoChallengeMethodsAndNoAlgorithmsIsTried(t *testing.T) {
	w := newWorld(t)
	w.openID("code_challenge_methods_supported", nil, "id_token_signing_alg_values_supported", nil)
	node := w.node(w.byIssuer)
	require.Equal(t, "S256", w.query(node).Get("code_challenge_method"))
	w.connect(node, ann)
}

func TestWhoIsConnectedStaysSoAtAServerThatTakesNobodyNew(t *testing.T) {
	w := newWorld(t)
	w.openID()
	w.connect(w.node(w.byIssuer), ann)
	w.expire()
	w.server.set(func(s *signInServer) { s.metadata["code_challenge_methods_supported"] = []string{"plain"} })
	w.credential(w.node(w.byIssuer), ann)
}

func TestOpenIDConnectWithoutAnIssuerIsRefused(t *testing.T) {
	w := newWorld(t)
	config := w.node().config
	config.OAuth.Scopes = []string{"openid"}
	_, err := New(config)
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, err, "issuer")
}

func TestACodeThatWaitedForItsConfirmationIsHeldToItsNonce(t *testing.T) {
	for _, forged := range []bool{false, true} {
		w := newWorld(t)
		server := w.openID()
		node := w.node(w.byIssuer)
		state, code := w.begin(node, ann)
		result, err := node.Callback(t.Context(), callback("", state, code))
		require.NoError(t, err)
		page, err := node.Confirmation(t.Context(), result.ConfirmPage)
		require.NoError(t, err)
		if forged {
			server.claims = func(claims map[string]any) { claims["nonce"] = "another" }
		}
		err = node.Confirm(t.Context(), ann, page.Code)
		require.Equal(t, forged, err != nil, "%v", err)
		require.Equal(t, !forged, w.state(node, ann) == filehost.Connected)
	}
}

func TestIDTokensAreShownToNobody(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	var last string
	server.forge = func(claims map[string]any) string { last = server.sign(claims); return last }
	w.connect(node, ann)
	kept, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	var seen report
	seen.add(kept, kept.record, issued{IDToken: filehost.NewSecret(last)}, signIn{Nonce: server.nonce, Verifier: "canary-verifier"})
	require.NotContains(t, seen.String(), last)
	require.NotContains(t, w.log.String(), last)
	require.NotContains(t, fmt.Sprintf("%v %+v %#v", kept, kept, kept), server.nonce)
}

// FuzzIDToken: nothing but a token that the server has signed gives an identity, whatever is done to one.
func FuzzIDToken(f *testing.F) {
	clock, issuer := clockwork.NewFakeClock(), "https://id.example"
	server := &openID{t: f, issuer: issuer, clock: clock.Now, algorithm: jose.RS256, key: rsaKey(), keyID: "one"}
	asked := url.Values{"scope": {"openid"}, "nonce": {"n"}}
	good := server.idToken(asked, "access")
	f.Add(good)
	f.Add(strings.Replace(good, ".", "..", 1))
	f.Add(unsigned(map[string]any{"iss": issuer, "sub": "0815", "aud": "mattermost", "nonce": "n"}, "none"))
	f.Add(serialized(map[string]any{"sub": "0815"}, false))
	f.Add(`{"payload":"","signatures":[]}`)
	store := &Store{config: Config{Clock: clock, Pending: NewPending(), Lifetime: f.Context()}, provider: &provider{OAuth: OAuth{ClientID: "mattermost"}}}
	now := clock.Now()
	store.provider.keys.put(seenKeys{address: "keys", keys: []jose.JSONWebKey{server.public()}, readAt: now, askedAt: now})
	want := expected{keys: "keys", issuer: issuer, clientID: "mattermost", algorithms: idTokenAlgorithms, nonce: "n"}
	f.Fuzz(func(t *testing.T, token string) {
		found, err := store.checkIDToken(t.Context(), want, issued{IDToken: filehost.NewSecret(token), AccessToken: filehost.NewSecret("access")})
		if err == nil && found != (idToken{Subject: "0815", Name: "alan"}) {
			t.Errorf("%q signs in as %+v", token, found)
		}
	})
}
