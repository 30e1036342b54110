package tokens

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// sharing makes a node give everybody one account, and lets people sign in with their own.
func sharing(config *Config) {
	config.Methods = []filehost.Method{filehost.MethodServiceAccount, filehost.MethodOAuth}
	config.ServiceAccount = ServiceAccount{User: "team@example.com", Secret: filehost.NewSecret("canary-shared-password")}
}

// sharedHost is a host that has the account, and counts how often it is asked for it.
type sharedHost struct {
	mu       sync.Mutex
	asked    int
	sent     []filehost.Credential
	answer   error
	password string
}

func (w *world) shares() *sharedHost {
	host := &sharedHost{password: "canary-shared-password"}
	w.account = func(c filehost.Credential) (string, error) {
		host.mu.Lock()
		defer host.mu.Unlock()
		host.asked++
		host.sent = append(host.sent, c)
		if host.answer == nil && c.Secret.Reveal() != host.password {
			return "", filehost.E(filehost.CredentialRejected, "no", nil)
		}
		return "team", host.answer
	}
	return host
}

func (h *sharedHost) count() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked
}

func (h *sharedHost) set(change func(*sharedHost)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

func TestEverybodyUsesTheServiceAccount(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	nodes := []*Store{w.node(sharing), w.node(sharing)}
	var given sync.Map
	for _, err := range outcomes(100, func(i int) error {
		credential, err := nodes[i%2].For(t.Context(), fmt.Sprint("user", i))
		given.Store(credential.Secret.Reveal()+credential.Username+credential.Account+string(credential.Scheme), true)
		return err
	}) {
		require.NoError(t, err)
	}
	var all []any
	given.Range(func(key, _ any) bool { all = append(all, key); return true })
	assert.Equal(t, []any{"canary-shared-passwordteam@example.comteamBasic"}, all)
	assert.Equal(t, 2, host.count(), "each node asks once whose it is")

	first, other := w.credential(nodes[0], ann), w.credential(nodes[1], ann)
	assert.Equal(t, first.Connection, other.Connection, "a cursor of one node is good on the other")
	assert.Equal(t, "service_account", first.Grant)
	raw, err := w.kv.Get(t.Context(), nodes[0].key("conn_", ann))
	require.NoError(t, err)
	assert.Nil(t, raw, "nothing is kept of who uses it, but when")

	connection, err := nodes[0].Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, filehost.Connection{State: filehost.Connected, Account: "team", Grant: "service_account", LastUsed: w.clock.Now().UTC().Truncate(time.Hour)}, connection)
}

func TestABearerTokenCanBeTheServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.shares()
	credential := w.credential(w.node(sharing, func(c *Config) { c.ServiceAccount.User = "" }), ann)
	assert.Equal(t, filehost.Bearer, credential.Scheme)
	assert.Empty(t, credential.Username)
	assert.Equal(t, "canary-shared-password", credential.Secret.Reveal())
}

func TestTheServiceAccountReadsOnlyUnlessTheAdminLetsItWrite(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	assert.True(t, w.credential(w.node(sharing), ann).ReadOnly)
	assert.False(t, w.credential(w.node(sharing, func(c *Config) { c.ServiceAccount.Writes = true }), ann).ReadOnly)
	assert.True(t, host.sent[0].ReadOnly, "also when the host is asked whose it is")
}

func TestARejectedServiceAccountIsNotSentAgain(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	host.password = "another"
	nodes := []*Store{w.node(sharing), w.node(sharing)}
	for range 5 {
		for _, node := range nodes {
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			assert.ErrorContains(t, err, "no longer accepts the account that everybody uses")
			assert.ErrorContains(t, err, "instead.", "what comes next")
			requireKind(t, filehost.NotConfigured, node.CheckServiceAccount(t.Context()))
		}
	}
	assert.Equal(t, 1, host.count(), "all nodes know it, and none tries again")
	w.clock.Advance(30 * 24 * time.Hour)
	_, err := w.node(sharing).For(t.Context(), bob)
	require.Error(t, err, "a node that starts knows it, too")
	assert.Equal(t, 1, host.count())
	connection, err := nodes[1].Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, filehost.Disconnected, connection.State)
	assert.Equal(t, filehost.MethodServiceAccount, connection.Refused.Method)

	renewed := func(c *Config) { c.ServiceAccount.Secret = filehost.NewSecret("another") }
	node := w.node(sharing, renewed)
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err, "a new secret is tried")
	require.NoError(t, node.CheckServiceAccount(t.Context()))
	assert.Equal(t, 2, host.count())
}

func TestManyUsersOfARejectedServiceAccountSendItOnce(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	host.password = "another"
	node := w.node(sharing)
	for _, err := range outcomes(50, func(i int) error {
		_, err := node.For(t.Context(), fmt.Sprint("user", i))
		return err
	}) {
		requireKind(t, filehost.NotConnected, err)
	}
	assert.Equal(t, 1, host.count())
}

func TestTheHostRejectsTheServiceAccountWhileItIsUsed(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	nodes := []*Store{w.node(sharing), w.node(sharing)}
	held := w.credential(nodes[0], ann)
	w.credential(nodes[1], bob)
	host.set(func(h *sharedHost) { h.asked, h.password = 0, "another" })
	for range 5 {
		_, err := nodes[0].Renew(t.Context(), ann, held)
		requireKind(t, filehost.NotConnected, err)
		_, err = nodes[1].For(t.Context(), bob)
		requireKind(t, filehost.NotConnected, err)
		_, err = nodes[1].Renew(t.Context(), bob, held)
		requireKind(t, filehost.NotConnected, err)
	}
	assert.Equal(t, 1, host.count())
}

// Apache answers 401 to who may not see a folder, however good his credential is.
func TestAFolderThatIsClosedToTheServiceAccountEndsNobodysAccess(t *testing.T) {
	w := newWorld(t)
	w.shares()
	node := w.node(sharing)
	held := w.credential(node, ann)
	for range 3 {
		_, err := node.Renew(t.Context(), ann, held)
		requireKind(t, filehost.Forbidden, err)
	}
	w.credential(node, bob)
	require.NoError(t, node.CheckServiceAccount(t.Context()))
}

func TestAHostThatDoesNotAnswerJudgesNothing(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	host.answer = filehost.E(filehost.HostUnavailable, "down", nil)
	node := w.node(sharing)
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.HostUnavailable, err)
	assert.Equal(t, filehost.Connected, w.state(node, ann))

	host.set(func(h *sharedHost) { h.answer = nil })
	held := w.credential(node, ann)
	host.set(func(h *sharedHost) { h.answer = filehost.E(filehost.HostUnavailable, "down", nil) })
	_, err = node.Renew(t.Context(), ann, held)
	requireKind(t, filehost.HostUnavailable, err)
	w.credential(node, ann)
}

func TestTheHealthCheckSendsTheServiceAccountSeldom(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	node := w.node(sharing)
	check := func() error {
		var err error
		for range 5 {
			err = node.CheckServiceAccount(t.Context())
		}
		return err
	}
	require.NoError(t, check())
	assert.Equal(t, 1, host.count())
	w.clock.Advance(acceptedTime - time.Second)
	require.NoError(t, check())
	assert.Equal(t, 1, host.count())
	w.clock.Advance(time.Second)
	host.set(func(h *sharedHost) { h.answer = filehost.E(filehost.RateLimited, "slowly", nil) })
	var degraded *filehost.Degraded
	require.ErrorAs(t, check(), &degraded)
	assert.Equal(t, 2, host.count())
	w.clock.Advance(unansweredTime)
	host.set(func(h *sharedHost) { h.answer, h.password = nil, "another" })
	requireKind(t, filehost.NotConfigured, check())
	assert.Equal(t, 3, host.count())
	w.clock.Advance(24 * time.Hour)
	err := check()
	requireKind(t, filehost.NotConfigured, err)
	assert.ErrorContains(t, err, filehost.LabelOf("ServiceAccountSecret"))
	assert.Equal(t, 3, host.count())

	assert.NoError(t, w.node().CheckServiceAccount(t.Context()), "where there is none")
}

func TestWhoDisconnectsFromTheServiceAccountStaysOut(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	node := w.node(sharing)
	w.credential(node, ann)
	require.NoError(t, node.Disconnect(t.Context(), ann))
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	assert.ErrorContains(t, err, "was ended")
	connection, err := node.Connection(t.Context(), ann)
	require.NoError(t, err)
	assert.True(t, connection.Declined)
	assert.Equal(t, filehost.Disconnected, connection.State)
	w.credential(node, bob)
	assert.Empty(t, w.ended, "the account itself is not ended")
	assert.Equal(t, 1, host.count())

	require.NoError(t, node.ConnectAutomatically(t.Context(), ann))
	w.credential(node, ann)
}

func TestAnAccountOfOnesOwnComesBeforeTheServiceAccount(t *testing.T) {
	w := newWorld(t)
	w.shares()
	node := w.node(sharing)
	w.credential(node, ann)
	own := w.connect(node, ann)
	assert.Equal(t, codeGrant, own.Grant)
	assert.Equal(t, "service_account", w.credential(node, bob).Grant)
	require.NoError(t, node.Reject(t.Context(), ann, own))
	assert.Equal(t, "service_account", w.credential(node, ann).Grant, "what has ended hinders nobody")
}

func TestAChangedServiceAccountIsAnotherConnection(t *testing.T) {
	w := newWorld(t)
	w.account = func(filehost.Credential) (string, error) { return "team", nil }
	before := w.credential(w.node(sharing), ann)
	for name, change := range map[string]func(*Config){
		"another secret": func(c *Config) { c.ServiceAccount.Secret = filehost.NewSecret("canary") },
		"another user":   func(c *Config) { c.ServiceAccount.User = "x" },
		"another host":   func(c *Config) { base := *c.Host.BaseURL; base.Host = "other.example.com"; c.Host.BaseURL = &base },
	} {
		after := w.credential(w.node(sharing, change), ann)
		assert.NotEqual(t, before.Connection, after.Connection, name)
		assert.NotContains(t, after.Connection, after.Secret.Reveal())
	}
}

func TestAStoreThatFailsGivesNoServiceAccount(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	node := w.node(sharing)
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if key == node.shared.markKey() {
			return errors.New("down")
		}
		return nil
	})
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.Internal, err)
	assert.Zero(t, host.count(), "whether it may be sent can't be told")
	require.Error(t, node.CheckServiceAccount(t.Context()))

	host.password = "another"
	var reads atomic.Int32
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if key == node.shared.markKey() && reads.Add(1) > 1 {
			return errors.New("down")
		}
		return nil
	})
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	w.kv.Fail(nil)
	_, err = node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	assert.Equal(t, 1, host.count(), "this node knows, though the others could not be told")
	assert.Equal(t, filehost.Disconnected, w.state(node, ann))
}

func TestWhoWasAboutToSendARejectedServiceAccountDoesNot(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	host.password = "another"
	node := w.node(sharing, impatient)
	var reads atomic.Int32
	reading, rejected := make(chan struct{}), make(chan struct{})
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		switch {
		case key != node.shared.markKey():
		case op == filehosttest.CompareAndSet:
			return errors.New("down") // so that only this node's memory knows
		case reads.Add(1) == 1:
			close(reading)
			<-rejected
		}
		return nil
	})
	late := make(chan error, 1)
	go func() {
		_, err := node.For(t.Context(), bob)
		late <- err
	}()
	<-reading // bob has found nothing against it in memory
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	close(rejected)
	requireKind(t, filehost.NotConnected, <-late)
	assert.Equal(t, 1, host.count())
}

func TestWhoLeavesDoesNotEndTheQuestionThatOthersWaitFor(t *testing.T) {
	w := newWorld(t)
	asked, answer := make(chan struct{}), make(chan struct{})
	w.account = func(filehost.Credential) (string, error) {
		close(asked)
		<-answer
		return "team", nil
	}
	node := w.node(sharing)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	left := make(chan error, 1)
	go func() {
		_, err := node.For(ctx, ann)
		left <- err
	}()
	<-asked
	leave()
	requireKind(t, filehost.Timeout, <-left)
	stays := make(chan error, 1)
	go func() {
		_, err := node.For(t.Context(), bob)
		stays <- err
	}()
	close(answer)
	require.NoError(t, <-stays)
}

func TestTheServiceAccountPrintsNoSecret(t *testing.T) {
	w := newWorld(t)
	host := w.shares()
	host.password = "another"
	node := w.node(sharing)
	_, err := node.For(t.Context(), ann)
	var r report
	r.add(node, node.shared, node.shared.everybody, node.config.ServiceAccount, err, node.CheckServiceAccount(t.Context()))
	assert.NotContains(t, r.String(), "canary")
	assert.NotContains(t, w.log.String(), "canary")
	assert.Contains(t, w.log.String(), "rejects the service account")
	raw, err := w.kv.Get(t.Context(), node.shared.markKey())
	require.NoError(t, err)
	assert.NotContains(t, string(raw), "canary")
	assert.NotEmpty(t, raw)
}
