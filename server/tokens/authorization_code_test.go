package tokens

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func (w *world) query(node *Store) url.Values {
	w.t.Helper()
	address, err := node.Authorize(w.t.Context(), ann)
	require.NoError(w.t, err)
	parsed, err := url.Parse(address)
	require.NoError(w.t, err)
	return parsed.Query()
}

func TestAuthorizeAsksWithAFreshStateAndS256Challenge(t *testing.T) {
	w := newWorld(t)
	node := w.node(func(c *Config) { c.OAuth.Scopes = []string{"files.read", "offline_access"} })
	first, second := w.query(node), w.query(node)
	require.Equal(t, "code", first.Get("response_type"))
	require.Equal(t, "mattermost", first.Get("client_id"))
	require.Equal(t, "S256", first.Get("code_challenge_method"))
	require.Equal(t, "files.read offline_access", first.Get("scope"))
	require.Equal(t, node.config.RedirectURI, first.Get("redirect_uri"))
	require.False(t, first.Has("response_mode"), "the answer comes in the query")
	require.GreaterOrEqual(t, len(first.Get("state"))*5, 128, "base32: 5 bits a character")
	require.NotEqual(t, first.Get("state"), second.Get("state"))
	require.NotEqual(t, first.Get("code_challenge"), second.Get("code_challenge"))
}

func TestTheRedirectURIOfAMattermostBelowASubpathIsTheSameAtBothEnds(t *testing.T) {
	const redirectURI = "https://chat.example.com/team/chat/plugins/filehost-attach/api/connection/callback/default"
	w := newWorld(t)
	node := w.node(func(c *Config) { c.RedirectURI = redirectURI })
	require.Equal(t, redirectURI, w.query(node).Get("redirect_uri"))
	w.connect(node, ann) // the server compares it with the one of the token request (RFC 6749 4.1.3)

	state, code := w.begin(node, ann)
	moved := w.node() // the one who finishes sends what was sent at the beginning
	_, err := moved.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
}

func TestTheStateIsStoredHashedAndEncryptedForTenMinutes(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		require.NotContains(t, key+string(value), state)
		require.NotContains(t, key+string(value), ann)
	}
	w.clock.Advance(signInTime)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	w.clock.Advance(heldTime)
	require.Empty(t, w.kv.Keys())
	require.Zero(t, w.server.tokenCalls())
}

func TestAStateThatTheStoreForgotToExpireIsRefused(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(t.Context(), key)
		require.NoError(t, err)
		w.kv.Put(key, value)
	}
	w.clock.Advance(signInTime)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
}

func TestAStateWorksOnce(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
	_, err = node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.InvalidRequest, err)
	require.Equal(t, 1, w.server.tokenCalls())
}

func TestOfParallelCallbacksExactlyOneWins(t *testing.T) {
	w := newWorld(t)
	nodes := []*Store{w.node(), w.node(), w.node()}
	state, code := w.begin(nodes[0], ann)
	w.meet(30, filehosttest.CompareAndDelete)
	won := 0
	for _, err := range outcomes(30, func(i int) error {
		_, err := nodes[i%3].Callback(t.Context(), callback(ann, state, code))
		return err
	}) {
		if err == nil {
			won++
			continue
		}
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.Equal(t, 1, won)
	require.Equal(t, 1, w.server.tokenCalls())
}

func TestACallbackOfAnotherUserSpendsNoCodeAndEndsTheSignIn(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(bob, state, code))
	requireKind(t, filehost.Forbidden, err)
	require.Zero(t, w.server.tokenCalls())
	require.Equal(t, filehost.Disconnected, w.state(node, bob))

	for _, user := range []string{ann, bob, ""} { // with the address that bob's browser shows
		_, err = node.Callback(t.Context(), callback(user, state, code))
		requireKind(t, filehost.InvalidRequest, err)
	}
	require.Zero(t, w.server.tokenCalls())
	w.connect(node, ann)
}

func TestCallbacksThatAreRefused(t *testing.T) {
	tests := map[string]struct {
		edit func(*filehost.Callback)
		want filehost.Kind
	}{
		"unknown state":                  {func(c *filehost.Callback) { c.State = "guessed" }, filehost.InvalidRequest},
		"no state":                       {func(c *filehost.Callback) { c.State = "" }, filehost.InvalidRequest},
		"a state without end":            {func(c *filehost.Callback) { c.State = strings.Repeat("A", 1<<20) }, filehost.InvalidRequest},
		"no code":                        {func(c *filehost.Callback) { c.Code = "" }, filehost.InvalidRequest},
		"a code without end":             {func(c *filehost.Callback) { c.Code = strings.Repeat("A", 1<<20) }, filehost.InvalidRequest},
		"a code of somebody else":        {func(c *filehost.Callback) { c.Code = "stolen" }, filehost.InvalidRequest},
		"the user said no":               {func(c *filehost.Callback) { c.Error = "access_denied" }, filehost.Forbidden},
		"the server refused the request": {func(c *filehost.Callback) { c.Error = "invalid_scope" }, filehost.NotConfigured},
		"the server is down":             {func(c *filehost.Callback) { c.Error = "temporarily_unavailable" }, filehost.HostUnavailable},
		"an error of its own":            {func(c *filehost.Callback) { c.Error = "canary-error <script>" }, filehost.HostUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node := w.node()
			state, code := w.begin(node, ann)
			sent := callback(ann, state, code)
			test.edit(&sent)
			result, err := node.Callback(t.Context(), sent)
			requireKind(t, test.want, err)
			require.NotContains(t, err.Error(), "canary")
			require.False(t, result.Connected)
			require.Equal(t, filehost.Disconnected, w.state(node, ann))
			if sent.Code != "stolen" {
				require.Zero(t, w.server.tokenCalls())
			}
		})
	}
}

func TestAnAnswerOfAnotherIssuerAborts(t *testing.T) {
	tests := map[string]struct {
		promised bool
		issuer   func(own string) string
		refused  bool
	}{
		"promised and sent":        {true, func(own string) string { return own }, false},
		"promised and missing":     {true, func(string) string { return "" }, true},
		"promised and another":     {true, func(own string) string { return own + "/evil" }, true},
		"not promised and missing": {false, func(string) string { return "" }, false},
		"not promised and another": {false, func(string) string { return "https://evil.example" }, true},
		"not promised but its own": {false, func(own string) string { return own }, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish("/.well-known/openid-configuration", "authorization_response_iss_parameter_supported", test.promised)
			node := w.node(w.byIssuer)
			state, code := w.begin(node, ann)
			sent := callback(ann, state, code)
			sent.Issuer = test.issuer(w.server.URL)
			_, err := node.Callback(t.Context(), sent)
			if !test.refused {
				require.NoError(t, err)
				return
			}
			requireKind(t, filehost.InvalidRequest, err)
			require.Zero(t, w.server.tokenCalls())
			sent.Issuer = w.server.URL
			_, err = node.Callback(t.Context(), sent)
			requireKind(t, filehost.InvalidRequest, err)
		})
	}
}

func TestASignInBegunUnderOtherSettingsIsRefused(t *testing.T) {
	for name, edit := range otherSettings() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			state, code := w.begin(w.node(), ann)
			_, err := w.node(edit).Callback(t.Context(), callback(ann, state, code))
			require.Error(t, err)
			require.Zero(t, w.server.tokenCalls())
		})
	}
}

func TestTheClientAuthenticatesInTheOneWayOfItsHost(t *testing.T) {
	tests := map[string]struct {
		kind   string
		inBody bool
		usedUp string
	}{
		"Nextcloud takes the secret in the body":  {"nextcloud", true, "invalid_request"},
		"ownCloud 10 takes it in the header only": {"owncloud", false, "invalid_grant"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.host.Kind = test.kind
			w.server.secretInBody, w.server.usedUp = test.inBody, test.usedUp
			node := w.node()
			w.connect(node, ann)
			w.expire()
			w.credential(node, ann)

			state, _ := w.begin(node, ann)
			_, err := node.Callback(t.Context(), callback(ann, state, "used up"))
			requireKind(t, filehost.InvalidRequest, err)
			require.Equal(t, 3, w.server.tokenCalls())
		})
	}
}

func TestAScopeThatWasAskedAndNotGrantedIsNamed(t *testing.T) {
	tests := map[string]struct {
		granted any
		missing string
	}{
		"all":                            {"offline_access files.read files.write more", ""},
		"the answer names none":          {nil, ""},
		"one missing":                    {"files.read offline_access", "files.write"},
		"a refresh token grants offline": {"files.write files.read", ""},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.server.answer["scope"] = test.granted
			node := w.node(func(c *Config) {
				c.OAuth.Scopes = []string{"files.read", "files.write", "offline_access"}
				c.OAuth.RevocationURL = w.server.URL + "/revoke"
			})
			state, code := w.begin(node, ann)
			_, err := node.Callback(t.Context(), callback(ann, state, code))
			if test.missing == "" {
				require.NoError(t, err)
				return
			}
			requireKind(t, filehost.Forbidden, err)
			require.ErrorContains(t, err, test.missing)
			require.Equal(t, filehost.Disconnected, w.state(node, ann))
			require.Equal(t, []string{"refresh_token", "access_token"}, w.server.revoked, "what is not kept is revoked")
		})
	}
}

func TestTheAccountIsNamedByWhoKnowsIt(t *testing.T) {
	tests := map[string]struct {
		userID  any
		info    map[string]any // of the sign-in server
		host    string
		hostErr error
		want    string
		wantErr filehost.Kind
	}{
		"the token answer":                 {userID: "alice", host: "other", want: "alice"},
		"the host":                         {host: "alice-at-host", want: "alice-at-host"},
		"the sign-in server's user info":   {info: map[string]any{"sub": "0815", "preferred_username": "alan", "name": "Alan"}, want: "alan"},
		"a name for people":                {info: map[string]any{"sub": "0815", "name": "Alan"}, want: "Alan"},
		"nobody":                           {info: map[string]any{"sub": "CgQwODE1EgVsb2NhbA"}, want: ""},
		"an endless name":                  {info: map[string]any{"sub": "0815", "name": strings.Repeat("a", maxAccountBytes+1)}, want: ""},
		"a host that takes no such tokens": {hostErr: filehost.E(filehost.CredentialRejected, "no", nil), wantErr: filehost.NotConfigured},
		"a host that is down":              {hostErr: filehost.E(filehost.HostUnavailable, "down", nil), wantErr: filehost.HostUnavailable},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.publish("/.well-known/openid-configuration", "userinfo_endpoint", w.server.URL+"/userinfo")
			w.server.answer["user_id"], w.server.userInfo = test.userID, test.info
			w.account = func(filehost.Credential) (string, error) { return test.host, test.hostErr }
			node := w.node(w.byIssuer)
			state, code := w.begin(node, ann)
			_, err := node.Callback(t.Context(), callback(ann, state, code))
			if test.hostErr != nil {
				requireKind(t, test.wantErr, err)
				require.Equal(t, filehost.Disconnected, w.state(node, ann))
				return
			}
			require.NoError(t, err)
			require.Equal(t, test.want, w.credential(node, ann).Account)
			connection, err := node.Connection(t.Context(), ann)
			require.NoError(t, err)
			require.Equal(t, test.want, connection.Account)
			require.Equal(t, "authorization_code", connection.Grant)
		})
	}
}

// otherSettings are edits after which no old credential may be given out.
func otherSettings() map[string]func(*Config) {
	return map[string]func(*Config){
		"another origin": func(c *Config) {
			other := *c.Host.BaseURL
			other.Host = "evil.example"
			c.OAuth.AuthorizeURL, c.OAuth.TokenURL = c.Host.BaseURL.String()+authorizePath, c.Host.BaseURL.String()+tokenPath
			c.Host.BaseURL = &other
		},
		"another client":         func(c *Config) { c.OAuth.ClientID = "another" },
		"another host id":        func(c *Config) { c.Host.ID = "second" },
		"another sign-in server": func(c *Config) { c.OAuth.TokenURL = "https://evil.example/token" },
		"no OAuth any more":      func(c *Config) { c.Methods, c.OAuth = []filehost.Method{filehost.MethodPassword}, OAuth{} },
	}
}

func TestUnderOneIssuerAnEditedTokenURLNeverGetsAnOldRefreshToken(t *testing.T) {
	for name, edit := range map[string]func(w *world, evil *signInServer, c *Config){
		"set by hand": func(_ *world, evil *signInServer, c *Config) { c.OAuth.TokenURL = evil.URL + tokenPath },
		"another realm": func(w *world, _ *signInServer, c *Config) {
			c.OAuth.Issuer += "/realms/other"
			c.OAuth.TokenURL = w.server.URL + tokenPath
		},
		"another realm of the same origin": func(_ *world, _ *signInServer, c *Config) { c.OAuth.Issuer += "/realms/other" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			evil := newSignInServer(t)
			w.publish("/.well-known/openid-configuration")
			old := w.connect(w.node(w.byIssuer), ann)
			edited := func(c *Config) { edit(w, evil, c) }
			state, code := w.begin(w.node(w.byIssuer), ann)
			after := w.node(w.byIssuer, edited)
			w.publish("/realms/other/.well-known/openid-configuration", "issuer", after.config.OAuth.Issuer)
			if name == "set by hand" {
				w.publish("/.well-known/openid-configuration")
			}
			w.expire()
			_, err := after.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			_, err = after.Renew(t.Context(), ann, old)
			requireKind(t, filehost.NotConnected, err)
			_, err = after.Callback(t.Context(), callback(ann, state, code))
			requireKind(t, filehost.InvalidRequest, err)
			require.Zero(t, evil.tokenCalls())
			require.Equal(t, 1, w.server.tokenCalls())
		})
	}
}

func TestATokenURLSetByHandBesideAnIssuerKeepsItsConnections(t *testing.T) {
	w := newWorld(t)
	w.publish("/.well-known/openid-configuration")
	byHand := func(c *Config) { c.OAuth.TokenURL = w.server.URL + tokenPath }
	w.connect(w.node(w.byIssuer, byHand), ann)
	w.expire()
	w.credential(w.node(w.byIssuer, byHand), ann)
}

func TestTheSameSettingsInAnotherSpellingKeepTheConnection(t *testing.T) {
	w := newWorld(t)
	at := func(address string) func(*Config) {
		return func(c *Config) {
			base, err := url.Parse(address)
			require.NoError(t, err)
			c.OAuth.AuthorizeURL, c.OAuth.TokenURL = c.Host.BaseURL.String()+authorizePath, c.Host.BaseURL.String()+tokenPath
			c.Host.BaseURL = base
		}
	}
	w.connect(w.node(at("https://cloud.example.com")), ann)
	require.Equal(t, filehost.Connected, w.state(w.node(at("https://Cloud.Example.com:443/")), ann))
}

func TestEditedSettingsNeverGetAnOldCredential(t *testing.T) {
	for name, edit := range otherSettings() {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			before := w.node()
			old := w.connect(before, ann)
			after := w.node(edit)
			_, err := after.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			_, err = after.Renew(t.Context(), ann, old)
			requireKind(t, filehost.NotConnected, err)
			require.Equal(t, filehost.Disconnected, w.state(after, ann))
			require.Equal(t, 1, w.server.tokenCalls())
			w.credential(before, ann) // and nothing was deleted
		})
	}
}

// TestATokenThatNoActOfAUserMadeIsForTheServerAndClientItWasMadeFor shows the same for the automatic methods.
func TestATokenThatNoActOfAUserMadeIsForTheServerAndClientItWasMadeFor(t *testing.T) {
	for name, edit := range map[string]func(*Config){
		"another client":         func(c *Config) { c.OAuth.ClientID = "another" },
		"another sign-in server": func(c *Config) { c.OAuth.TokenURL = "https://login.example.com/token" },
	} {
		t.Run(name, func(t *testing.T) {
			w, method := newWorld(t), &issuer{}
			_, err := automatically(w.node(impatient), method).For(t.Context(), ann)
			require.NoError(t, err)
			after := automatically(w.node(impatient, edit), method)
			found, err := after.load(t.Context(), ann)
			require.NoError(t, err)
			require.Equal(t, foreign, found.State)
			require.True(t, found.AccessToken.IsEmpty())
			_, err = after.For(t.Context(), ann)
			require.NoError(t, err)
			require.EqualValues(t, 2, method.asked.Load(), "a token of its own")
		})
	}
}

func TestTheConnectionTellsSinceWhenAndLastUseByTheHour(t *testing.T) {
	w := newWorld(t)
	hour := w.clock.Now().UTC().Truncate(time.Hour).Add(time.Hour)
	w.clock.Advance(hour.Add(20 * time.Minute).Sub(w.clock.Now()))
	node := w.node()
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	require.NoError(t, err)
	since := w.clock.Now().UTC()
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, filehost.Connection{
		State: filehost.Connected, Account: "alice", Grant: "authorization_code", Since: since,
	}, connection)

	used := func(after time.Duration) time.Time {
		w.clock.Advance(after)
		w.credential(node, ann)
		connection, err := node.Connection(context.Background(), ann)
		require.NoError(t, err)
		return connection.LastUsed
	}
	notes := 0
	w.kv.Fail(func(_ filehosttest.Op, key string) error {
		if strings.HasPrefix(key, "used_") {
			notes++
		}
		return nil
	})
	first := used(time.Minute)
	before := notes
	w.credential(node, ann)
	require.Equal(t, before, notes, "the store is not even asked")
	require.Equal(t, hour, first, "no minute is told")
	require.Equal(t, first, used(30*time.Minute), "written once an hour at most")
	require.Equal(t, hour.Add(time.Hour), used(10*time.Minute))

	notes = 0
	w.credential(w.node(), ann)
	require.Equal(t, 1, notes, "another node reads that it was noted in this hour, and writes nothing")
}

// What a sign-in server calls a user is shown to people, and is part of addresses at some hosts.
func TestAnAccountThatCannotBeShownCountsAsNotSaid(t *testing.T) {
	for _, odd := range []string{"ann\nline", "ann\u202egnp.exe", "../../bob", "..", "a/b", "ann\x00", "ann\u200b", strings.Repeat("a", maxAccountBytes+1)} {
		w := newWorld(t)
		w.server.set(func(s *signInServer) { s.answer = map[string]any{"user_id": odd} })
		require.Equal(t, "alice-as-the-host-says", w.connect(w.node(), ann).Account, "%q", odd)
		require.Equal(t, "Ann", names{Username: odd, Full: "Ann"}.name(), "%q", odd)
		require.Empty(t, names{Full: odd}.name(), "%q", odd)
	}
	require.Empty(t, names{Username: "\xff"}.name())
	require.Equal(t, "Änn (IT)", names{Username: "Änn (IT)", Full: "Ann"}.name())
}
