package tokens

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// tokenMaker is a host that makes app tokens.
type tokenMaker struct {
	mu      sync.Mutex
	now     func() time.Time
	users   map[string]string // user names by what they are asked for by
	answer  error
	sweep   error
	life    time.Duration // of a token, whatever was asked for; 0 = as asked
	asked   []string      // for whom
	by      []filehost.Credential
	lives   []time.Duration
	swept   chan filehost.Credential
	expires time.Time
}

// MintAppToken implements filehost.AppTokens.
func (m *tokenMaker) MintAppToken(_ context.Context, by filehost.Credential, name string, life time.Duration) (filehost.AppToken, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.asked, m.by, m.lives = append(m.asked, name), append(m.by, by), append(m.lives, life)
	user, ok := m.users[name]
	switch {
	case m.answer != nil:
		return filehost.AppToken{}, m.answer
	case !ok:
		return filehost.AppToken{}, filehost.E(filehost.NotFound, "no such user", nil)
	case m.life != 0:
		life = m.life
	}
	return filehost.AppToken{Username: user, Secret: filehost.NewSecret(fmt.Sprint("canary app token ", len(m.asked))), Expires: m.now().Add(life)}, nil
}

// SweepAppTokens implements filehost.AppTokens.
func (m *tokenMaker) SweepAppTokens(_ context.Context, credential filehost.Credential) error {
	m.swept <- credential
	return m.sweep
}

// AppTokenExpiry implements filehost.AppTokens.
func (m *tokenMaker) AppTokenExpiry(context.Context, filehost.Credential) (time.Time, error) {
	return m.expires, nil
}

func (m *tokenMaker) count() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.asked)
}

// people makes single sign-on vouch for ann, and nothing for bob.
func people(_ context.Context, userID string) (filehost.Identity, error) {
	who := filehost.Identity{UserID: userID, Username: userID, Email: "alan@example.com", EmailVerified: true, Active: true}
	if userID == ann {
		who.AuthService, who.AuthData = "openid", "alan-of-sso"
	}
	return who, nil
}

func (w *world) makesTokens() (*tokenMaker, func(*Config)) {
	maker := &tokenMaker{now: w.clock.Now, users: map[string]string{"alan-of-sso": "alan"}, swept: make(chan filehost.Credential, 100)}
	return maker, func(c *Config) {
		c.Methods = []filehost.Method{filehost.MethodAppToken, filehost.MethodPassword}
		c.OAuth, c.AppTokens, c.Identify = OAuth{}, maker, people
		c.Subject = Subject{Claim: SubjectAuthData, Service: "openid"}
		c.ServiceAccount = ServiceAccount{User: "admin", Secret: filehost.NewSecret("canary-admin-token")}
	}
}

func TestAnAppTokenIsMadeForWhoSingleSignOnVouchesFor(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	node := w.node(edit)
	credential := w.credential(node, ann)
	require.Equal(t, filehost.Basic, credential.Scheme)
	require.Equal(t, "alan", credential.Username)
	require.Equal(t, "alan", credential.Account)
	require.Equal(t, "canary app token 1", credential.Secret.Reveal())
	require.Equal(t, []string{"alan-of-sso"}, maker.asked)
	require.Equal(t, 5*time.Minute, maker.lives[0])
	require.Equal(t, "admin", maker.by[0].Username)
	require.Equal(t, ann, maker.by[0].UserID)
	require.Equal(t, credential.Secret, (<-maker.swept).Secret)
	require.Equal(t, "canary app token 1", w.credential(w.node(edit), ann).Secret.Reveal(), "one for all nodes")
	require.Equal(t, 1, maker.count())

	w.clock.Advance(4*time.Minute + 20*time.Second) // before the host lets it expire
	require.Equal(t, "canary app token 2", w.credential(node, ann).Secret.Reveal())
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, "app_token", connection.Grant)
	require.Equal(t, filehost.Connected, connection.State)

	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Equal(t, []string{"canary app token 2"}, w.ended)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, 2, maker.count())
}

func TestWhoIsNotVouchedForGetsNoAppToken(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	for _, claim := range []SubjectClaim{SubjectAuthData, SubjectEmail, SubjectUsername} {
		node := w.node(edit, func(c *Config) { c.Subject.Claim = claim })
		_, err := node.For(t.Context(), bob)
		requireKind(t, filehost.NotConnected, err)
		connection, err := node.Connection(t.Context(), bob)
		require.NoError(t, err)
		require.Equal(t, filehost.MethodAppToken, connection.Refused.Method)
	}
	require.Zero(t, maker.count())
}

func TestWhoHasNoAccountIsRefusedForFiveMinutes(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	maker.users = nil
	node := w.node(edit)
	for range 3 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
		require.ErrorContains(t, err, "has no account for you")
	}
	require.Equal(t, 1, maker.count())
	maker.users = map[string]string{"alan-of-sso": "alan"}
	w.clock.Advance(refusalTime)
	require.Equal(t, "alan", w.credential(node, ann).Username)
}

func TestAnAccountThatMayMakeNoAppTokensIsForTheAdmin(t *testing.T) {
	tests := map[string]struct {
		answer error
		want   filehost.Kind
		asked  int // at three uses on two nodes
	}{
		"rejected":               {filehost.E(filehost.CredentialRejected, "no", nil), filehost.NotConfigured, 1},
		"without impersonation":  {filehost.E(filehost.Forbidden, "no", nil), filehost.NotConfigured, 3},
		"without the service":    {filehost.E(filehost.Unsupported, "no", nil), filehost.NotConfigured, 3},
		"while the host is down": {filehost.E(filehost.HostUnavailable, "down", nil), filehost.HostUnavailable, 3},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			maker, edit := w.makesTokens()
			maker.answer = test.answer
			one, two := w.node(edit), w.node(edit)
			for _, node := range []*Store{one, two, one} {
				_, err := node.For(t.Context(), ann)
				requireKind(t, test.want, err)
				require.NotContains(t, err.Error(), "canary")
			}
			require.Equal(t, test.asked, maker.count())
			maker.answer = nil
			if test.want == filehost.NotConfigured && test.asked == 1 {
				requireKind(t, filehost.NotConfigured, one.CheckServiceAccount(t.Context()))
				edit2 := func(c *Config) { c.ServiceAccount.Secret = filehost.NewSecret("canary-another") }
				w.credential(w.node(edit, edit2), ann)
				return
			}
			w.credential(two, ann)
		})
	}
}

// The request is for a name that is vouched for of a user, who may have chosen it. What it meets is his until the host has
// said the same of the account itself.
func TestOneUsersNameDoesNotEndTheAccountThatMakesAppTokens(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	asked := 0
	var down error
	w.account = func(c filehost.Credential) (string, error) {
		asked++
		require.Equal(t, "admin", c.Username)
		return "admin", down
	}
	node := w.node(edit)
	maker.answer = filehost.E(filehost.CredentialRejected, "no", nil)
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	require.Equal(t, 1, asked)
	down = filehost.E(filehost.Maintenance, "down", nil)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.Maintenance, err)
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	require.Nil(t, connection.Refused)
	maker.answer = nil
	require.Equal(t, "alan", w.credential(w.node(edit), ann).Username, "nobody is stopped")
}

func TestAnAppTokenIsNotUsedLongerThanTheHostTakesIt(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	maker.life = time.Minute
	node := w.node(edit)
	w.credential(node, ann)
	w.clock.Advance(31 * time.Second)
	w.credential(node, ann)
	require.Equal(t, 2, maker.count())
	maker.life = 72 * time.Hour
	w.clock.Advance(31 * time.Second)
	w.credential(node, ann)
	w.clock.Advance(5 * time.Minute)
	w.credential(node, ann)
	require.Equal(t, 4, maker.count(), "nor longer than five minutes")
}

func TestTokensThatCantBeSweptStopNobody(t *testing.T) {
	w := newWorld(t)
	maker, edit := w.makesTokens()
	maker.sweep = filehost.E(filehost.HostUnavailable, "down", nil)
	node := w.node(edit)
	w.credential(node, ann)
	<-maker.swept
	node.config.Pending.running.Wait()
	require.Contains(t, w.log.String(), "could not be removed")
	require.NotContains(t, w.log.String(), "canary")
}

func TestAppTokensNeedAHostThatMakesThem(t *testing.T) {
	w := newWorld(t)
	_, edit := w.makesTokens()
	config := w.node(edit).config
	config.AppTokens = nil
	_, err := New(config)
	requireKind(t, filehost.NotConfigured, err)
}

func TestATypedAppTokenEndsWhenTheHostSaysSo(t *testing.T) {
	w := newWorld(t)
	maker := &tokenMaker{expires: w.clock.Now().Add(72 * time.Hour)}
	node := w.node(byPassword, func(c *Config) { c.AppTokens = maker })
	require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
	w.credential(node, ann)
	w.clock.Advance(72 * time.Hour)
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
}
