package tokens

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// issuer is an automatic method whose answers a test decides.
type issuer struct {
	asked atomic.Int32
	mu    sync.Mutex
	err   error
	held  chan struct{} // when not nil, answers wait for it
}

func (i *issuer) fail(err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.err = err
}

func (i *issuer) issue(_ context.Context, who filehost.Identity) (issued, error) {
	i.asked.Add(1)
	if i.held != nil {
		<-i.held
	}
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.err != nil {
		return issued{}, i.err
	}
	return issued{AccessToken: filehost.NewSecret("canary-issued-for-" + who.UserID), RefreshToken: filehost.NewSecret("canary-never-kept"), Account: who.Username}, nil
}

// automatically makes a node connect by an automatic method first, and by OAuth where that refuses.
func automatically(node *Store, method *issuer) *Store {
	node.config.Methods = []filehost.Method{filehost.MethodTokenExchange, filehost.MethodOAuth}
	node.automatic = method
	return node
}

func TestTheFirstUseConnectsOnceAcrossNodes(t *testing.T) {
	w, method := newWorld(t), &issuer{held: make(chan struct{})}
	nodes := []*Store{automatically(w.node(impatient), method), automatically(w.node(impatient), method)}
	var callers sync.WaitGroup
	secrets := make(chan string, 200)
	for i := range 200 {
		callers.Go(func() {
			credential, err := nodes[i%2].For(t.Context(), ann)
			if assert.NoError(t, err) {
				secrets <- credential.Secret.Reveal()
			}
		})
	}
	close(method.held)
	callers.Wait()
	close(secrets)
	for secret := range secrets {
		assert.Equal(t, "canary-issued-for-"+ann, secret)
	}
	assert.EqualValues(t, 1, method.asked.Load())

	connection, err := nodes[1].Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, filehost.Connected, connection.State)
	assert.Equal(t, "token_exchange", connection.Grant)
	assert.Equal(t, ann, connection.Account)
}

func TestACredentialWithoutAnActOfItsUserLastsFiveMinutes(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient), method)
	first, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	found, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	assert.True(t, found.RefreshToken.IsEmpty(), "the method gave one, and nothing may outlive its use")

	w.clock.Advance(automaticLife - time.Second)
	again, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, first.Generation, again.Generation)
	w.clock.Advance(time.Second)
	next, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.NotEqual(t, first.Generation, next.Generation)
	assert.Equal(t, first.Connection, next.Connection, "cursors go on")
	assert.EqualValues(t, 2, method.asked.Load())

	w.clock.Advance(automaticKept)
	found, err = node.load(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, absent, found.State, "the store keeps nothing of who is gone")
}

func TestARefusalIsRememberedForAWhile(t *testing.T) {
	w, method := newWorld(t), &issuer{err: &refusal{reason: "You have no account there."}}
	node := automatically(w.node(impatient), method)
	for range 3 {
		_, err := node.For(t.Context(), ann)
		assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
		assert.ErrorContains(t, err, "You have no account there.")
		assert.ErrorContains(t, err, "instead.", "what comes next")
	}
	assert.EqualValues(t, 1, method.asked.Load())
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, filehost.Disconnected, connection.State)
	assert.Equal(t, &filehost.Refusal{Method: filehost.MethodTokenExchange, Reason: "You have no account there."}, connection.Refused)

	method.fail(nil)
	require.NoError(t, node.ConnectAutomatically(t.Context(), ann), "the user may try again at once")
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err)

	method.fail(&refusal{reason: "No."})
	_, err = node.For(t.Context(), bob)
	require.Error(t, err)
	method.fail(nil)
	w.clock.Advance(refusalTime)
	_, err = node.For(t.Context(), bob)
	require.NoError(t, err)
}

func TestAMethodThatFailsRefusesNobody(t *testing.T) {
	w, method := newWorld(t), &issuer{err: &tokenError{Status: 503}}
	node := automatically(w.node(impatient), method)
	_, err := node.For(t.Context(), ann)
	assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err))
	raw, err := w.kv.Get(t.Context(), node.key("conn_", ann))
	require.NoError(t, err)
	assert.Nil(t, raw)
	method.fail(nil)
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err)
}

func TestWhoHasDisconnectedIsNotConnectedByItself(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient), method)
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	require.NoError(t, node.Disconnect(t.Context(), ann))
	w.clock.Advance(24 * time.Hour)
	_, err = node.For(t.Context(), ann)
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	assert.ErrorContains(t, err, "was ended")
	assert.EqualValues(t, 1, method.asked.Load())
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.True(t, connection.Declined, "a client that connects by itself must know")
	require.NoError(t, node.ConnectAutomatically(t.Context(), ann))
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err)
}

// A user who insists, refused or not, costs the sign-in server a few requests, and nobody else anything.
func TestWhoWantsToBeConnectedAgainAndAgainIsNotAskedForEachTime(t *testing.T) {
	w, method := newWorld(t), &issuer{err: &refusal{reason: "No."}}
	nodes := []*Store{automatically(w.node(impatient), method), automatically(w.node(impatient), method)}
	_, err := nodes[0].For(t.Context(), ann)
	require.Error(t, err)
	for i := range 50 {
		err := nodes[i%2].ConnectAutomatically(t.Context(), ann)
		if i < userConnects {
			requireKind(t, filehost.NotConnected, err)
			continue
		}
		requireWait(t, failureTime, err)
	}
	assert.EqualValues(t, 1+userConnects, method.asked.Load())
	connection, err := nodes[0].Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.NotNil(t, connection.Refused, "he stays refused")

	method.fail(nil)
	method.asked.Store(0)
	for i := range 1 + userConnects { // one who is let in
		require.NoError(t, nodes[i%2].ConnectAutomatically(t.Context(), bob))
		require.NoError(t, nodes[i%2].Disconnect(t.Context(), bob))
	}
	requireWait(t, failureTime, nodes[0].ConnectAutomatically(t.Context(), bob))
	assert.EqualValues(t, 1+userConnects, method.asked.Load())
	connection, err = nodes[0].Connection(t.Context(), bob)
	require.NoError(t, err)
	assert.True(t, connection.Declined)

	w.clock.Advance(failureTime)
	require.NoError(t, nodes[0].ConnectAutomatically(t.Context(), bob))
}

func TestBotsAndDeactivatedUsersGetNothingByThemselves(t *testing.T) {
	for name, who := range map[string]filehost.Identity{"a bot": {UserID: ann, Bot: true, Active: true}, "a deactivated user": {UserID: ann}} {
		t.Run(name, func(t *testing.T) {
			w, method := newWorld(t), &issuer{}
			node := automatically(w.node(impatient, func(c *Config) {
				c.Identify = func(context.Context, string) (filehost.Identity, error) { return who, nil }
			}), method)
			_, err := node.For(t.Context(), ann)
			assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
			assert.Zero(t, method.asked.Load())
		})
	}
}

func TestAnAccountOfOnesOwnComesBeforeAnAutomaticOne(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient), method)
	w.connect(node, ann)
	credential, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.NotContains(t, credential.Secret.Reveal(), "issued")
	assert.Zero(t, method.asked.Load())
}

func TestWhatAnAutomaticMethodReplacesIsRevoked(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	before := w.node(impatient)
	w.connect(before, ann)
	held, err := before.For(t.Context(), ann)
	require.NoError(t, err)
	node := automatically(w.node(impatient), method)
	node.config.Methods = node.config.Methods[:1] // OAuth is no way to connect any more
	credential, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, "canary-issued-for-"+ann, credential.Secret.Reveal())
	node.config.Pending.Wait()
	w.ending.Lock()
	defer w.ending.Unlock()
	assert.Contains(t, w.ended, held.Secret.Reveal())
}

func TestAnAutomaticCredentialThatTheHostRejectsTwiceIsNotMadeAgainAtOnce(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient), method)
	first, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	second, err := node.Renew(t.Context(), ann, first)
	require.NoError(t, err)
	require.NoError(t, node.Reject(t.Context(), ann, second))
	_, err = node.For(t.Context(), ann)
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
	assert.EqualValues(t, 2, method.asked.Load())
}

func TestANodeThatDiedOverAnAutomaticMethodIsSucceeded(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient), method)
	read, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	for range 3 { // however many have died
		leased := node.vacant(read).as(refreshing)
		leased.Lease = &lease{Owner: "gone", Deadline: w.clock.Now().Add(leaseTime), Attempt: 2}
		_, won, err := node.swap(t.Context(), ann, read, leased)
		require.NoError(t, err)
		require.True(t, won)
		w.clock.Advance(leaseTime + clockSkew + time.Second)
		_, err = node.For(t.Context(), ann)
		require.NoError(t, err)
		read, err = node.load(t.Context(), ann)
		require.NoError(t, err)
	}
	assert.EqualValues(t, 3, method.asked.Load())
}

func TestAFailingLookUpOfTheUserIsNoRefusal(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient, func(c *Config) {
		c.Identify = func(context.Context, string) (filehost.Identity, error) {
			return filehost.Identity{}, errors.New("down")
		}
	}), method)
	_, err := node.For(t.Context(), ann)
	require.Error(t, err)
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.Nil(t, connection.Refused)
}

// TestAGrantOfOnesOwnOutlivesARefusal shows it for one whose method the admin has taken away, and gives back.
func TestAGrantOfOnesOwnOutlivesARefusal(t *testing.T) {
	w, method := newWorld(t), &issuer{err: &refusal{reason: "No."}}
	before := w.node(w.revoking, impatient)
	access := w.connect(before, ann).Secret.Reveal()
	during := automatically(w.node(w.revoking, impatient), method)
	during.config.Methods = during.config.Methods[:1]
	for range 2 {
		_, err := during.For(t.Context(), ann)
		assert.ErrorContains(t, err, "No.")
	}
	assert.EqualValues(t, 1, method.asked.Load(), "the refusal is remembered all the same")
	assert.True(t, w.server.accepts(access))
	assert.Equal(t, filehost.Connected, w.state(before, ann), "under the settings that it was made for")
	w.clock.Advance(refusalTime)
	assert.Equal(t, filehost.Connected, w.state(before, ann))

	require.NoError(t, during.Disconnect(t.Context(), ann))
	assert.False(t, w.server.accepts(access), "who disconnects ends it, too")
}

func TestAGrantOfOnesOwnOutlivesANodeThatDiesInItsPlace(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	before := w.node(w.revoking, impatient)
	access := w.connect(before, ann).Secret.Reveal()
	node := automatically(w.node(w.revoking, impatient), method)
	node.config.Methods = node.config.Methods[:1]
	read, err := node.load(t.Context(), ann)
	require.NoError(t, err)
	require.Equal(t, outdated, read.State)
	leased := node.vacant(read).as(refreshing)
	leased.Lease = &lease{Owner: "gone", Deadline: w.clock.Now().Add(leaseTime), Attempt: 1}
	_, won, err := node.swap(t.Context(), ann, read, leased)
	require.NoError(t, err)
	require.True(t, won)

	w.clock.Advance(automaticKept)
	assert.Equal(t, filehost.Connected, w.state(before, ann), "under the settings that it was made for")
	method.fail(&tokenError{Status: 503})
	_, err = node.For(t.Context(), ann)
	require.Error(t, err)
	assert.Equal(t, filehost.Connected, w.state(before, ann))
	assert.True(t, w.server.accepts(access))

	method.fail(nil)
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err)
	node.config.Pending.running.Wait()
	assert.False(t, w.server.accepts(access), "it is revoked when something has taken its place, and not before")
}

func TestWhatAnAutomaticMethodMadeUnderOtherSettingsIsNotKeptForEver(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	_, err := automatically(w.node(impatient), method).For(t.Context(), ann)
	require.NoError(t, err)
	method.fail(&tokenError{Status: 503})
	other := automatically(w.node(impatient, func(c *Config) { c.OAuth.ClientID = "another" }), method)
	_, err = other.For(t.Context(), ann)
	require.Error(t, err)
	w.clock.Advance(automaticKept)
	assert.NotContains(t, w.kv.Keys(), other.key("conn_", ann))
}

func TestNothingIsRevokedOfWhoWasRefused(t *testing.T) {
	for name, act := range map[string]func(*world, *Store){
		"a disconnect":   func(w *world, node *Store) { require.NoError(w.t, node.Disconnect(w.t.Context(), ann)) },
		"a new sign-in":  func(w *world, node *Store) { w.connect(node, ann) },
		"another method": func(w *world, node *Store) { require.Error(w.t, node.ConnectAutomatically(w.t.Context(), ann)) },
	} {
		t.Run(name, func(t *testing.T) {
			w, method := newWorld(t), &issuer{err: &refusal{reason: "No."}}
			node := automatically(w.node(impatient), method)
			_, err := node.For(t.Context(), ann)
			require.Error(t, err)
			act(w, node)
			node.config.Pending.running.Wait()
			w.ending.Lock()
			defer w.ending.Unlock()
			assert.Empty(t, w.ended, "there is no credential that the host could be called with")
		})
	}
}

// TestATokenOfAnotherServerIsNotShownToTheHostToBeRevoked shows it where that server revokes nothing, as Dex.
func TestATokenOfAnotherServerIsNotShownToTheHostToBeRevoked(t *testing.T) {
	w, method := newWorld(t), &issuer{}
	node := automatically(w.node(impatient, func(c *Config) {
		c.OAuth.TokenURL, c.OAuth.AuthorizeURL = "https://login.example.com/token", "https://login.example.com/authorize"
	}), method)
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	require.NoError(t, node.Disconnect(t.Context(), ann))
	w.ending.Lock()
	defer w.ending.Unlock()
	assert.Empty(t, w.ended)
}
