package tokens

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// chosen is whom the admin lets have access without an act of theirs: nobody, until it is set.
type chosen struct {
	filehost.Members
	everyone bool // whom the audience says
	in       atomic.Bool
	err      error
}

// audienceOfTests is what the nodes ask of.
var audienceOfTests = filehost.Audience{Teams: []string{"chosen"}}

func (c *chosen) IsIn(_ context.Context, _ string, audience filehost.Audience) (bool, error) {
	switch {
	case c.everyone:
		return audience.Everyone, nil
	case !slices.Equal(audience.Teams, audienceOfTests.Teams):
		return true, errors.New("asked of another audience")
	}
	return c.in.Load(), c.err
}

func (c *chosen) choose(config *Config) { config.Members, config.AutomaticFor = c, audienceOfTests }

// automaticNodes are nodes whose first method needs no act of the user, by its name.
func automaticNodes(w *world, edits ...func(*Config)) map[string]*Store {
	return map[string]*Store{
		"token_exchange":  automatically(w.node(append(edits, impatient)...), &issuer{}),
		"service_account": w.node(append(edits, impatient, sharing)...),
	}
}

func TestWhoIsNotChosenIsInTheAuditLogOnceAnHourAndNotAtEachLook(t *testing.T) {
	for name := range automaticNodes(newWorld(t)) {
		w, who, log := newWorld(t), &chosen{}, &filehosttest.Audit{}
		w.shares()
		node := automaticNodes(w, who.choose, func(c *Config) { c.Audit = log })[name]
		refused := func() (lines int) {
			_, _ = node.For(t.Context(), ann)
			for _, event := range log.Events() {
				if event.Code == codeNotChosen && event.ActingUserID == ann {
					lines++
				}
			}
			return lines
		}
		for range 5 {
			require.Equal(t, 1, refused(), name)
		}
		_, _ = node.For(t.Context(), bob)
		require.Equal(t, 1, refused(), "another's is his own")
		w.clock.Advance(time.Hour)
		require.Equal(t, 2, refused(), name)
		who.in.Store(true)
		require.Equal(t, 2, refused(), name)
		who.in.Store(false)
		require.Equal(t, 3, refused(), "who was in and is out again")
	}
}

func TestOnlyWhomTheAdminHasChosenHasAccessWithoutSigningIn(t *testing.T) {
	for name := range automaticNodes(newWorld(t)) {
		t.Run(name, func(t *testing.T) {
			w, who, log := newWorld(t), &chosen{}, &filehosttest.Audit{}
			w.shares()
			node := automaticNodes(w, who.choose, func(c *Config) { c.Audit = log })[name]
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			assert.ErrorContains(t, err, "your admin has chosen")
			assert.ErrorContains(t, err, "instead.", "what comes next")
			require.Error(t, node.ConnectAutomatically(t.Context(), ann))
			connection, err := node.Connection(t.Context(), ann)
			require.NoError(t, err)
			assert.Equal(t, filehost.Disconnected, connection.State)
			assert.Equal(t, filehost.Method(name), connection.Refused.Method)
			assert.Contains(t, log.Events(), filehost.AuditEvent{Action: filehost.AuditAutoConnect, Outcome: filehost.AuditFail,
				ActingUserID: ann, HostID: filehost.DefaultHostID, Grant: name, Code: "not_chosen"})

			who.in.Store(true)
			credential, err := node.For(t.Context(), ann)
			require.NoError(t, err, "who joins is in at once")
			assert.Equal(t, name, credential.Grant)
			assert.Equal(t, filehost.Connected, w.state(node, ann))

			who.in.Store(false)
			_, err = node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			connection, err = node.Connection(t.Context(), ann)
			require.NoError(t, err)
			assert.Equal(t, filehost.Disconnected, connection.State, "who leaves is out at once, whatever was made before")
			assert.Empty(t, connection.Account)
		})
	}
}

func TestNobodyIsChosenWhereThatCantBeLookedUp(t *testing.T) {
	for name := range automaticNodes(newWorld(t)) {
		w := newWorld(t)
		nobody := automaticNodes(w, func(c *Config) { c.Members = nil })[name]
		_, err := nobody.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
		node := automaticNodes(w, (&chosen{err: errors.New("down")}).choose)[name]
		_, err = node.For(t.Context(), ann)
		requireKind(t, filehost.Internal, err)
		_, err = node.Connection(t.Context(), ann)
		requireKind(t, filehost.Internal, err)
	}
}

func TestAnAccountOfOnesOwnNeedsNobodysChoice(t *testing.T) {
	for name := range automaticNodes(newWorld(t)) {
		w, who := newWorld(t), &chosen{}
		node := automaticNodes(w, who.choose)[name]
		own := w.connect(node, ann)
		assert.Equal(t, codeGrant, own.Grant)
		assert.False(t, own.ReadOnly)
		require.NoError(t, node.Reject(t.Context(), ann, own))
		_, err := node.For(t.Context(), ann)
		assert.ErrorContains(t, err, "Connect again", "it can be had again, and is not mixed up with what he can't have")
		assert.Equal(t, filehost.Reconnect, w.state(node, ann))
	}
}

func TestConnectingByItselfIsInTheAuditLog(t *testing.T) {
	w, log, method := newWorld(t), &filehosttest.Audit{}, &issuer{}
	node := automatically(w.node(impatient, func(c *Config) { c.Audit = log }), method)
	event := filehost.AuditEvent{Action: filehost.AuditAutoConnect, Outcome: filehost.AuditSuccess, ActingUserID: ann, HostID: filehost.DefaultHostID, Grant: "token_exchange", Account: ann}
	for range 3 {
		_, err := node.For(t.Context(), ann)
		require.NoError(t, err)
	}
	w.clock.Advance(automaticLife)
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, []filehost.AuditEvent{event}, log.Events(), "once, and not each time that it is renewed")

	method.fail(&refusal{reason: "No."})
	for range 3 {
		_, err = node.For(t.Context(), bob)
		require.Error(t, err)
	}
	event.Outcome, event.ActingUserID, event.Account, event.Code = filehost.AuditFail, bob, "", "refused"
	assert.Equal(t, event, log.Events()[1])
	assert.Len(t, log.Events(), 2)

	log.Refuse(errors.New("full"))
	method.fail(nil)
	_, err = node.For(t.Context(), "carla")
	require.NoError(t, err, "what is done with it is written down before it is done")
}

func TestTheEndOfAKeyRotationIsInTheAuditLogOnce(t *testing.T) {
	w, log := newWorld(t), &filehosttest.Audit{}
	w.connect(w.node(with(t, "old")), ann)
	ctx, end := context.WithCancel(t.Context())
	defer end()
	listed := make(chan struct{}, 2)
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if op == filehosttest.List {
			listed <- struct{}{}
		}
		return nil
	})
	node := w.node(with(t, "new", "old"), impatient, func(c *Config) { c.Audit = log })
	done := make(chan struct{})
	go func() {
		defer close(done)
		node.Reencrypt(ctx)
	}()
	for range 3 { // the third look has begun: what the first and the second did is over
		<-listed
	}
	end()
	for over := false; !over; {
		select {
		case <-listed:
		case <-done:
			over = true
		}
	}
	assert.Equal(t, []filehost.AuditEvent{{Action: filehost.AuditKeyRotation, Outcome: filehost.AuditSuccess, HostID: filehost.DefaultHostID}}, log.Events())
}
