package tokens

import (
	"context"
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// losses keeps what nodes were told of.
type losses struct {
	mu  sync.Mutex
	met []filehost.Loss
}

func (l *losses) report(config *Config) {
	config.Lost = func(_ context.Context, loss filehost.Loss) error {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.met = append(l.met, loss)
		return nil
	}
}

func (l *losses) all() []filehost.Loss {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]filehost.Loss{}, l.met...)
}

// reminded lets nodes remind users by a bot that the test looks at.
func (w *world) reminded(bot *filehosttest.Bot) func(*Config) {
	users := filehosttest.NewMattermost(filehost.User{ID: ann, Active: true}, filehost.User{ID: bob, Active: true})
	reminders := filehost.NewReminders(filehost.RemindersConfig{Host: w.host, Users: users.User, Bot: bot, KV: w.kv, Clock: w.clock, Log: slog.New(slog.DiscardHandler)})
	return func(c *Config) { c.Lost = reminders.Lost }
}

// TestADeadGrantIsToldOnceHoweverManyMeetIt lets a hundred callers on each of two nodes meet a refresh token that has died,
// and go on calling.
func TestADeadGrantIsToldOnceHoweverManyMeetIt(t *testing.T) {
	w := newWorld(t)
	bot := &filehosttest.Bot{}
	nodes := []*Store{w.node(impatient, w.reminded(bot)), w.node(impatient, w.reminded(bot))}
	w.connect(nodes[0], ann)
	w.expire()
	w.server.set(func(s *signInServer) { clear(s.tokens) })
	for range 2 {
		for _, err := range outcomes(200, func(i int) error {
			_, err := nodes[i%2].For(t.Context(), ann)
			return err
		}) {
			requireKind(t, filehost.NotConnected, err)
		}
	}
	for _, node := range nodes {
		node.config.Pending.running.Wait()
	}
	require.Len(t, bot.Sent(), 1)
	require.Contains(t, bot.Sent()[0].Text, "no longer accepts your sign-in as `alice`")
	require.Equal(t, 2, w.server.tokenCalls())
}

// TestADeathThatItsNodeDidNotLiveToTellIsToldByAnother kills the node between the two.
func TestADeathThatItsNodeDidNotLiveToTellIsToldByAnother(t *testing.T) {
	w := newWorld(t)
	killed := w.node()
	rejected := w.connect(killed, ann)
	require.NoError(t, killed.Reject(t.Context(), ann, rejected))
	bot := &filehosttest.Bot{}
	other := w.node(w.reminded(bot))
	_, err := other.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	eventually(t, func() bool { return len(bot.Sent()) == 1 })
}

func TestEveryWayToLoseAConnectionIsTold(t *testing.T) {
	for name, test := range map[string]struct {
		before func(*Config)
		lose   func(w *world, node *Store, old filehost.Credential) // on the node that has connected
		after  func(*Config)
		want   filehost.LossReason
		user   string // as the message names him
	}{
		"a credential that was rejected twice": {
			lose: func(w *world, node *Store, old filehost.Credential) {
				require.NoError(w.t, node.Reject(w.t.Context(), ann, old))
			},
			want: filehost.LostRejected, user: "alice",
		},
		"a password that was rejected": {
			before: byPassword,
			lose: func(w *world, node *Store, old filehost.Credential) {
				_, err := node.Renew(w.t.Context(), ann, old)
				requireKind(w.t, filehost.NotConnected, err)
			},
			after: byPassword, want: filehost.LostRejected, user: "alice-as-the-host-says",
		},
		"a key that is gone": {after: func(c *Config) { c.Cipher = newTestCipher(t, "another key") }, want: filehost.LostUnreadable},
		"another client":     {after: func(c *Config) { c.OAuth.ClientID = "other" }, want: filehost.LostSettings},
		"a method that is no longer allowed": {
			before: byPassword, want: filehost.LostMethod, user: "alice-as-the-host-says",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			edits := func(edit func(*Config)) []func(*Config) {
				if edit == nil {
					return nil
				}
				return []func(*Config){edit}
			}
			seen := &losses{}
			before := w.node(append(edits(test.before), seen.report)...)
			var old filehost.Credential
			if test.before != nil {
				require.NoError(t, before.ConnectWithPassword(t.Context(), ann, "alice", filehost.NewSecret("canary-app-password")))
				old = w.credential(before, ann)
			} else {
				old = w.connect(before, ann)
			}
			require.Empty(t, seen.all())
			if test.lose != nil {
				test.lose(w, before, old)
			}
			after := w.node(append(edits(test.after), isBot(bob), seen.report)...)
			_, err := after.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			_, err = after.Renew(t.Context(), ann, old)
			requireKind(t, filehost.NotConnected, err)
			before.config.Pending.running.Wait()
			after.config.Pending.running.Wait()
			require.NotEmpty(t, seen.all())
			first := seen.all()[0]
			require.Equal(t, filehost.Loss{UserID: ann, Account: test.user, Reason: test.want, Of: first.Of}, first)
			require.NotEmpty(t, first.Of)
			for _, loss := range seen.all() {
				require.Equal(t, first, loss, "who meets it twice tells the same")
			}
		})
	}
}

func TestWhatIsNoLossIsNotTold(t *testing.T) {
	for name, use := range map[string]func(w *world, node *Store){
		"a user who never connected": func(w *world, node *Store) {},
		"a disconnect": func(w *world, node *Store) {
			w.connect(node, ann)
			require.NoError(w.t, node.Disconnect(w.t.Context(), ann))
		},
		"a sign-in that ran out and has no refresh token": func(w *world, node *Store) {
			w.server.set(func(s *signInServer) { s.answer["refresh_token"] = nil })
			w.connect(node, ann)
			w.expire()
		},
	} {
		t.Run(name, func(t *testing.T) {
			w, seen := newWorld(t), &losses{}
			node := w.node(seen.report)
			use(w, node)
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.NotConnected, err)
			node.config.Pending.running.Wait()
			require.Empty(t, seen.all())
		})
	}
}

// TestLookingAtAConnectionTellsNobody shows that a message comes of a use only: a dialog that looks shows the loss itself.
func TestLookingAtAConnectionTellsNobody(t *testing.T) {
	w, seen := newWorld(t), &losses{}
	old := w.connect(w.node(), ann)
	node := w.node(func(c *Config) { c.Cipher = newTestCipher(t, "another key") }, seen.report)
	require.Equal(t, filehost.Reconnect, w.state(node, ann))
	require.NoError(t, node.Reject(t.Context(), ann, old))
	node.config.Pending.running.Wait()
	require.Empty(t, seen.all())
}

// TestAMessageThatHangsHoldsUpNobody shows that a caller gets his error while the message is still being sent.
func TestAMessageThatHangsHoldsUpNobody(t *testing.T) {
	w := newWorld(t)
	sending := make(chan struct{})
	node := w.node(func(c *Config) {
		c.Lost = func(ctx context.Context, _ filehost.Loss) error {
			close(sending)
			<-ctx.Done()
			return ctx.Err()
		}
	})
	require.NoError(t, node.Reject(t.Context(), ann, w.connect(node, ann)))
	<-sending
	for range 3 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConnected, err)
	}
	w.waiting(1)
	w.clock.Advance(time.Minute)
	eventually(t, func() bool { return len(w.log.String()) > 0 })
	require.Contains(t, w.log.String(), "could not be told")
}

func TestAPanicOfAReminderIsLogged(t *testing.T) {
	w := newWorld(t)
	node := w.node(func(c *Config) { c.Lost = func(context.Context, filehost.Loss) error { panic("canary") } })
	require.NoError(t, node.Reject(t.Context(), ann, w.connect(node, ann)))
	eventually(t, func() bool { return len(w.log.String()) > 0 })
	require.Contains(t, w.log.String(), "panic of type string")
	require.NotContains(t, w.log.String(), "canary")
}
