package command

import (
	"bytes"
	"context"
	"log/slog"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

const (
	alice   = "alice"
	bob     = "bob"
	channel = "channel"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// world is the slash command over doubles that behave.
type world struct {
	*Handler
	service    *filehost.Service
	remote     *filehosttest.Remote
	tokens     *filehosttest.Tokens
	mattermost *filehosttest.Mattermost
	shares     *filehosttest.Shares
	clock      *clockwork.FakeClock
	log        bytes.Buffer
	refused    error
	place      filehost.Place
	shown      filehost.Message
	replaced   string // the post in whose place it was shown; "" = in none's
}

func newWorld() *world {
	w := &world{remote: filehosttest.NewRemote(), tokens: filehosttest.NewTokens(alice, bob), clock: clockwork.NewFakeClockAt(noon),
		mattermost: filehosttest.NewMattermost(filehost.User{ID: alice, Username: alice, Active: true}, filehost.User{ID: bob, Username: bob, Active: true},
			filehost.User{ID: "bot", Bot: true, Active: true}, filehost.User{ID: "new", Username: "new", Active: true})}
	w.mattermost.Limit(func(l *filehost.Limits) { l.MessageLength = 4000 })
	w.shares = filehosttest.NewShares()
	w.remote.Shares = w.shares
	kv, discard := filehosttest.NewKV(w.clock), slog.New(slog.DiscardHandler)
	host := filehost.Host{ID: filehost.DefaultHostID, Name: "Cloud", Kind: "webdav", BaseURL: &url.URL{Scheme: "https", Host: "cloud.example.com"}}
	w.service = filehost.New(filehost.Config{
		Host: host, Methods: []filehost.Method{filehost.MethodOAuth},
		Settings: filehost.Settings{MaxCopyBytes: 1 << 20, MaxFiles: 10, CopiesPerNode: 2, CopiesPerUser: 1},
		Tokens:   w.tokens, Connections: w.tokens, Issuer: w.tokens, Remote: w.remote, Mattermost: w.mattermost, Audit: &filehosttest.Audit{},
		Reminders: filehost.NewReminders(filehost.RemindersConfig{Host: host, Users: w.mattermost.User, Bot: &filehosttest.Bot{}, KV: kv, Clock: w.clock, Log: discard}),
		Sealer:    filehosttest.Sealer{}, KV: kv, Clock: w.clock, Claims: filehost.NewClaims(filehosttest.Process{Name: "run"}),
		Copies: filehost.NewPlaces("copies"), Listings: filehost.NewPlaces("listings"), Pictures: filehost.NewPlaces("thumbnails"),
		Accounts: w.tokens, Log: discard,
	})
	w.Handler = New(Config{Answers: w, Log: slog.New(slog.NewTextHandler(&w.log, nil)), Admit: func(context.Context, string, string) error { return w.refused }})
	return w
}

// Show implements filehost.Answers.
func (w *world) Show(_ context.Context, place filehost.Place, message filehost.Message) error {
	w.place, w.shown, w.replaced = place, message, ""
	return nil
}

// Replace implements filehost.Answers.
func (w *world) Replace(_ context.Context, place filehost.Place, postID string, message filehost.Message) error {
	w.place, w.shown, w.replaced = place, message, postID
	return nil
}

// typed runs a command of a user's in a thread, and returns what he is shown.
func (w *world) typed(t *testing.T, user, text string) filehost.Message {
	t.Helper()
	w.Run(t.Context(), w.service, filehost.Command{Place: filehost.Place{UserID: user, ChannelID: channel, RootID: "root"}, Text: "/filehost " + text, TriggerID: "trigger"})
	assert.Equal(t, filehost.Place{UserID: user, ChannelID: channel, RootID: "root"}, w.place)
	return w.shown
}

// presses presses a button, or chooses from a menu, of what was shown last.
func (w *world) presses(t *testing.T, user, label, selected string) filehost.Message {
	t.Helper()
	for _, button := range buttonsOf(w.shown) {
		if button.Label == label {
			return w.hands(t, user, button.Token, selected)
		}
	}
	require.Fail(t, "there is no button "+label)
	return filehost.Message{}
}

// hands sends what a press would.
func (w *world) hands(t *testing.T, user, token, selected string) filehost.Message {
	t.Helper()
	w.Press(t.Context(), w.service, filehost.Press{UserID: user, ChannelID: "another channel", PostID: "shown", TriggerID: "trigger", Token: token, Selected: selected})
	assert.Equal(t, "shown", w.replaced)
	return w.shown
}

func buttonsOf(message filehost.Message) []filehost.Button {
	buttons := message.Buttons
	for _, menu := range message.Menus {
		buttons = append(buttons, menu.Button)
	}
	return buttons
}

func labelsOf(message filehost.Message) (labels []string) {
	for _, button := range buttonsOf(message) {
		labels = append(labels, button.Label)
	}
	return labels
}

func TestAFolderIsShownAndLeadsOn(t *testing.T) {
	w := newWorld()
	w.remote.AddFolder("/My Docs")
	w.remote.AddFile("/My Docs/[x](evil) @all.txt", make([]byte, 1536), noon)
	w.remote.AddFolder("/My Docs/deep")
	for _, text := range []string{"browse My Docs", `browse "/My Docs"`, "browse “/My Docs/”", "BROWSE /My Docs/"} {
		message := w.typed(t, alice, text)
		assert.Equal(t, "`/My Docs` at `Cloud`:\n- :file_folder: `deep`\n- :page_facing_up: `[x](evil) @all.txt` · 1.5 kB · 2026-11-21", message.Text, text)
		assert.Equal(t, []string{labelUp, labelOpen, labelChoose}, labelsOf(message))
	}
	assert.Contains(t, w.presses(t, alice, labelOpen, w.shown.Menus[0].Options[0].Value).Text, "`/My Docs/deep` at `Cloud`:\nThe folder is empty.")
	assert.Contains(t, w.presses(t, alice, labelUp, "").Text, "`/My Docs` at")
	assert.Contains(t, w.presses(t, alice, labelUp, "").Text, "All files at `Cloud`:\n- :file_folder: `My Docs`")
}

func TestALongFolderHasPages(t *testing.T) {
	w := newWorld()
	for _, letter := range strings.Split("abcdefghijklmnopqrstuvwxyz", "") {
		w.remote.AddFile("/"+letter, []byte("1"), noon)
	}
	message := w.typed(t, alice, "browse")
	assert.Contains(t, message.Text, "`t`")
	assert.NotContains(t, message.Text, "`u`")
	assert.Contains(t, message.Text, "26 in all.")
	message = w.presses(t, alice, labelNext, "")
	assert.Contains(t, message.Text, "`z`")
	assert.NotContains(t, labelsOf(message), labelNext)
}

func TestFilesAreFound(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a/old plan.txt", []byte("1"), noon)
	assert.Contains(t, w.typed(t, alice, "search plan").Text, "Cloud can't search.", "a host that can't says so")
	w.remote.Offer(filehost.Capabilities{Search: true, Recent: true})
	assert.Equal(t, "What `Cloud` finds for `old plan`:\n- :page_facing_up: `old plan.txt` · 1 B · 2026-11-21 · `/a`", w.typed(t, alice, "search old plan").Text)
	assert.Contains(t, w.typed(t, alice, "search nothing like it").Text, "Nothing was found.")
	assert.Contains(t, w.typed(t, alice, "search").Text, "Type what to look for")
	assert.Contains(t, w.typed(t, alice, "recent").Text, "old plan.txt")
	assert.Contains(t, w.presses(t, alice, labelAll, "").Text, "All files")
}

func TestFilesAreAttachedWhereTheCommandIsTyped(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/My Docs/a.txt", []byte("1"), noon)
	w.remote.AddFile("/b.txt", []byte("2"), noon)
	message := w.typed(t, alice, `attach "/My Docs/a.txt" b.txt /missing`)
	assert.Equal(t, "Attached: `a.txt`, `b.txt`.\nNot attached:\n- `/missing`: There is no such file. Put a path with spaces in quotes.", message.Text)
	posts := w.mattermost.Posts()
	require.Len(t, posts, 1)
	assert.Equal(t, []string{alice, channel, "root"}, []string{posts[0].UserID, posts[0].ChannelID, posts[0].RootID})
	assert.Len(t, posts[0].FileIDs, 2)
	assert.Contains(t, w.typed(t, alice, `attach "/My Docs/a.txt`).Text, "not closed")
	assert.Contains(t, w.typed(t, alice, `attach /../x`).Text, "segment")
	assert.Contains(t, w.typed(t, alice, "attach").Text, "All files", "what is there to choose from")
	assert.Len(t, w.mattermost.Posts(), 1)
}

func TestAFileIsChosenShownAndAttachedOnce(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	w.remote.AddFile("/empty.txt", nil, noon)
	message := w.typed(t, alice, "browse")
	options := message.Menus[0].Options
	require.Len(t, options, 2)
	message = w.presses(t, alice, labelChoose, options[1].Value)
	assert.Contains(t, message.Text, "empty")
	assert.Equal(t, []string{labelBack}, labelsOf(message), "which can't be attached")
	w.presses(t, alice, labelBack, "")
	message = w.presses(t, alice, labelChoose, options[0].Value)
	assert.Equal(t, ":page_facing_up: `/a.txt` · 5 B", message.Text)
	attach := message.Buttons[0].Token
	for range 2 {
		assert.Equal(t, "Attached: `a.txt`.", w.hands(t, alice, attach, "").Text)
	}
	posts := w.mattermost.Posts()
	require.Len(t, posts, 1, "however often it is pressed")
	assert.Equal(t, []string{channel, "root"}, []string{posts[0].ChannelID, posts[0].RootID}, "where the command was typed, whatever the client says")
}

// TestAButtonIsOfNoUseToAnybodyElse has bob press a button of alice's, as if somebody had put it into a message of his own.
func TestAButtonIsOfNoUseToAnybodyElse(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	message := w.typed(t, alice, "browse")
	token, id := message.Menus[0].Token, message.Menus[0].Options[0].Value
	assert.Equal(t, notYourButton, w.hands(t, bob, token, id).Text)
	attach := w.hands(t, alice, token, id).Buttons[0].Token
	assert.Equal(t, notYourButton, w.hands(t, bob, attach, "").Text)
	for _, forged := range []string{"", "x", `{"do":"attach","channel":"channel","id":"` + id + `","until":"2036-01-01T00:00:00Z"}`, attach + "x"} {
		assert.Equal(t, notYourButton, w.hands(t, alice, forged, id).Text)
	}
	host := w.service.Host
	w.service.Host.ID = "another"
	assert.Equal(t, notYourButton, w.hands(t, alice, attach, "").Text, "at another host")
	w.service.Host = host
	assert.Empty(t, w.mattermost.Posts())
	w.clock.Advance(stepLife + time.Second)
	assert.Equal(t, oldButton, w.hands(t, alice, attach, "").Text)
	assert.Empty(t, w.mattermost.Posts())
}

func TestWhatAButtonStandsForCannotBeChosenAnew(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	w.remote.AddFile("/b.txt", []byte("second"), noon)
	message := w.typed(t, alice, "browse")
	options := message.Menus[0].Options
	attach := w.presses(t, alice, labelChoose, options[0].Value).Buttons[0].Token
	assert.Equal(t, "Attached: `a.txt`.", w.hands(t, alice, attach, options[1].Value).Text)
}

// linkable is a world whose host has links to a file, and in whose channel bob is a member whom the host doesn't let in.
func linkable() *world {
	w := newWorld()
	w.tokens.Name(alice, "alice-at-host")
	w.tokens.Name(bob, "bob-at-host")
	w.remote.Offer(filehost.Capabilities{Links: filehost.Links{Internal: true, Public: true, Password: true}})
	w.remote.AddFolder("/folder")
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	for _, path := range []string{"/a.txt", "/folder"} {
		w.remote.Change(path, func(e *filehost.Entry) {
			e.HostID, e.WebURL = "id"+strings.ReplaceAll(path, "/", "-"), "https://cloud.example.com/f"+path
			e.Permissions = []filehost.Permission{filehost.Read, filehost.Share}
		})
	}
	return w
}

// alone makes alice the only member of the channel.
func (w *world) alone() {
	w.mattermost.Hide(channel, bob)
	w.mattermost.Hide(channel, "new")
}

func TestWhoCouldOpenALinkIsToldBeforeItIsPosted(t *testing.T) {
	w := linkable()
	w.mattermost.Hide(channel, "new")
	message := w.typed(t, alice, "link a.txt /missing")
	assert.Contains(t, message.Text, "A link to `a.txt`. Of the members of this channel, 1 can open it")
	assert.Contains(t, message.Text, "Not linked:\n- `/missing`")
	assert.Empty(t, w.mattermost.Posts())
	for range 2 {
		assert.Contains(t, w.hands(t, alice, message.Buttons[0].Token, "").Text, "Linked: `a.txt`.")
	}
	posts := w.mattermost.Posts()
	require.Len(t, posts, 1, "however often it is pressed")
	assert.Contains(t, posts[0].Message, "https://cloud.example.com/f/a.txt")
	assert.Equal(t, "root", posts[0].RootID)
}

func TestALinkThatEverybodyCanOpenIsPostedAtOnce(t *testing.T) {
	w := linkable()
	w.alone()
	assert.Equal(t, "Linked: `a.txt`.", w.typed(t, alice, "link a.txt").Text)
	assert.Len(t, w.mattermost.Posts(), 1)
	assert.Equal(t, sayWhatToLink, w.typed(t, alice, "link --public").Text)
}

func TestAPublicLinkIsAskedAboutAndItsPasswordToldOnce(t *testing.T) {
	w := linkable()
	w.alone()
	w.shares.Demand(filehost.Policy{PasswordRequired: true}, true)
	message := w.typed(t, alice, "link --public a.txt")
	assert.Equal(t, "Anybody who has the link may see `a.txt`. It asks for a password, which you are told when it is posted.", message.Text)
	assert.Empty(t, w.mattermost.Posts())
	assert.Contains(t, w.presses(t, alice, labelPost, "").Text, "The link to `a.txt` asks for this password, which is shown here only: `")
	assert.Len(t, w.mattermost.Posts(), 1)
}

func TestFilesAndFoldersOfferTheLinksThatTheHostHas(t *testing.T) {
	w := linkable()
	w.alone()
	message := w.typed(t, alice, "browse")
	file := w.hands(t, alice, message.Menus[1].Token, message.Menus[1].Options[0].Value)
	assert.Equal(t, []string{labelAttach, labelLink, labelPublic, labelBack}, labelsOf(file))
	assert.Contains(t, w.presses(t, alice, labelLink, "").Text, "A link to `a.txt`.")
	assert.Empty(t, w.mattermost.Posts(), "a press asks first")
	folder := w.hands(t, alice, message.Menus[0].Token, message.Menus[0].Options[0].Value)
	assert.Equal(t, []string{labelUp, labelLink}, labelsOf(folder))
	w.presses(t, alice, labelLink, "")
	assert.Contains(t, w.presses(t, alice, labelPost, "").Text, "Linked: `folder`.")
	w.remote.Offer(filehost.Capabilities{})
	w.typed(t, alice, "browse")
	file = w.hands(t, alice, w.shown.Menus[1].Token, message.Menus[1].Options[0].Value)
	assert.Equal(t, []string{labelAttach, labelBack}, labelsOf(file))
}

func TestTheFilesOfAThreadAreSaved(t *testing.T) {
	w := newWorld()
	w.remote.AddFolder("/My Docs")
	w.remote.Change("/My Docs", func(e *filehost.Entry) { e.Permissions = []filehost.Permission{filehost.Read, filehost.Create} })
	w.mattermost.AddFile("f1", "one.txt", []byte("1"), alice, "new")
	w.mattermost.AddFile("f2", "two.txt", []byte("2"), alice, "new")
	postID, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: channel, FileIDs: []string{"f1", "f2"}})
	require.NoError(t, err)
	saves := func(user, rootID, rest string) string {
		w.Run(t.Context(), w.service, filehost.Command{Place: filehost.Place{UserID: user, ChannelID: channel, RootID: rootID}, Text: "/filehost save " + rest})
		return w.shown.Text
	}
	assert.Equal(t, "Saved: `/My Docs/one.txt`, `/My Docs/two.txt`.", saves(alice, postID, "My Docs"))
	assert.Equal(t, "1", string(w.remote.Content("/My Docs/one.txt")))
	assert.Equal(t, sayWhatToSave, saves(alice, "", "My Docs"))
	assert.Contains(t, saves(alice, postID, "/nowhere"), "no such")
	assert.Contains(t, saves("new", postID, "My Docs"), "onnect")
	assert.Equal(t, []string{labelConnect, labelCode}, labelsOf(w.shown))
	w.mattermost.DeleteFile("f1")
	assert.Equal(t, "Saved: `/My Docs/two (2).txt`.\nNot saved:\n- File 1: There is no such file.", saves(alice, postID, "My Docs"))
	w.mattermost.Hide(channel, alice)
	assert.Contains(t, saves(alice, postID, "My Docs"), "There is no such channel.")
	bare, err := w.mattermost.Post(t.Context(), filehost.Post{UserID: bob, ChannelID: "other"})
	require.NoError(t, err)
	assert.Contains(t, saves(alice, bare, "My Docs"), "The message has no files.")
}

func TestNewerVersionsAreToldAndBroughtIn(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a.txt", []byte("first"), noon)
	w.typed(t, alice, "attach a.txt")
	w.mattermost.Posts()
	assert.Equal(t, "- `a.txt` is unchanged.", w.typed(t, alice, "refresh https://chat.example.com/team/pl/post0/").Text)
	w.remote.AddFile("/a.txt", []byte("the second"), noon)
	message := w.typed(t, alice, "refresh post0")
	assert.Equal(t, "- `a.txt` has a newer version: 10 B instead of 5 B.", message.Text)
	assert.Len(t, w.mattermost.Posts(), 1)
	message = w.presses(t, alice, labelBring, "")
	assert.Contains(t, message.Text, "The newer versions are in the thread.")
	assert.Empty(t, message.Buttons)
	assert.Len(t, w.mattermost.Posts(), 2)
	assert.Contains(t, w.typed(t, alice, "refresh").Text, "There is no such post.", "in a thread, of its first post")
	w.Run(t.Context(), w.service, filehost.Command{Place: filehost.Place{UserID: alice, ChannelID: channel}, Text: "/filehost refresh"})
	assert.Equal(t, sayWhichPost, w.shown.Text)
	assert.Contains(t, w.typed(t, bob, "refresh post0").Text, "Only the one who has posted")
}

func TestWhatHasBecomeOfAFileIsTold(t *testing.T) {
	path := filehosttest.MustPath("/b/a.txt")
	for want, item := range map[string]filehost.RefreshedItem{
		"`a.txt` is unchanged, and lies at `/b/a.txt` now.":                            {State: filehost.Renamed, After: &filehost.Version{Path: &path}},
		"`a.txt` is no longer there, or no longer yours to see.":                       {State: filehost.Gone},
		"`a.txt` could not be looked up:":                                              {State: filehost.Untold},
		"`a.txt` has a newer version: 2 B instead of 0 B. It could not be brought in:": {State: filehost.Newer, After: &filehost.Version{Size: 2}, Err: context.Canceled},
	} {
		item.Name = "a.txt"
		assert.Equal(t, want, became(item, false))
	}
}

func TestAccounts(t *testing.T) {
	w := newWorld()
	assert.Contains(t, w.typed(t, alice, "status").Text, "You are connected to `Cloud`")
	assert.Contains(t, w.typed(t, alice, "connect").Text, "You are connected to `Cloud`", "nothing is begun anew")
	assert.Empty(t, w.tokens.Begun())
	assert.Equal(t, "You are disconnected from `Cloud`.", w.typed(t, alice, "disconnect").Text)
	message := w.typed(t, alice, "status")
	assert.Equal(t, "You are not connected to `Cloud`.", message.Text)
	assert.Equal(t, []string{labelConnect, labelCode}, labelsOf(message))
	assert.Equal(t, []string{filehost.ActionConnect, filehost.ActionCode}, []string{message.Buttons[0].Action, message.Buttons[1].Action})
	message = w.typed(t, alice, "connect")
	assert.Contains(t, message.Text, "[Sign in](https://login.example.com/authorize")
	assert.Equal(t, []string{alice}, w.tokens.Begun())
	w.tokens.Offer(alice, filehost.Pending{Account: "alice"})
	assert.Contains(t, w.typed(t, alice, "status").Text, "waits for you")
	assert.Equal(t, seeTheDialog, w.typed(t, alice, "connect").Text)
	assert.Len(t, w.mattermost.Asked(), 1)
}

func TestEveryFailureHasASentenceAndTheNextStep(t *testing.T) {
	for name, test := range map[string]struct {
		err     error
		text    string
		buttons []string
	}{
		"not connected":        {filehost.E(filehost.NotConnected, "Connect.", nil), "Connect.", []string{labelConnect, labelCode}},
		"rejected":             {filehost.E(filehost.CredentialRejected, "No longer.", nil), "No longer.", []string{labelConnect, labelCode}},
		"not configured":       {filehost.E(filehost.NotConfigured, "Not yet.", nil), "Not yet. Ask your system admin.", nil},
		"not found":            {filehost.E(filehost.NotFound, "No such file.", nil), "No such file.", nil},
		"maintenance":          {&filehost.Error{Kind: filehost.Maintenance, Message: "Later.", RetryAfter: 90 * time.Second}, "Later. Try again in 1m30s.", nil},
		"forbidden":            {filehost.E(filehost.Forbidden, "No.", nil), "No.", nil},
		"out of time":          {context.DeadlineExceeded, tooSlow, nil},
		"a fault that is ours": {context.Canceled, "Something went wrong in the plugin; the server's log has the details under the request id `r1`.", nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld()
			w.refused = test.err
			w.Run(filehost.WithRequest(t.Context(), filehost.Request{ID: "r1"}), w.service, filehost.Command{Place: filehost.Place{UserID: alice, ChannelID: channel}, Text: "/filehost browse"})
			assert.Equal(t, test.text, w.shown.Text)
			assert.Equal(t, test.buttons, labelsOf(w.shown))
		})
	}
	w := newWorld()
	w.Run(t.Context(), nil, filehost.Command{Text: "/filehost browse"})
	assert.Equal(t, "The file host is not configured yet. Ask your system admin.", w.shown.Text)
	assert.Contains(t, w.typed(t, alice, "rm -rf").Text, "There is no command `rm`.")
}

func TestAPanicEndsTheCommandOnly(t *testing.T) {
	w := newWorld()
	w.remote.AddFile("/a", nil, noon)
	w.service.Remote = nil
	assert.Contains(t, w.typed(t, alice, "browse").Text, "Something went wrong")
	assert.Contains(t, w.log.String(), "panic")
}

func TestTheHelpNamesEverySubcommand(t *testing.T) {
	w := newWorld()
	for _, text := range []string{"", "help", "  help"} {
		message := w.typed(t, bob, text)
		for _, line := range Lines() {
			assert.Contains(t, message.Text, "- `/filehost "+line.Name)
		}
	}
}

// TestWhoMayDoWhat runs every subcommand, and every button, as each kind of user: what the use cases refuse stays undone.
func TestWhoMayDoWhat(t *testing.T) {
	texts := map[string]string{"browse": "browse", "search": "search a", "recent": "recent", "attach": "attach a.txt", "link": "link a.txt", "save": "save Docs", "refresh": "refresh post0",
		"connect": "connect", "disconnect": "disconnect", "status": "status", "help": "help"}
	for _, line := range Lines() {
		require.Contains(t, texts, line.Name, "a new subcommand has its line here")
	}
	for role, test := range map[string]struct {
		user    string
		refuse  func(*world)
		refused map[string]string // by subcommand; "" = all
	}{
		"who may not act as the user": {alice, func(w *world) { w.refused = filehost.E(filehost.Forbidden, "Your account is deactivated.", nil) }, map[string]string{"": "Your account is deactivated."}},
		"no member of the channel, or a guest who may not post": {alice, func(w *world) {
			w.mattermost.Refuse(filehost.E(filehost.Forbidden, "You are not a member.", nil))
		}, map[string]string{"attach": "You are not a member.", "link": "You are not a member."}},
		"not connected": {"new", func(*world) {}, map[string]string{"browse": "onnect", "search": "onnect", "recent": "onnect", "attach": "onnect", "link": "onnect"}},
		"another user":  {bob, func(*world) {}, map[string]string{"refresh": "Only the one who has posted"}},
		"a bot":         {"bot", func(*world) {}, map[string]string{"browse": "onnect", "attach": "onnect", "link": "onnect", "connect": "browser"}},
	} {
		for name, text := range texts {
			t.Run(role+"/"+name, func(t *testing.T) {
				w := newWorld()
				w.remote.Offer(filehost.Capabilities{Search: true, Recent: true})
				w.remote.AddFile("/a.txt", []byte("first"), noon)
				w.typed(t, alice, "attach a.txt")
				test.refuse(w)
				want, refused := test.refused[name]
				if all, ok := test.refused[""]; ok {
					want, refused = all, true
				}
				calls := w.remote.Calls()
				message := w.typed(t, test.user, text)
				if refused {
					assert.Contains(t, message.Text, want)
					assert.Len(t, w.mattermost.Posts(), 1, "nothing was done")
					assert.Equal(t, calls, w.remote.Calls(), "the host was not asked")
				}
			})
		}
	}
}
