package suite

import (
	"encoding/json"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// shown is an answer to the slash command, which only its user sees.
type shown struct {
	post
	Props struct {
		Attachments []struct {
			Actions []struct {
				ID, Name, Type, Cookie string
				Options                []struct{ Text, Value string }
			}
		}
	}
}

// terminal is a user's client that runs the slash command.
type terminal struct {
	*testing.T
	account *stack.Account
	events  *stack.Events
}

func newTerminal(t *testing.T, account *stack.Account) *terminal {
	t.Helper()
	events, err := site.Mattermost.Listen(t.Context(), account)
	must(t, err)
	t.Cleanup(func() { _ = events.Close() })
	return &terminal{t, account, events}
}

// runs types a command in a channel, or in a thread, and gives what is shown.
func (t *terminal) runs(channelID, rootID, command string) shown {
	t.Helper()
	must(t.T, t.account.Post(t.Context(), "/api/v4/commands/execute", map[string]string{
		"channel_id": channelID, "root_id": rootID, "team_id": site.TeamID, "command": "/filehost " + command,
	}, nil))
	return t.sees("ephemeral_message")
}

func (t *terminal) sees(event string) (s shown) {
	t.Helper()
	var data struct{ Post string }
	must(t.T, t.events.Next(event, &data))
	must(t.T, json.Unmarshal([]byte(data.Post), &s))
	return s
}

// presses presses a button, or chooses from a menu, of what is shown.
func (t *terminal) presses(s shown, name, option string) shown {
	t.Helper()
	for _, attachment := range s.Props.Attachments {
		for _, action := range attachment.Actions {
			if action.Name != name {
				continue
			}
			body := map[string]string{"cookie": action.Cookie}
			for _, o := range action.Options {
				if o.Text == option {
					body["selected_option"] = o.Value
				}
			}
			must(t.T, t.account.Post(t.Context(), "/api/v4/posts/"+s.ID+"/actions/"+action.ID, body, nil))
			return t.sees("post_edited")
		}
	}
	t.Fatalf("there is no button %q: %+v", name, s)
	return s
}

// TestCommandBrowsesAndAttaches goes from the top folder to a file and attaches it, by messages only, as a phone does.
func TestCommandBrowsesAndAttaches(t *testing.T) {
	terminal := newTerminal(t, site.User)
	root := attach(t, copies("/Welcome.txt")).PostID
	top := terminal.runs(site.ChannelID, root, "browse "+atHost("/"))
	if !strings.Contains(top.Message, "Welcome.txt") || top.RootID != root {
		t.Fatalf("the top folder is %+v", top)
	}
	file := terminal.presses(top, "Choose a file…", "Welcome.txt")
	if file.ID != top.ID || !strings.Contains(file.Message, "`"+atHost("/Welcome.txt")+"`") {
		t.Fatalf("the file is %+v", file)
	}
	before := postsIn(t, site.ChannelID)
	done := terminal.presses(file, "Attach", "")
	if done.Message != "Attached: `Welcome.txt`." || len(done.Props.Attachments) != 0 {
		t.Errorf("at last: %+v", done)
	}
	if after := postsIn(t, site.ChannelID); after != before+1 {
		t.Errorf("%d posts were made", after-before)
	}
	again := terminal.presses(file, "Attach", "")
	if after := postsIn(t, site.ChannelID); after != before+1 || again.Message != done.Message {
		t.Errorf("pressed twice: %d posts, %+v", after-before, again)
	}
}

// TestCommandAttachesByPath attaches two files, one with a space in its path.
func TestCommandAttachesByPath(t *testing.T) {
	path := addFile(t, []byte("typed"))
	channel := newChannel(t, site.User)
	terminal := newTerminal(t, site.User)
	done := terminal.runs(channel, "", `attach "`+atHost(path)+`" `+strings.TrimPrefix(atHost("/Welcome.txt"), "/")+` /nowhere.txt`)
	if !strings.HasPrefix(done.Message, "Attached: ") || !strings.Contains(done.Message, "Not attached:\n- `/nowhere.txt`: ") {
		t.Errorf("the answer is %q", done.Message)
	}
	if got := postsIn(t, channel); got != 1 {
		t.Errorf("%d posts were made", got)
	}
}

// TestCommandOpensFolders goes down and up.
func TestCommandOpensFolders(t *testing.T) {
	terminal := newTerminal(t, site.User)
	folder := strings.TrimPrefix(sample.KindsFolder, "/")
	top := terminal.runs(site.ChannelID, "", "browse "+atHost("/"))
	below := terminal.presses(top, "Open a folder…", folder)
	if !strings.HasPrefix(below.Message, "`"+atHost(sample.KindsFolder)+"` at ") || below.Message != terminal.runs(site.ChannelID, "", "browse "+atHost(sample.KindsFolder)).Message {
		t.Errorf("the folder is %q", below.Message)
	}
	if up := terminal.presses(below, "Up", ""); up.Message != top.Message {
		t.Errorf("up there is %q", up.Message)
	}
}

// TestCommandRefreshesInTheThread brings a newer version in, from a thread, by two messages.
func TestCommandRefreshesInTheThread(t *testing.T) {
	path := addFile(t, []byte("first"))
	posted := attach(t, copies(path))
	terminal := newTerminal(t, site.User)
	if told := terminal.runs(site.ChannelID, posted.PostID, "refresh"); !strings.Contains(told.Message, "is unchanged") {
		t.Errorf("at first: %q", told.Message)
	}
	changeFile(t, path, []byte("the second"))
	told := terminal.runs(site.ChannelID, posted.PostID, "refresh")
	if !strings.Contains(told.Message, "10 B instead of 5 B") {
		t.Errorf("then: %q", told.Message)
	}
	if done := terminal.presses(told, "Bring in the newer versions", ""); !strings.Contains(done.Message, "in the thread") {
		t.Errorf("at last: %q", done.Message)
	}
	if item := refresh(t, posted.PostID, true).Items[0]; item.State != "unchanged" {
		t.Errorf("after that: %+v", item)
	}
}

// TestCommandOfOthers has who is connected to nothing, a guest of no channel and the wrong user try.
func TestCommandOfOthers(t *testing.T) {
	account := newAccount(t)
	other := newTerminal(t, account)
	answer := other.runs(site.ChannelID, "", "browse")
	if len(answer.Props.Attachments) != 1 || answer.Props.Attachments[0].Actions[0].Name != "Connect" {
		t.Errorf("who is not connected is shown %+v", answer)
	}
	var link struct{ Post string }
	must(t, account.Post(t.Context(), "/api/v4/posts/"+answer.ID+"/actions/"+answer.Props.Attachments[0].Actions[0].ID,
		map[string]string{"cookie": answer.Props.Attachments[0].Actions[0].Cookie}, nil))
	must(t, other.events.Next("ephemeral_message", &link))
	if !strings.Contains(link.Post, "connect") {
		t.Errorf("the button answers %q", link.Post)
	}
	if err := account.Post(t.Context(), "/api/v4/commands/execute", map[string]string{"channel_id": newChannel(t), "command": "/filehost attach Welcome.txt"}, nil); err == nil {
		t.Error("a command runs in a channel of others")
	}

	// A button of alice's in a message of somebody else's.
	mine := newTerminal(t, site.User)
	top := mine.runs(site.ChannelID, "", "browse "+atHost("/"))
	at := slices.IndexFunc(top.Props.Attachments[0].Actions, func(a struct {
		ID, Name, Type, Cookie string
		Options                []struct{ Text, Value string }
	}) bool {
		return a.Name == "Choose a file…"
	})
	cookie := top.Props.Attachments[0].Actions[at]
	must(t, account.Post(t.Context(), "/api/v4/posts/"+top.ID+"/actions/"+cookie.ID, map[string]string{"cookie": cookie.Cookie, "selected_option": cookie.Options[0].Value}, nil))
	if got := other.sees("post_edited"); !strings.Contains(got.Message, "not one that was made for you") {
		t.Errorf("another's button does %+v", got)
	}
}

// TestCommandIsCompleted asks for suggestions as a client does while the user types.
func TestCommandIsCompleted(t *testing.T) {
	path, welcome := atHost(addFile(t, []byte("typed"))), atHost("/Welcome.txt") // the first has a space in its name
	dir := site.Host.Dir("alice") + "/command folder"
	must(t, os.MkdirAll(dir, 0o700))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for input, want := range map[string]string{
		"/filehost ":   "filehost browse",
		"/filehost at": "filehost attach",
		"/filehost attach " + welcome[:len(welcome)-8]:              "filehost attach " + welcome,
		"/filehost attach " + welcome + " \"" + path[:len(path)-20]: "filehost attach " + welcome + " \"" + path + "\"",
		"/filehost browse " + atHost("/command"):                    "filehost browse " + atHost("/command folder") + "/",
	} {
		var suggestions []struct{ Complete string }
		query := url.Values{"user_input": {input}, "channel_id": {site.ChannelID}}
		must(t, site.User.Get(t.Context(), "/api/v4/teams/"+site.TeamID+"/commands/autocomplete_suggestions?"+query.Encode(), &suggestions))
		if !slices.ContainsFunc(suggestions, func(s struct{ Complete string }) bool { return s.Complete == want }) {
			t.Errorf("%q is completed to %q, not to %q", input, suggestions, want)
		}
	}
}

// TestCommandLinks posts a link after a look at who could open it, where the host has links.
func TestCommandLinks(t *testing.T) {
	terminal := newTerminal(t, site.User)
	channel := newChannel(t, site.User, newAccount(t))
	told := terminal.runs(channel, "", "link "+atHost("/Welcome.txt"))
	linked := func() bool {
		var list struct{ Posts map[string]post }
		must(t, site.User.Get(t.Context(), "/api/v4/channels/"+channel+"/posts", &list))
		for _, p := range list.Posts {
			if p.UserID == site.User.ID && strings.Contains(p.Message, "Welcome.txt`](") {
				return true
			}
		}
		return false
	}
	if !list(t, in("/")).Capabilities.Links.Internal {
		if !strings.Contains(told.Message, "no address") || linked() {
			t.Errorf("where there are no links: %q", told.Message)
		}
		return
	}
	if !strings.Contains(told.Message, "A link to `Welcome.txt`. Of the members of this channel, ") || linked() {
		t.Fatalf("the look says %q", told.Message)
	}
	if done := terminal.presses(told, "Post the link", ""); done.Message != "Linked: `Welcome.txt`." || !linked() {
		t.Errorf("the press says %q", done.Message)
	}
}

// TestCommandSaves saves the file of a thread's first message.
func TestCommandSaves(t *testing.T) {
	path := addFile(t, []byte("kept"))
	root := attach(t, copies(path)).PostID
	dir := site.Host.Dir("alice") + "/command saves"
	must(t, os.MkdirAll(dir, 0o777))
	must(t, os.Chmod(dir, 0o777)) //nolint:gosec // the host runs as another user
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	terminal := newTerminal(t, site.User)
	done := terminal.runs(site.ChannelID, root, "save "+atHost("/command saves"))
	if want := "Saved: `" + atHost("/command saves"+path) + "`."; done.Message != want {
		t.Errorf("the answer is %q, not %q", done.Message, want)
	}
	content, err := os.ReadFile(dir + path)
	must(t, err)
	if string(content) != "kept" {
		t.Errorf("what was saved is %q", content)
	}
}
