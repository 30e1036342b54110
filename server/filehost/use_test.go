package filehost_test

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// shared is a world in which everybody uses one account.
func shared() *world {
	w := newWorld()
	w.tokens.Grant, w.tokens.Account = "service_account", "shared"
	return w
}

// usedBy is an event of a user of that account.
func usedBy(user string, action filehost.AuditAction, outcome filehost.AuditOutcome, paths ...string) filehost.AuditEvent {
	event := filehost.AuditEvent{
		Action: action, Outcome: outcome, ActingUserID: user, HostID: filehost.DefaultHostID, Grant: "service_account", Account: "shared",
	}
	for _, path := range paths {
		event.Paths = append(event.Paths, filehosttest.MustPath(path))
	}
	return event
}

func TestEveryUseOfAccessThatIsNotTheUsersOwnIsInTheAuditLog(t *testing.T) {
	ctx := context.Background()
	failed := usedBy(alice, filehost.AuditList, filehost.AuditFail, "/none")
	failed.Code = "not_found"
	partly := usedBy(alice, filehost.AuditAttach, filehost.AuditSuccess, "/a", "/missing", "/b")
	partly.Failed = []filehost.Path{filehosttest.MustPath("/missing")}
	none := usedBy(alice, filehost.AuditAttach, filehost.AuditFail, "/missing")
	none.Code = "not_found"
	dry := attachment("/a")
	dry.DryRun = true
	for name, test := range map[string]struct {
		use  func(*world) error
		want []filehost.AuditEvent
	}{
		"a listing": {
			func(w *world) error { _, err := w.Browse(ctx, alice, filehost.Listing{}); return err },
			[]filehost.AuditEvent{usedBy(alice, filehost.AuditList, filehost.AuditAttempt, "/"), usedBy(alice, filehost.AuditList, filehost.AuditSuccess, "/")},
		},
		"a listing that fails": {
			func(w *world) error {
				_, err := w.Browse(ctx, alice, filehost.Listing{Folder: filehosttest.MustPath("/none")})
				return err
			},
			[]filehost.AuditEvent{usedBy(alice, filehost.AuditList, filehost.AuditAttempt, "/none"), failed},
		},
		"files, however many calls they take": {
			func(w *world) error { _, err := w.Attach(ctx, alice, attachment("/a", "/missing", "/b")); return err },
			[]filehost.AuditEvent{usedBy(alice, filehost.AuditAttach, filehost.AuditAttempt, "/a", "/missing", "/b"), partly},
		},
		"files that all fail": {
			func(w *world) error { _, err := w.Attach(ctx, alice, attachment("/missing")); return err },
			[]filehost.AuditEvent{usedBy(alice, filehost.AuditAttach, filehost.AuditAttempt, "/missing"), none},
		},
		"a dry run": {
			func(w *world) error { _, err := w.Attach(ctx, alice, dry); return err },
			[]filehost.AuditEvent{usedBy(alice, filehost.AuditAttach, filehost.AuditAttempt, "/a"), usedBy(alice, filehost.AuditAttach, filehost.AuditSuccess, "/a")},
		},
		"what is refused before the host is asked": {
			func(w *world) error { _, err := w.Attach(ctx, alice, attachment()); return err }, nil,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := shared()
			w.remote.AddFile("/a", []byte("first"), noon)
			w.remote.AddFile("/b", []byte("second"), noon)
			err := test.use(w)
			succeeds := len(test.want) > 0 && test.want[len(test.want)-1].Outcome == filehost.AuditSuccess
			assert.Equal(t, succeeds, err == nil, err)
			assert.Equal(t, test.want, w.audit.Events())
		})
	}
}

func TestAnAnswerFromMemoryUsesNothing(t *testing.T) {
	w, ask := threeItems()
	w.tokens.Grant = "service_account"
	_, err := w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	before, calls := len(w.audit.Events()), w.remote.Calls()
	_, err = w.Attach(t.Context(), alice, ask)
	require.NoError(t, err)
	assert.Equal(t, calls, w.remote.Calls())
	assert.Len(t, w.audit.Events(), before)
}

func TestWhatTheAuditLogDoesNotTakeIsNotDone(t *testing.T) {
	refusal := filehost.E(filehost.NotConfigured, "Nobody would keep it.", nil)
	for _, grant := range []string{"service_account", "app_token", "token_exchange", "jwt_bearer"} {
		w := shared()
		w.tokens.Grant = grant
		w.remote.AddFile("/a", []byte("first"), noon).Opened = func() { t.Error("a byte moved") }
		w.audit.Refuse(refusal)
		_, err := w.Browse(t.Context(), alice, filehost.Listing{})
		require.ErrorIs(t, err, refusal)
		_, err = w.Attach(t.Context(), alice, attachment("/a", "/a"))
		require.ErrorIs(t, err, refusal)
		assert.Zero(t, w.remote.Calls(), grant)
		assert.Empty(t, w.mattermost.Posts())
	}
}

func TestTheAttemptIsInTheAuditLogBeforeTheHostIsAsked(t *testing.T) {
	w := shared()
	var recorded int
	w.remote.AddFile("/a", []byte("first"), noon).Opened = func() { recorded = len(w.audit.Events()) }
	_, err := w.Attach(t.Context(), alice, attachment("/a"))
	require.NoError(t, err)
	assert.Equal(t, 1, recorded)
}

func TestAnOutcomeThatTheAuditLogDoesNotTakeChangesNothing(t *testing.T) {
	w := shared()
	w.remote.AddFile("/a", []byte("first"), noon).Read = func() { w.audit.Refuse(errors.New("full")) }
	attached, err := w.Attach(t.Context(), alice, attachment("/a"))
	require.NoError(t, err)
	assert.NotEmpty(t, attached.PostID)
}

func TestTheOutcomeIsRecordedOfARequestThatRanOutOfTime(t *testing.T) {
	w := shared()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	w.remote.AddFile("/a", []byte("first"), noon).Read = end
	_, _ = w.Attach(ctx, alice, attachment("/a"))
	require.Error(t, ctx.Err())
	assert.Len(t, w.audit.Events(), 2)
}

func TestAUsersOwnAccessLeavesNoTrailOfWhatHeReads(t *testing.T) {
	for _, grant := range []string{"authorization_code", "login_flow", "password"} {
		w := shared()
		w.tokens.Grant = grant
		_, err := w.Browse(t.Context(), alice, filehost.Listing{})
		require.NoError(t, err)
		assert.Empty(t, w.audit.Events(), grant)
	}
}

func TestConnectingAndDisconnectingAreInTheAuditLog(t *testing.T) {
	w := newWorld()
	w.tokens.Grant = "password"
	w.Methods = []filehost.Method{filehost.MethodPassword}
	event := func(action filehost.AuditAction) filehost.AuditEvent {
		return filehost.AuditEvent{Action: action, Outcome: filehost.AuditSuccess, ActingUserID: bob, HostID: filehost.DefaultHostID, Grant: "password", Account: "account"}
	}
	require.Error(t, w.ConnectWithPassword(t.Context(), bob, "user", filehost.NewSecret("wrong")))
	require.NoError(t, w.ConnectWithPassword(t.Context(), bob, "user", filehost.NewSecret("right")))
	w.audit.Refuse(errors.New("full"))
	require.NoError(t, w.Disconnect(t.Context(), bob), "nobody is kept connected because it can't be written down")
	w.audit.Refuse(nil)
	require.NoError(t, w.ConnectWithPassword(t.Context(), bob, "user", filehost.NewSecret("right")))
	require.NoError(t, w.Disconnect(t.Context(), bob))
	assert.Equal(t, []filehost.AuditEvent{event(filehost.AuditConnect), event(filehost.AuditConnect), event(filehost.AuditDisconnect)}, w.audit.Events())
}

func TestASignInThatComesBackAndAnAcceptedAccountAreConnections(t *testing.T) {
	w := newWorld()
	_, err := w.Callback(t.Context(), filehost.Callback{HostID: filehost.DefaultHostID, UserID: bob, Code: "good"})
	require.NoError(t, err)
	w.tokens.Offer("bot", filehost.Pending{Account: "bot"})
	require.NoError(t, w.Accept(t.Context(), "bot", true))
	var actions []filehost.AuditAction
	var users []string
	for _, event := range w.audit.Events() {
		actions, users = append(actions, event.Action), append(users, event.ActingUserID)
	}
	assert.Equal(t, []filehost.AuditAction{filehost.AuditConnect, filehost.AuditConnect}, actions)
	assert.Equal(t, []string{bob, "bot"}, users)

	w.tokens.Offer(alice, filehost.Pending{Account: "alice"})
	require.NoError(t, w.Accept(t.Context(), alice, false))
	assert.Len(t, w.audit.Events(), 2, "an account that was not wanted is none")
}
