package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"golang.org/x/crypto/bcrypt"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// authApp is the service for app tokens as OpenCloud has it: it lists the hashes of tokens, which end them, or with ids as
// later versions, ids.
type authApp struct {
	t             *testing.T
	clock         clockwork.Clock
	ids           bool
	impersonation bool
	fault         http.HandlerFunc

	mu       sync.Mutex
	tokens   []*madeToken
	users    map[string]string // id by name
	requests []string
}

type madeToken struct {
	appToken
	user, secret string
}

const admin, adminSecret = "admin", "canary-admin"

func newAuthApp(t *testing.T) (*authApp, *Client) {
	t.Helper()
	a := &authApp{t: t, clock: clockwork.NewFakeClock(), impersonation: true, users: map[string]string{"alan": "id-of-alan", "mary": "id-of-mary", admin: "id-of-admin"}}
	client := serve(t, "opencloud", "/cloud", a.serve)
	client.clock = a.clock
	return a, client
}

func (a *authApp) serve(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	if a.fault != nil {
		a.fault(w, r)
		return
	}
	name, secret, _ := r.BasicAuth()
	known := slices.ContainsFunc(a.tokens, func(each *madeToken) bool {
		return each.user == name && each.secret == secret && a.clock.Now().Before(each.Expires)
	})
	if !known && (name != admin || secret != adminSecret) {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	switch {
	case r.Method == http.MethodGet && strings.HasPrefix(r.URL.Path, "/cloud/graph/v1.0/users/"):
		a.serveUser(w, strings.TrimPrefix(r.URL.Path, "/cloud/graph/v1.0/users/"))
	case r.URL.Path != "/cloud/auth-app/tokens":
		http.NotFound(w, r)
	case r.Method == http.MethodPost:
		a.serveMint(w, r, name)
	case r.Method == http.MethodGet:
		listed := []appToken{}
		for _, each := range a.tokens {
			if each.user == name {
				listed = append(listed, each.appToken)
			}
		}
		_ = json.NewEncoder(w).Encode(listed)
	case r.Method == http.MethodDelete:
		a.serveEnd(w, r.URL.Query().Get("token"), name)
	}
}

// serveUser finds a user by his name or id, whatever the case of its letters.
func (a *authApp) serveUser(w http.ResponseWriter, asked string) {
	for name, id := range a.users {
		if strings.EqualFold(name, asked) || id == asked {
			_ = json.NewEncoder(w).Encode(map[string]any{"id": id, "onPremisesSamAccountName": name, "accountEnabled": true})
			return
		}
	}
	w.WriteHeader(http.StatusNotFound)
}

func (a *authApp) serveMint(w http.ResponseWriter, r *http.Request, caller string) {
	life, err := time.ParseDuration(r.URL.Query().Get("expiry"))
	require.NoError(a.t, err)
	user := caller
	for name, id := range a.users {
		if r.URL.Query().Get("userID") == id {
			user = name
		}
	}
	if user != caller && (!a.impersonation || caller != admin) {
		w.WriteHeader(http.StatusForbidden)
		return
	}
	made := a.add(user, r.URL.Query().Get("label"), life)
	_ = json.NewEncoder(w).Encode(appToken{Token: made.secret, Expires: made.Expires})
}

func (a *authApp) add(user, label string, life time.Duration) *madeToken {
	made := &madeToken{user: user, secret: fmt.Sprintf("canary token %d", len(a.requests)*1000+len(a.tokens))}
	hash, err := bcrypt.GenerateFromPassword([]byte(made.secret), bcrypt.MinCost)
	require.NoError(a.t, err)
	made.Expires, made.Label, made.Token = a.clock.Now().Add(life), label, string(hash)
	if a.ids {
		made.Token = fmt.Sprintf("07302767-15ee-4f0c-9237-%012d", len(a.tokens))
	}
	a.tokens = append(a.tokens, made)
	return made
}

func (a *authApp) serveEnd(w http.ResponseWriter, asked, user string) {
	before := len(a.tokens)
	a.tokens = slices.DeleteFunc(a.tokens, func(each *madeToken) bool {
		return each.user == user && (each.Token == asked || a.ids && each.secret == asked)
	})
	if len(a.tokens) == before {
		w.WriteHeader(http.StatusInternalServerError)
	}
}

func (a *authApp) left(user string) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	count := 0
	for _, each := range a.tokens {
		if each.user == user {
			count++
		}
	}
	return count
}

func basic(name, secret string) filehost.Credential {
	return filehost.Credential{Scheme: filehost.Basic, Username: name, Secret: filehost.NewSecret(secret)}
}

func TestAnAppTokenEndsItselfAndNoOther(t *testing.T) {
	for name, ids := range map[string]bool{"by its hash": false, "by itself where only ids are listed": true} {
		t.Run(name, func(t *testing.T) {
			app, client := newAuthApp(t)
			app.ids = ids
			other, own := app.add("alan", "", time.Hour), app.add("alan", "", time.Hour)
			require.NoError(t, client.Revoker()(t.Context(), basic("alan", own.secret)))
			require.Equal(t, 1, app.left("alan"))
			require.Equal(t, other, app.tokens[0])
			err := client.Revoker()(t.Context(), basic("alan", own.secret))
			require.Equal(t, filehost.CredentialRejected, filehost.KindOf(err))
		})
	}
}

func TestAUsersOwnPasswordIsNoAppToken(t *testing.T) {
	app, client := newAuthApp(t)
	app.add(admin, "", time.Hour)
	err := client.Revoker()(t.Context(), basic(admin, adminSecret))
	require.Equal(t, filehost.Forbidden, filehost.KindOf(err))
	require.NotContains(t, app.requests, "DELETE /cloud/auth-app/tokens")
	err = client.Revoker()(t.Context(), filehost.Credential{Scheme: filehost.Bearer, Secret: filehost.NewSecret("token")})
	require.Equal(t, filehost.Forbidden, filehost.KindOf(err), "a token of the sign-in server's")
}

// hashes lists hashes of nothing, of a cost.
func hashes(n, cost int) []appToken {
	return slices.Repeat([]appToken{{Token: fmt.Sprintf("$2a$%02d$5Y07xzBkqhtQgzIfiBYpRe0P7/5ESOar0o10mt3HIGUqMw0M8LV/G", cost)}}, n)
}

func TestAHashThatTakesLongIsNotComparedWith(t *testing.T) {
	for cost, want := range map[int]int{11: 1, 12: 1, 13: 0, 14: 0, 31: 0} {
		hashing, compared := newHashing(), 0
		hashing.compare = func([]byte, []byte) error { compared++; return bcrypt.ErrMismatchedHashAndPassword }
		listed := hashes(1, cost)
		assert.True(t, listed[0].isHash())
		_, ok, err := hashing.find(t.Context(), listed, filehost.NewSecret("canary"))
		require.NoError(t, err)
		assert.False(t, ok)
		assert.Equal(t, want, compared, cost)
	}
}

func TestATokenIsComparedWithAFewHashesOnly(t *testing.T) {
	app, client := newAuthApp(t)
	compared := 0
	client.hashing.compare = func(hash, secret []byte) error {
		compared++
		return bcrypt.CompareHashAndPassword(hash, secret)
	}
	own := app.add("alan", "", time.Hour)
	for range maxCompared - 1 {
		app.add("alan", "", 72*time.Hour)
	}
	expires, err := client.AppTokenExpiry(t.Context(), basic("alan", own.secret))
	require.NoError(t, err)
	require.True(t, expires.Equal(own.Expires))
	require.Equal(t, maxCompared, compared)

	app.add("alan", "", 72*time.Hour)
	compared = 0
	expires, err = client.AppTokenExpiry(t.Context(), basic("alan", own.secret))
	require.NoError(t, err)
	require.Zero(t, expires, "it is not known")
	require.Equal(t, maxCompared, compared)
	compared = 0
	require.Equal(t, filehost.Forbidden, filehost.KindOf(client.Revoker()(t.Context(), basic("alan", own.secret))))
	require.Equal(t, maxCompared, compared)
}

func TestHashesAreComparedOneAtATimeAndNotAfterTheCallerHasLeft(t *testing.T) {
	hashing := newHashing()
	var at, most atomic.Int32
	ctx, leave := context.WithCancel(t.Context())
	hashing.compare = func([]byte, []byte) error {
		most.Store(max(most.Load(), at.Add(1)))
		runtime.Gosched()
		at.Add(-1)
		return bcrypt.ErrMismatchedHashAndPassword
	}
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			_, _, err := hashing.find(ctx, hashes(maxCompared, bcrypt.MinCost), filehost.NewSecret("canary"))
			assert.NoError(t, err)
		})
	}
	group.Wait()
	require.EqualValues(t, 1, most.Load())

	compared := 0
	hashing.compare = func([]byte, []byte) error {
		if compared++; compared == 3 {
			leave()
		}
		return bcrypt.ErrMismatchedHashAndPassword
	}
	_, _, err := hashing.find(ctx, hashes(maxCompared, bcrypt.MinCost), filehost.NewSecret("canary"))
	require.Equal(t, filehost.Timeout, filehost.KindOf(err))
	require.Equal(t, 3, compared)

	hashing.turn <- struct{}{} // somebody compares
	_, _, err = hashing.find(ctx, hashes(1, bcrypt.MinCost), filehost.NewSecret("canary"))
	require.Equal(t, filehost.Timeout, filehost.KindOf(err), "who has left doesn't wait either")
}

func TestTheExpiryOfAnAppTokenIsKnownWhereItsHashIs(t *testing.T) {
	app, client := newAuthApp(t)
	app.add("alan", "", time.Hour)
	own := app.add("alan", "", 72*time.Hour)
	expires, err := client.AppTokenExpiry(t.Context(), basic("alan", own.secret))
	require.NoError(t, err)
	require.True(t, expires.Equal(app.clock.Now().Add(72*time.Hour)))
	app.ids = true
	later := app.add("alan", "", time.Hour)
	expires, err = client.AppTokenExpiry(t.Context(), basic("alan", later.secret))
	require.NoError(t, err)
	require.Zero(t, expires)
}

func TestAnAppTokenIsMadeForTheUserAskedFor(t *testing.T) {
	for _, name := range []string{"alan", "id-of-alan"} {
		app, client := newAuthApp(t)
		made, err := client.MintAppToken(t.Context(), basic(admin, adminSecret), name, 5*time.Minute)
		require.NoError(t, err)
		require.Equal(t, "alan", made.Username)
		require.True(t, made.Expires.Equal(app.clock.Now().Add(5*time.Minute)))
		require.Equal(t, 1, app.left("alan"))
		require.Equal(t, appTokenLabel, app.tokens[0].Label)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", made, made, made), "canary")
	}
}

func TestAppTokensThatAreNotMade(t *testing.T) {
	good := basic(admin, adminSecret)
	status := func(code int) func(*authApp) {
		return func(a *authApp) {
			a.fault = func(w http.ResponseWriter, _ *http.Request) {
				w.WriteHeader(code)
				_, _ = io.WriteString(w, "canary")
			}
		}
	}
	mint := func(answer http.HandlerFunc) func(*authApp) {
		return func(a *authApp) {
			a.fault = func(w http.ResponseWriter, r *http.Request) {
				if r.Method == http.MethodGet {
					a.serveUser(w, "alan")
					return
				}
				answer(w, r)
			}
		}
	}
	user := func(body string) func(*authApp) {
		return func(a *authApp) {
			a.fault = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, body) }
		}
	}
	tests := map[string]struct {
		by   filehost.Credential
		name string
		edit func(*authApp)
		want filehost.Kind
	}{
		"for nobody":                               {good, "nobody", nil, filehost.NotFound},
		"for a name in other letters":              {good, "ALAN", nil, filehost.NotFound},
		"for no name":                              {good, "", nil, filehost.NotFound},
		"for a name that leads away":               {good, "../me", nil, filehost.NotFound},
		"for one who is disabled":                  {good, "alan", user(`{"id":"id-of-alan","onPremisesSamAccountName":"alan","accountEnabled":false}`), filehost.NotFound},
		"for one whose name has a colon":           {good, "a:b", user(`{"id":"1","onPremisesSamAccountName":"a:b"}`), filehost.HostUnavailable},
		"by a password that is wrong":              {basic(admin, "canary-wrong"), "alan", nil, filehost.CredentialRejected},
		"without impersonation":                    {good, "alan", func(a *authApp) { a.impersonation = false }, filehost.Forbidden},
		"by a host in trouble":                     {good, "alan", status(500), filehost.HostUnavailable},
		"by a host without the service":            {good, "alan", mint(http.NotFound), filehost.Unsupported},
		"by a service that gives a page":           {good, "alan", mint(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<canary>") }), filehost.HostUnavailable},
		"by a service that gives nothing":          {good, "alan", mint(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "{}") }), filehost.HostUnavailable},
		"by a service that gives one for ever":     {good, "alan", mint(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"token":"canary"}`) }), filehost.HostUnavailable},
		"by a host whose answers never end":        {good, "alan", user(strings.Repeat(" ", maxJSONBytes+1)), filehost.HostUnavailable},
		"by an account that may not look users up": {good, "alan", status(403), filehost.Forbidden},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			app, client := newAuthApp(t)
			if test.edit != nil {
				test.edit(app)
			}
			_, err := client.MintAppToken(t.Context(), test.by, test.name, 5*time.Minute)
			require.Error(t, err)
			require.Equal(t, test.want, filehost.KindOf(err), "%v", err)
			require.NotContains(t, err.Error(), "canary")
			require.Empty(t, app.tokens)
		})
	}
}

func TestExpiredTokensOfOursAreSweptAndNoOthers(t *testing.T) {
	app, client := newAuthApp(t)
	app.add("alan", "Generated via API", 5*time.Minute) // his own
	for range maxSweptTokens + 3 {
		app.add("alan", appTokenLabel, 5*time.Minute)
	}
	app.add("mary", appTokenLabel, 5*time.Minute)
	app.clock.(*clockwork.FakeClock).Advance(6*time.Minute + time.Second)
	app.add("alan", impersonatedLabel, time.Minute)
	live := app.add("alan", appTokenLabel, 5*time.Minute)
	credential := basic("alan", live.secret)
	require.NoError(t, client.SweepAppTokens(t.Context(), credential))
	require.Equal(t, 6, app.left("alan"), "so many at a time")
	require.NoError(t, client.SweepAppTokens(t.Context(), credential))
	require.Equal(t, 3, app.left("alan"), "his own, and those that are good")
	require.Equal(t, 1, app.left("mary"))
}

func TestATokenInAnAddressReachesNoError(t *testing.T) {
	app, client := newAuthApp(t)
	app.ids = true
	own := app.add("alan", "", time.Hour)
	app.fault = func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			_, _ = io.WriteString(w, `[{"token":"07302767-15ee-4f0c-9237-000000000000"}]`)
			return
		}
		connection, _, err := w.(http.Hijacker).Hijack()
		assert.NoError(t, err)
		_ = connection.Close()
	}
	err := client.Revoker()(t.Context(), basic("alan", own.secret))
	require.Error(t, err)
	require.NotContains(t, err.Error(), "canary")
}
