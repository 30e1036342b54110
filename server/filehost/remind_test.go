package filehost_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func loss(of string) filehost.Loss {
	return filehost.Loss{UserID: alice, Account: "alice", Reason: filehost.LostRejected, Of: of}
}

func TestALossIsToldOnceByAllNodes(t *testing.T) {
	w := newWorld()
	nodes := []*filehost.Reminders{w.Reminders, filehost.NewReminders(w.Reminders.RemindersConfig)}
	var met, group sync.WaitGroup
	met.Add(40)
	for i := range 40 {
		group.Go(func() {
			met.Done()
			met.Wait()
			assert.NoError(t, nodes[i%2].Lost(t.Context(), loss("one")))
		})
	}
	group.Wait()
	require.Len(t, w.bot.Sent(), 1)
	sent := w.bot.Sent()[0]
	assert.Equal(t, alice, sent.UserID)
	assert.Equal(t, "`Cloud` no longer accepts your sign-in as `alice`. Connect again to get at your files there. "+
		"If you no longer need them in Mattermost, there is nothing to do.", sent.Text)
	assert.Equal(t, []filehost.Button{{Action: "connect", Label: "Connect again", HostID: "default"}, {Action: "code", Label: "Enter a code", HostID: "default"}}, sent.Buttons)
}

// TestWhoReadsAStaleReplicaTellsNobody lets a node see no trace of the reminder that another has sent.
func TestWhoReadsAStaleReplicaTellsNobody(t *testing.T) {
	w := newWorld()
	config := w.Reminders.RemindersConfig
	config.KV = staleKV{w.kv}
	behind := filehost.NewReminders(config)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	require.NoError(t, behind.Lost(t.Context(), loss("one")))
	assert.Len(t, w.bot.Sent(), 1)
}

// staleKV reads a replica that has got nothing yet.
type staleKV struct{ filehost.KV }

func (staleKV) Get(context.Context, string) ([]byte, error) { return nil, nil }

func TestASecondLossIsToldOnlyADayAfterTheFirst(t *testing.T) {
	w := newWorld()
	lose := func(of string, messages int) {
		t.Helper()
		require.NoError(t, w.Reminders.Lost(t.Context(), loss(of)))
		assert.Len(t, w.bot.Sent(), messages, of)
	}
	lose("one", 1)
	w.Reminders.Connected(t.Context(), alice)
	w.clock.Advance(24*time.Hour - time.Second)
	lose("two", 1)
	w.clock.Advance(time.Second)
	lose("one", 1)
	lose("two", 2)
	w.clock.Advance(48 * time.Hour)
	lose("two", 2)
}

// TestALossThatWasClaimedAndNotToldIsToldTheNextDay kills a node between the claim of a message and its sending.
func TestALossThatWasClaimedAndNotToldIsToldTheNextDay(t *testing.T) {
	w := newWorld()
	config := w.Reminders.RemindersConfig
	dead := false
	killed := errors.New("killed")
	config.Bot = slowBot{w.bot, func() { dead = true }}
	w.kv.Fail(func(op filehosttest.Op, _ string) error {
		if dead && op == filehosttest.CompareAndDelete {
			return killed
		}
		return nil
	})
	require.ErrorIs(t, filehost.NewReminders(config).Lost(t.Context(), loss("one")), killed)
	w.kv.Fail(nil)
	w.clock.Advance(24*time.Hour - time.Second)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	assert.Empty(t, w.bot.Sent(), "it may have been sent: there is one in 24 hours")
	w.clock.Advance(time.Second)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	require.Len(t, w.bot.Sent(), 1)
	w.clock.Advance(25 * time.Hour)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	assert.Len(t, w.bot.Sent(), 1)
}

func TestEachUserIsToldOfHisOwnLoss(t *testing.T) {
	w := newWorld()
	other := loss("one")
	other.UserID = bob
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	require.NoError(t, w.Reminders.Lost(t.Context(), other))
	assert.Len(t, w.bot.Sent(), 2)
}

func TestBotsAndDeactivatedUsersAreNotReminded(t *testing.T) {
	w := newWorld()
	for _, user := range []string{"bot", "gone", "nobody"} {
		require.NoError(t, w.Reminders.Lost(t.Context(), filehost.Loss{UserID: user, Of: "one"}), user)
	}
	assert.Empty(t, w.bot.Sent())
	assert.Empty(t, w.kv.Keys(), "nothing is claimed for them")
}

func TestAReminderThatCouldNotBeSentIsTriedAgain(t *testing.T) {
	w := newWorld()
	down := errors.New("down")
	w.bot.Fail(down)
	require.ErrorIs(t, w.Reminders.Lost(t.Context(), loss("one")), down)
	w.bot.Fail(nil)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	require.Len(t, w.bot.Sent(), 1)

	w.clock.Advance(25 * time.Hour)
	w.bot.Fail(down)
	require.ErrorIs(t, w.Reminders.Lost(t.Context(), loss("two")), down)
	w.bot.Fail(nil)
	w.Reminders.Connected(t.Context(), alice)
	assert.Equal(t, "You are connected to `Cloud` again.", w.bot.Sent()[0].Text, "the message before is known again")
}

// TestAClaimIsGivenBackAlsoWhenTheTimeIsOver ends the context while the message is being sent, in vain.
func TestAClaimIsGivenBackAlsoWhenTheTimeIsOver(t *testing.T) {
	w := newWorld()
	ctx, end := context.WithCancel(t.Context())
	defer end()
	config := w.Reminders.RemindersConfig
	config.Bot = slowBot{w.bot, end}
	require.Error(t, filehost.NewReminders(config).Lost(ctx, loss("one")))
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	assert.Len(t, w.bot.Sent(), 1)
}

// slowBot fails to send when its caller's time is over.
type slowBot struct {
	filehost.Bot
	end context.CancelFunc
}

func (b slowBot) Message(context.Context, string, filehost.Message) (string, error) {
	b.end()
	return "", context.DeadlineExceeded
}

// TestWithoutABotNobodyIsToldAndNothingIsClaimed shows that an admin who has disabled the bot on purpose pays nothing for it
// with each use of a connection that has ended.
func TestWithoutABotNobodyIsToldAndNothingIsClaimed(t *testing.T) {
	w := newWorld()
	w.bot.Disable(errors.New("disabled"))
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	assert.Empty(t, w.kv.Keys())
	w.bot.Disable(nil)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	assert.Len(t, w.bot.Sent(), 1)
}

func TestAStoreThatIsDownSendsNothing(t *testing.T) {
	for _, op := range []filehosttest.Op{filehosttest.Get, filehosttest.CompareAndSet} {
		w := newWorld()
		w.kv.Fail(func(now filehosttest.Op, _ string) error {
			if now == op {
				return errors.New("down")
			}
			return nil
		})
		require.Error(t, w.Reminders.Lost(t.Context(), loss("one")), op)
		assert.Empty(t, w.bot.Sent(), op)
	}
}

// TestEveryWayOfConnectingSettlesTheReminder shows that the button goes when it is no longer needed.
func TestEveryWayOfConnectingSettlesTheReminder(t *testing.T) {
	for name, connect := range map[string]func(w *world) error{
		"callback": func(w *world) error {
			_, err := w.Callback(t.Context(), filehost.Callback{UserID: alice, HostID: "default", Code: "good"})
			return err
		},
		"confirm": func(w *world) error {
			w.tokens.BeginConfirm(alice)
			return w.Confirm(t.Context(), alice, "ABCD-EFGH")
		},
		"account that was shown": func(w *world) error {
			w.tokens.Offer(alice, filehost.Pending{Account: "alice"})
			return w.Accept(t.Context(), alice, true)
		},
		"without an act of the user": func(w *world) error {
			w.Methods = []filehost.Method{filehost.MethodJWTBearer}
			_, err := w.Begin(t.Context(), alice, "")
			return err
		},
		"password": func(w *world) error {
			w.Methods = []filehost.Method{filehost.MethodPassword}
			return w.ConnectWithPassword(t.Context(), alice, "user", filehost.NewSecret("right"))
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
			require.NoError(t, connect(w))
			assert.Equal(t, filehost.Message{Text: "You are connected to `Cloud` again."}, w.bot.Sent()[0].Message)
			require.NoError(t, w.Reminders.Lost(t.Context(), loss("two")))
			assert.Len(t, w.bot.Sent(), 1, "the day is not over")
		})
	}
}

func TestAFailedSignInLeavesTheReminderAsItIs(t *testing.T) {
	w := newWorld()
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	_, err := w.Callback(t.Context(), filehost.Callback{UserID: alice, HostID: "default", Code: "bad"})
	require.Error(t, err)
	_, err = w.Callback(t.Context(), filehost.Callback{HostID: "default", Code: "good"})
	require.NoError(t, err, "without a session nobody is connected yet")
	w.tokens.Offer(alice, filehost.Pending{Account: "mallory"})
	require.NoError(t, w.Accept(t.Context(), alice, false))
	require.NoError(t, w.Disconnect(t.Context(), alice))
	assert.Len(t, w.bot.Sent()[0].Buttons, 2)
}

func TestAReminderThatCannotBeSettledKeepsNobodyFromConnecting(t *testing.T) {
	w := newWorld()
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("one")))
	w.bot.Delete("message0")
	w.Reminders.Connected(t.Context(), alice)
	assert.Empty(t, w.log.String(), "he may delete what is his")

	w.clock.Advance(25 * time.Hour)
	require.NoError(t, w.Reminders.Lost(t.Context(), loss("two")))
	w.bot.Fail(errors.New("down"))
	_, err := w.Callback(t.Context(), filehost.Callback{UserID: alice, HostID: "default", Code: "good"})
	require.NoError(t, err)
	assert.Contains(t, w.log.String(), "down")
}

func TestTheReasonOfALossIsInTheMessage(t *testing.T) {
	for reason, want := range map[filehost.LossReason]string{
		filehost.LostRejected: "no longer accepts", filehost.LostUnreadable: "encryption key has changed",
		filehost.LostSettings: "settings of `Cloud`", filehost.LostMethod: "admin has changed how",
	} {
		w := newWorld()
		require.NoError(t, w.Reminders.Lost(t.Context(), filehost.Loss{UserID: alice, Reason: reason, Of: "one"}))
		text := w.bot.Sent()[0].Text
		assert.Contains(t, text, want)
		assert.Contains(t, text, "Connect again")
		assert.NotContains(t, text, "as ``")
	}
}

// TestHostileNamesAreOnlyShown shows that in a reminder no name of the host's is a link, a mention or a picture.
func TestHostileNamesAreOnlyShown(t *testing.T) {
	for name, want := range map[string]string{
		"@all":                     "`@all`",
		"[x](javascript:alert(1))": "`[x](javascript:alert(1))`",
		"a` [x](https://evil) `b":  "`a' [x](https://evil) 'b`",
		"a\n\n# Pay\r\n![](x)":     "`a  # Pay  ![](x)`",
		"a\u202egpj.exe":           "`agpj.exe`",
		"\xff`":                    "`'`",
		"  ":                       "`?`",
		strings.Repeat("ü", 100):   "`" + strings.Repeat("ü", 64) + "…`",
	} {
		w := newWorld()
		lost := loss("one")
		lost.Account = name
		require.NoError(t, w.Reminders.Lost(t.Context(), lost))
		text := w.bot.Sent()[0].Text
		assert.Contains(t, text, " as "+want+".", name)
		assert.Equal(t, 4, strings.Count(text, "`"), "no name leaves its quotes: %s", text)
	}
}

func TestAPressBeginsTheSignInOfWhoPresses(t *testing.T) {
	w := newWorld()
	text, err := w.Resume(t.Context(), bob, "trigger")
	require.NoError(t, err)
	assert.Contains(t, text, "[Sign in](https://login.example.com/authorize?state=state)")
	text, err = w.Resume(t.Context(), "bot", "trigger")
	require.NoError(t, err)
	assert.Contains(t, text, "app password", "a bot has no browser")
	_, err = w.Resume(t.Context(), "gone", "trigger")
	assert.Equal(t, filehost.Forbidden, kindOf(err))

	for _, test := range []struct {
		methods []filehost.Method
		want    string
	}{
		{[]filehost.Method{filehost.MethodPassword}, "app password"},
		{[]filehost.Method{filehost.MethodLoginFlow}, "[Sign in](https://cloud.example.com/login/v2/flow/1)"},
		{[]filehost.Method{filehost.MethodJWTBearer, filehost.MethodPassword}, "app password"},
		{[]filehost.Method{filehost.MethodJWTBearer}, "You are connected"},
	} {
		w.Methods = test.methods
		text, err = w.Resume(t.Context(), bob, "trigger")
		require.NoError(t, err)
		assert.Contains(t, text, test.want, test.methods)
	}
}

func TestAPressShowsTheAccountThatWaits(t *testing.T) {
	w := newWorld()
	w.Methods = []filehost.Method{filehost.MethodLoginFlow}
	w.tokens.Offer(bob, filehost.Pending{Account: "b o b", DisplayName: "[Bob](https://evil.example.com)", Email: "bob@example.com"})
	text, err := w.Resume(t.Context(), bob, "trigger")
	require.NoError(t, err)
	assert.Empty(t, text, "the dialog says it all")
	asked := w.mattermost.Asked()
	require.Len(t, asked, 1)
	assert.Equal(t, "You have signed in to `Cloud` as `b o b`, `[Bob](https://evil.example.com)`, `bob@example.com`. Is that your own account?", asked[0].Text)
	assert.Equal(t, "default b o b", asked[0].State)
	assert.LessOrEqual(t, len(asked[0].Title), 24)

	require.NoError(t, w.AcceptShown(t.Context(), bob, "b o b", true))
	connection, err := w.Connection(t.Context(), bob)
	require.NoError(t, err)
	assert.Equal(t, filehost.Connected, connection.State)
}

// TestAnAccountThatTheUserHasNotSeenIsNotConnected replaces the account while the dialog is open.
func TestAnAccountThatTheUserHasNotSeenIsNotConnected(t *testing.T) {
	w := newWorld()
	w.tokens.Offer(bob, filehost.Pending{Account: "mallory"})
	for _, accept := range []bool{true, false} {
		assert.Equal(t, filehost.Conflict, kindOf(w.AcceptShown(t.Context(), bob, "bob", accept)))
	}
	connection, err := w.Connection(t.Context(), bob)
	require.NoError(t, err)
	assert.Equal(t, filehost.Disconnected, connection.State)
	require.NotNil(t, connection.Pending, "it waits on")
	assert.Equal(t, "mallory", connection.Pending.Account)
	require.NoError(t, w.AcceptShown(t.Context(), bob, "mallory", false))
	assert.Equal(t, filehost.NotFound, kindOf(w.AcceptShown(t.Context(), bob, "mallory", true)))
}
