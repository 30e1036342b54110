package tokens

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// vouched runs a test under both methods by which the plugin vouches for users.
func vouched(t *testing.T, test func(t *testing.T, method filehost.Method)) {
	for _, method := range []filehost.Method{filehost.MethodJWTBearer, filehost.MethodTokenExchange} {
		t.Run(string(method), func(t *testing.T) { test(t, method) })
	}
}

func refusing(status int, code, description string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		writeJSON(w, status, map[string]any{"error": code, "error_description": description})
	}
}

func TestAUserWhoIsVouchedForGetsHisOwnAccess(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		node, server := w.vouching(method)
		credential, err := node.For(t.Context(), ann)
		require.NoError(t, err)
		assert.Equal(t, filehost.Bearer, credential.Scheme)
		assert.Equal(t, "anna", credential.Account)
		assert.Equal(t, "anna", server.holder(credential.Secret.Reveal()))
		again, err := node.For(t.Context(), ann)
		require.NoError(t, err)
		assert.Equal(t, credential, again)
		assert.Len(t, server.forms(), 1)
		assert.Empty(t, server.refusals)
	})
}

func TestATokenWithoutAnActOfItsUserIsUsedForFiveMinutesAtMost(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for life, want := range map[any]time.Duration{3600: 5 * time.Minute, nil: 5 * time.Minute, 120: 75 * time.Second} {
			w := newWorld(t)
			node, server := w.vouching(method)
			server.answer = map[string]any{"expires_in": life, "refresh_token": "canary-refresh"}
			first, err := node.For(t.Context(), ann)
			require.NoError(t, err)
			found, err := node.load(t.Context(), ann)
			require.NoError(t, err)
			assert.True(t, found.RefreshToken.IsEmpty())
			assert.Equal(t, want, found.UsableUntil.Sub(w.clock.Now()).Round(time.Second))

			w.clock.Advance(want)
			second, err := node.For(t.Context(), ann)
			require.NoError(t, err)
			assert.NotEqual(t, first.Secret, second.Secret)
			forms := server.forms()
			require.Len(t, forms, 2)
			for _, form := range forms {
				assert.NotContains(t, form, "refresh_token")
				assert.NotContains(t, form.Get("grant_type"), "refresh")
			}
			assert.Empty(t, server.refusals, "each request has an assertion of its own: no jti is used twice")
		}
	})
}

func TestARefreshTokenThatNobodyAskedForIsRevokedWhenItsAccessTokenIsOver(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		node, server := w.vouching(method, func(c *Config) { c.OAuth.Scopes = []string{"files", "offline_access"} })
		server.answer = map[string]any{"refresh_token": "canary-refresh"}
		_, err := node.For(t.Context(), ann)
		require.NoError(t, err)
		assert.Equal(t, "files", server.forms()[0].Get("scope"), "it is not asked for")
		w.waiting(1)
		w.clock.Advance(2 * callLimit) // nothing that is sent already still has a timer
		ended, end := context.WithCancel(t.Context())
		end()
		require.NoError(t, w.clock.BlockUntilContext(ended, 1), "it waits: to revoke it would end the access token, too (RFC 7009 2.1)")
		w.clock.Advance(automaticLife)
		eventually(t, func() bool {
			server.mu.Lock()
			defer server.mu.Unlock()
			return len(server.revoked) == 1 && server.revoked[0] == "refresh_token canary-refresh"
		})
	})
}

func TestWhomTheSignInServerRefusesIsToldAndNotAskedForAgainAtOnce(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for _, fault := range []http.HandlerFunc{
			refusing(400, "invalid_grant", "User not found"),             // Keycloak, Hydra
			refusing(401, "access_denied", ""),                           // Dex
			refusing(400, "invalid_request", "subject_token is invalid"), // Zitadel
			refusing(403, "invalid_request", "Errors.PermissionDenied"),  // Zitadel
		} {
			w := newWorld(t)
			node, server := w.vouching(method)
			server.fault = fault
			for range 3 {
				_, err := node.For(t.Context(), ann)
				requireKind(t, filehost.NotConnected, err)
				require.ErrorContains(t, err, "not linked with Mattermost")
				require.ErrorContains(t, err, "instead.", "what comes next")
			}
			assert.Len(t, server.forms(), 1)
			connection, err := node.Connection(t.Context(), ann)
			require.NoError(t, err)
			assert.Equal(t, method, connection.Refused.Method)
			server.set(func(s *trustingServer) { s.fault = nil })
			w.clock.Advance(refusalTime)
			_, err = node.For(t.Context(), ann)
			require.NoError(t, err)
		}
	})
}

func TestWhoIsNotProvisionedIsRefused(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		node, server := w.vouching(method)
		_, err := node.For(t.Context(), bob)
		requireKind(t, filehost.NotConnected, err)
		assert.Contains(t, server.refusals[0], "sub")
		_, err = node.For(t.Context(), ann)
		require.NoError(t, err, "others are not")
	})
}

func TestWhoCannotBeVouchedForIsNotSentAnywhere(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for name, edit := range map[string]func(*filehost.Identity){
			"a bot":              func(i *filehost.Identity) { i.Bot = true },
			"a deactivated user": func(i *filehost.Identity) { i.Active = false },
			"a password account": func(i *filehost.Identity) { i.AuthService, i.AuthData = "", "" },
			"another service's":  func(i *filehost.Identity) { i.AuthService = "gitlab" },
		} {
			w := newWorld(t)
			node, server := w.vouching(method, func(c *Config) {
				c.Subject = Subject{Claim: SubjectEmail, Service: "saml"}
				c.Identify = func(_ context.Context, userID string) (filehost.Identity, error) {
					who := identity(userID)
					edit(&who)
					return who, nil
				}
			})
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			assert.Empty(t, server.forms(), name)
			require.NoError(t, node.exchangeRemedy("the server", "URL"), "that is no word on the server")
		}
	})
}

func TestWrongSettingsRefuseNobodyAndAreNotSentForEveryUser(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for code, want := range map[string]string{
			"invalid_client":         "“OAuth client secret”",
			"unauthorized_client":    "“Sign-in method”",
			"unsupported_grant_type": "“Sign-in method”",
			"invalid_scope":          "“OAuth scopes”",
			"invalid_target":         "“Audience of the token”",
			"request_not_supported":  "“Token exchange sends”",
		} {
			t.Run(code, func(t *testing.T) {
				w := newWorld(t)
				node, server := w.vouching(method)
				server.fault = refusing(400, code, "canary")
				for _, user := range []string{ann, ann, bob, ann, "carol"} {
					_, err := node.For(t.Context(), user)
					requireKind(t, filehost.NotConfigured, err)
					connection, err := node.Connection(t.Context(), user)
					require.NoError(t, err)
					assert.Nil(t, connection.Refused)
				}
				asked := 2 // of two users: it is no one user's doing
				if code == "invalid_client" {
					asked = 1 // it says nothing of a user
				}
				assert.Len(t, server.forms(), asked, "what is refused for all is not asked for each")
				err := node.CheckTokenEndpoint(t.Context())
				requireKind(t, filehost.NotConfigured, err)
				require.ErrorContains(t, err, want)
				require.ErrorContains(t, err, code)
				require.NotContains(t, err.Error(), "canary")

				server.set(func(s *trustingServer) { s.fault = nil })
				w.clock.Advance(restTime)
				_, err = node.For(t.Context(), ann)
				require.NoError(t, err)
				require.NoError(t, node.CheckTokenEndpoint(t.Context()))
			})
		}
	})
}

// Where people sign in at the same server, what it has against the plugin's own grants is no reason to keep them from it.
func TestWrongSettingsOfTheAutomaticMethodLeaveSignInsAlone(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer)
	server.fault = refusing(400, "unsupported_grant_type", "")
	for _, user := range []string{ann, bob} {
		_, err := node.For(t.Context(), user)
		requireKind(t, filehost.NotConfigured, err)
	}
	require.NoError(t, node.resting(bob))
	require.Error(t, node.restingVouched("carol"))
}

// Decision 15. What is wrong may be with the user: his name, his account there, how often it was asked for.
func TestWhatOneUserIsRefusedWithStopsNobodyElse(t *testing.T) {
	const eve = "eve"
	vouched(t, func(t *testing.T, method filehost.Method) {
		for name, c := range map[string]struct {
			fault http.HandlerFunc
			want  filehost.Kind
		}{
			"unauthorized_client":    {refusing(400, "unauthorized_client", ""), filehost.NotConfigured},
			"unsupported_grant_type": {refusing(400, "unsupported_grant_type", ""), filehost.NotConfigured},
			"invalid_scope":          {refusing(400, "invalid_scope", ""), filehost.NotConfigured},
			"invalid_target":         {refusing(400, "invalid_target", ""), filehost.NotConfigured},
			"request_not_supported":  {refusing(400, "request_not_supported", ""), filehost.NotConfigured},
			"429":                    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, filehost.RateLimited},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				node, server := w.vouching(method)
				server.fault = c.fault
				for range 3 {
					_, err := node.For(t.Context(), eve)
					requireKind(t, c.want, err)
				}
				assert.Len(t, server.forms(), 1, "he is not asked for again at once")
				var degraded *filehost.Degraded
				require.ErrorAs(t, node.CheckTokenEndpoint(t.Context()), &degraded, "a warning")

				server.set(func(s *trustingServer) { s.fault = nil })
				_, err := node.For(t.Context(), ann)
				require.NoError(t, err)
				require.NoError(t, node.CheckTokenEndpoint(t.Context()))
				_, err = node.For(t.Context(), eve)
				requireKind(t, c.want, err)
				assert.Len(t, server.forms(), 2)

				server.set(func(s *trustingServer) { s.fault = c.fault })
				_, err = node.For(t.Context(), "mallory")
				requireKind(t, c.want, err)
				require.NoError(t, node.restingVouched(bob), "there was a success in between")
				_, err = node.For(t.Context(), bob)
				requireKind(t, c.want, err)
				require.Error(t, node.restingVouched("carol"), "two in a row")
			})
		}
	})
}

func TestTheWarningOfOneUsersRefusalEndsByItself(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange)
	server.fault = refusing(400, "invalid_target", "")
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, node.CheckTokenEndpoint(t.Context()), "“Audience of the token”")
	w.clock.Advance(restTime)
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
}

// The lease of the node that makes it is over then: another would make one more.
func TestACredentialIsMadeWhileItsLeaseLastsOrNotAtAll(t *testing.T) {
	require.Less(t, issueLimit, leaseTime)
	w := newWorld(t)
	asked := make(chan struct{})
	node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
		c.Account = func(ctx context.Context, _ filehost.Credential) (string, error) {
			close(asked)
			<-ctx.Done()
			return "", filehost.E(filehost.Timeout, "too slow", context.Cause(ctx))
		}
	})
	done := make(chan error)
	go func() {
		_, err := node.For(context.WithoutCancel(t.Context()), ann)
		done <- err
	}()
	<-asked
	w.clock.Advance(issueLimit)
	requireKind(t, filehost.Timeout, <-done)
	node.config.Pending.running.Wait()
	require.Len(t, server.revocations(), 1, "what it has got is revoked")
}

// A page that a filter has for one user's name says nothing of the endpoint's address.
func TestOneUsersOddAnswerIsAWarningOnly(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange)
	server.fault = func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) }
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	var degraded *filehost.Degraded
	require.ErrorAs(t, node.CheckTokenEndpoint(t.Context()), &degraded)
	_, err = node.For(t.Context(), bob)
	require.Error(t, err)
	requireKind(t, filehost.HostUnavailable, node.CheckTokenEndpoint(t.Context()))
}

func TestAnOutageRefusesNobodyAndIsTriedAgainByTheNextCall(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for name, c := range map[string]struct {
			fault http.HandlerFunc
			want  filehost.Kind
		}{
			"an error of the server":    {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(503) }, filehost.HostUnavailable},
			"one with a code":           {refusing(500, "invalid_grant", ""), filehost.HostUnavailable},
			"an unknown code":           {refusing(400, "jti_known", ""), filehost.HostUnavailable},
			"a page of a proxy":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(403) }, filehost.HostUnavailable},
			"a connection that is cut":  {func(w http.ResponseWriter, _ *http.Request) { hijack(w, "") }, filehost.HostUnavailable},
			"an answer without a token": {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]any{}) }, filehost.HostUnavailable},
			"too many requests":         {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, filehost.RateLimited},
		} {
			t.Run(name, func(t *testing.T) {
				w := newWorld(t)
				node, server := w.vouching(method)
				server.fault = c.fault
				_, err := node.For(t.Context(), ann)
				requireKind(t, c.want, err)
				assert.Len(t, server.forms(), 1, "one failing call is one request")
				connection, err := node.Connection(t.Context(), ann)
				require.NoError(t, err)
				assert.Nil(t, connection.Refused)
				server.set(func(s *trustingServer) { s.fault = nil })
				w.clock.Advance(restTime)
				_, err = node.For(t.Context(), ann)
				require.NoError(t, err)
			})
		}
	})
}

func TestATokenThatTheHostDoesNotAcceptRefusesTheUserAndIsRevoked(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		for _, kind := range []filehost.Kind{filehost.CredentialRejected, filehost.Forbidden, filehost.NotFound} {
			w := newWorld(t)
			node, server := w.vouching(method)
			w.account = func(filehost.Credential) (string, error) { return "", filehost.E(kind, "canary", nil) }
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			require.ErrorContains(t, err, "does not know the account")
			node.config.Pending.Wait()
			require.Len(t, server.revoked, 1)
			assert.True(t, strings.HasPrefix(server.revoked[0], "access_token "))
			err = node.CheckTokenEndpoint(t.Context())
			require.ErrorContains(t, err, "“Audience of the token”", "it may be that the host takes nobody's")
		}
		w := newWorld(t)
		node, server := w.vouching(method)
		w.account = func(filehost.Credential) (string, error) {
			return "", filehost.E(filehost.HostUnavailable, "down", nil)
		}
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.HostUnavailable, err)
		node.config.Pending.Wait()
		assert.Len(t, server.revoked, 1)
	})
}

func TestATokenWithLessThanWasAskedForIsNotUsed(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		node, server := w.vouching(method, func(c *Config) { c.OAuth.Scopes = []string{"openid", "files"} })
		server.answer = map[string]any{"scope": "openid"}
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConfigured, err)
		node.config.Pending.Wait()
		assert.Len(t, server.revoked, 1)
		assert.Equal(t, "openid files", server.forms()[0].Get("scope"))
	})
}

// The host's name for the user is asked of the sign-in server where the host has none, and the token may be shown there.
func TestTheAccountIsAskedOfTheSignInServerWhereTheHostHasNoName(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer, func(c *Config) { c.OAuth.Scopes = []string{"openid"} })
	w.account = func(filehost.Credential) (string, error) { return "", nil }
	info := server.URL + "/userinfo"
	asked, status := 0, http.StatusOK
	node.config.Client.Transport = roundTrip(func(r *http.Request) (*http.Response, error) {
		if r.URL.String() == info {
			asked++
			body := io.NopCloser(strings.NewReader(`{"sub":"0815","preferred_username":"anna"}`))
			return &http.Response{StatusCode: status, Body: body, Request: r}, nil
		}
		return server.Client().Transport.RoundTrip(r)
	})
	answer := issued{AccessToken: filehost.NewSecret("token")}
	account, err := node.vouchedAccount(t.Context(), endpoints{UserInfo: info}, identity(ann), answer)
	require.NoError(t, err)
	assert.Equal(t, "anna", account)
	for answered, want := range map[int]filehost.Kind{http.StatusForbidden: -1, http.StatusNotFound: -1, http.StatusBadGateway: filehost.HostUnavailable} {
		status = answered
		account, err = node.vouchedAccount(t.Context(), endpoints{UserInfo: info}, identity(ann), answer)
		assert.Empty(t, account)
		if want < 0 {
			require.NoError(t, err, "a token may be for the host alone")
			continue
		}
		requireKind(t, want, err)
	}
	node.config.OAuth.Scopes = nil
	account, err = node.vouchedAccount(t.Context(), endpoints{UserInfo: info}, identity(ann), answer)
	require.NoError(t, err)
	assert.Empty(t, account)
	assert.Equal(t, 4, asked)
}

func TestSeveralUsersWhoAreRefusedAreToldToTheAdmin(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		changed := 0
		node, server := w.vouching(method, func(c *Config) { c.Changed = func() { changed++ } })
		_, err := node.For(t.Context(), bob)
		require.Error(t, err)
		var degraded *filehost.Degraded
		require.ErrorAs(t, node.CheckTokenEndpoint(t.Context()), &degraded, "nobody was ever accepted")
		assert.Contains(t, degraded.Remedy, pluginIssuer+"/jwks.json")
		assert.Contains(t, degraded.Remedy, "“Users are named by”")
		assert.Equal(t, 1, changed)

		_, err = node.For(t.Context(), ann)
		require.NoError(t, err)
		require.NoError(t, node.CheckTokenEndpoint(t.Context()))
		assert.Equal(t, 2, changed)
		require.Error(t, node.ConnectAutomatically(t.Context(), bob))
		require.Error(t, node.ConnectAutomatically(t.Context(), bob))
		require.NoError(t, node.CheckTokenEndpoint(t.Context()), "one user is no judgement on a server that takes others")
		_, err = node.For(t.Context(), "carol")
		require.Error(t, err)
		require.ErrorAs(t, node.CheckTokenEndpoint(t.Context()), &degraded)
		w.clock.Advance(refusalTime)
		require.NoError(t, node.CheckTokenEndpoint(t.Context()))
		assert.Len(t, server.forms(), 5)
	})
}

// TOKENS 26.
func TestNoAssertionNorActorTokenReachesAnErrorOrALog(t *testing.T) {
	vouched(t, func(t *testing.T, method filehost.Method) {
		w := newWorld(t)
		node, server := w.vouching(method, func(c *Config) { c.Exchange.ActorToken = filehost.NewSecret("canary-actor") })
		var seen report
		for name, echo := range echoes {
			server.set(func(s *trustingServer) {
				s.fault = func(rw http.ResponseWriter, r *http.Request) {
					sent := url.Values(r.PostForm).Encode() + " " + r.Header.Get("Authorization")
					s.sent = append(s.sent, r.PostForm.Get("assertion"), r.PostForm.Get("subject_token"))
					echo(rw, "canary "+sent)
				}
			})
			_, err := node.For(t.Context(), name)
			require.Error(t, err)
			connection, _ := node.Connection(t.Context(), name)
			seen.add(name, err, connection, node.CheckTokenEndpoint(t.Context()))
			w.clock.Advance(restTime)
		}
		server.set(func(s *trustingServer) { s.fault, s.answer = nil, map[string]any{"refresh_token": "canary-refresh"} })
		credential, err := node.For(t.Context(), ann)
		require.NoError(t, err)
		keys, err := node.keyring.current(t.Context())
		require.NoError(t, err)
		form, err := node.assert(t.Context(), identity(ann), endpoints{Token: server.audience}, true)
		require.NoError(t, err)
		seen.add(credential, node, node.config, node.config.Exchange, form, node.automatic, node.keyring, keys)
		server.set(func(s *trustingServer) { s.sent = append(s.sent, form.Reveal()) })
		encoded, err := json.Marshal(keys.Current.jwk)
		require.NoError(t, err)
		var private struct{ D string }
		require.NoError(t, json.Unmarshal(encoded, &private))
		for _, text := range []string{seen.String(), w.log.String()} {
			assert.NotContains(t, text, "canary")
			assert.NotContains(t, text, private.D)
			for _, secret := range server.sent {
				if secret != "" {
					assert.NotContains(t, text, secret)
					assert.NotContains(t, text, secret[strings.LastIndex(secret, ".")+1:], "the signature")
				}
			}
		}
		for _, key := range w.kv.Keys() {
			value, err := w.kv.Get(t.Context(), key)
			require.NoError(t, err)
			assert.NotContains(t, string(value), "canary")
			assert.NotContains(t, string(value), private.D)
		}
	})
}
