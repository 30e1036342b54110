package suite

import (
	"encoding/json"
	"errors"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// botUsername is the account that the plugin makes.
const botUsername = "filehost"

// botPost is a post of the plugin's bot.
type botPost struct {
	post
	Props struct {
		Attachments []struct {
			Actions []struct{ ID, Name string }
		}
	}
}

func (p botPost) buttons() (ids []string) {
	for _, attachment := range p.Props.Attachments {
		for _, action := range attachment.Actions {
			ids = append(ids, action.ID)
		}
	}
	return ids
}

// messages are those that the plugin's bot has sent to an account, as that account reads them.
func messages(t *testing.T, account *stack.Account) (found []botPost) {
	t.Helper()
	var bot struct {
		ID    string
		IsBot bool `json:"is_bot"`
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/users/username/"+botUsername, &bot))
	if !bot.IsBot {
		t.Fatal("the account is no bot")
	}
	var channel struct{ ID string }
	must(t, account.Post(t.Context(), "/api/v4/channels/direct", []string{account.ID, bot.ID}, &channel))
	var list struct {
		Order []string
		Posts map[string]botPost
	}
	must(t, account.Get(t.Context(), "/api/v4/channels/"+channel.ID+"/posts", &list))
	for _, id := range list.Order {
		if p := list.Posts[id]; p.UserID == bot.ID {
			found = append(found, p)
		}
	}
	return found
}

// lose ends what a user of the host has allowed and lets the account meet that, on all clients at once, many times over.
func lose(t *testing.T, account *stack.Account, hostUser string, clients ...api.Client) {
	t.Helper()
	site.Host.RevokeGrants(hostUser)
	const rounds, callers = 3, 20
	for range rounds {
		errs := make(chan error)
		for i := range callers {
			go func() {
				_, err := clients[i%len(clients)].List(t.Context(), in("/"))
				errs <- err
			}()
		}
		for range callers {
			wantProblem(t, <-errs, "not_connected", 424)
		}
	}
	if got := state(t, account); got != "reconnect" {
		t.Fatalf("the connection is %s", got)
	}
}

// reminder is the one message that an account has got.
func reminder(t *testing.T, account *stack.Account) botPost {
	t.Helper()
	eventually(t, "the bot writes", func() bool { return len(messages(t, account)) > 0 })
	got := messages(t, account)
	if len(got) != 1 {
		t.Fatalf("the bot has written %d times: %+v", len(got), got)
	}
	return got[0]
}

// press presses a button of a post, and gives the text that only the account sees.
func press(t *testing.T, account *stack.Account, postID, action string) string {
	t.Helper()
	events, err := site.Mattermost.Listen(t.Context(), account)
	must(t, err)
	defer func() { _ = events.Close() }()
	must(t, account.Post(t.Context(), "/api/v4/posts/"+postID+"/actions/"+action, struct{}{}, nil))
	var event struct{ Post string }
	must(t, events.Next("ephemeral_message", &event))
	var shown post
	must(t, json.Unmarshal([]byte(event.Post), &shown))
	return shown.Message
}

// dialog is one that the plugin has opened in a client.
type dialog struct {
	URL    string
	Dialog struct {
		CallbackID string `json:"callback_id"`
		State      string
		Text       string `json:"introduction_text"`
		Elements   []struct{ Name string }
	}
}

// submitted is what a dialog's client is answered: nothing when all went well.
type submitted struct {
	Error  string
	Errors map[string]string
}

// pressForDialog presses a button of a post that opens a dialog.
func pressForDialog(t *testing.T, account *stack.Account, postID, action string) (opened dialog) {
	t.Helper()
	events, err := site.Mattermost.Listen(t.Context(), account)
	must(t, err)
	defer func() { _ = events.Close() }()
	must(t, account.Post(t.Context(), "/api/v4/posts/"+postID+"/actions/"+action, struct{}{}, nil))
	var event struct{ Dialog string }
	must(t, events.Next("open_dialog", &event))
	must(t, json.Unmarshal([]byte(event.Dialog), &opened))
	return opened
}

// submit answers the dialog's one question, as any account: what it was opened with is in the client's hands.
func (d dialog) submit(t *testing.T, as *stack.Account, said string) (answer submitted) {
	t.Helper()
	must(t, as.Post(t.Context(), "/api/v4/actions/dialogs/submit", map[string]any{
		"url": d.URL, "callback_id": d.Dialog.CallbackID, "state": d.Dialog.State,
		"channel_id": site.ChannelID, "team_id": site.TeamID, "submission": map[string]string{d.Dialog.Elements[0].Name: said},
	}, &answer))
	return answer
}

var signInLink = regexp.MustCompile(`\[Sign in\]\((\S+)\)`)

// linkOf is the address in a message.
func linkOf(t *testing.T, text string) string {
	t.Helper()
	found := signInLink.FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no link in %q", text)
	}
	return found[1]
}

// TestOneMessageAsksToConnectAgain loses a connection that two nodes use, connects again by the button of the one message
// that comes of it, and loses it again within the day.
func TestOneMessageAsksToConnectAgain(t *testing.T) {
	node := secondNode(t)
	account := newConnected(t, "carol")
	lose(t, account, "carol", site.Plugin(account), node.Plugin(account))
	told := reminder(t, account)
	if !strings.Contains(told.Message, "no longer accepts your sign-in as `carol`") || len(told.buttons()) != 2 {
		t.Errorf("the message is %+v", told)
	}
	form, err := stack.OpenSignIn(t.Context(), account.Browser, linkOf(t, press(t, account, told.ID, "connect")))
	must(t, err)
	response, err := stack.SubmitSignIn(t.Context(), account.Browser, form, "carol")
	must(t, err)
	must(t, response.Body.Close())
	if got := state(t, account); got != "connected" {
		t.Errorf("the sign-in ends as %s", got)
	}
	settled := reminder(t, account)
	if settled.ID != told.ID || len(settled.buttons()) != 0 || !strings.Contains(settled.Message, "You are connected to") {
		t.Errorf("the message is now %+v", settled)
	}
	lose(t, account, "carol", site.Plugin(account), node.Plugin(account))
	if again := reminder(t, account); again.ID != told.ID {
		t.Errorf("there is another message: %+v", again)
	}
}

// TestASignInOnAPhoneIsConfirmedInADialog presses the buttons as an app does, whose browser has no session.
func TestASignInOnAPhoneIsConfirmedInADialog(t *testing.T) {
	account := newConnected(t, "carol")
	lose(t, account, "carol", site.Plugin(account))
	told := reminder(t, account)
	phone := stranger(t)
	form, err := stack.OpenSignIn(t.Context(), phone, linkOf(t, press(t, account, told.ID, "connect")))
	must(t, err)
	response, err := stack.SubmitSignIn(t.Context(), phone, form, "carol")
	must(t, err)
	must(t, response.Body.Close())
	_, page := open(t, phone, response.Request.URL.String())
	code := confirmCode.FindStringSubmatch(page)
	if code == nil {
		t.Fatalf("no code at %s: %s", response.Request.URL, page)
	}

	asked := pressForDialog(t, account, told.ID, "code")
	if answer := asked.submit(t, account, "AAAA-AAAA"); answer.Errors["code"] == "" {
		t.Errorf("a wrong code is answered %+v", answer)
	}
	if answer := asked.submit(t, newAccount(t), code[1]); answer.Errors["code"] == "" {
		t.Errorf("another user's code is answered %+v", answer)
	}
	if answer := asked.submit(t, account, strings.ToLower(code[1])); answer.Error != "" || answer.Errors != nil {
		t.Errorf("the right code is answered %+v", answer)
	}
	if got := state(t, account); got != "connected" {
		t.Errorf("the sign-in ends as %s", got)
	}
	if settled := reminder(t, account); len(settled.buttons()) != 0 {
		t.Errorf("the message is now %+v", settled)
	}
}

// forge posts, as an account, a message with a button that calls an address.
func forge(t *testing.T, as *stack.Account, address string) (postID string) {
	t.Helper()
	var made post
	must(t, as.Post(t.Context(), "/api/v4/posts", map[string]any{
		"channel_id": site.ChannelID, "message": "Connect again.",
		"props": map[string]any{"attachments": []any{map[string]any{"actions": []any{map[string]any{
			"id": "forged", "type": "button", "name": "Connect again",
			"integration": map[string]any{"url": address, "context": map[string]string{"user_id": as.ID, "host": "default"}},
		}}}}},
	}, &made))
	return made.ID
}

// TestAForgedButtonBeginsTheSignInOfWhoPresses shows that a button of the attacker's own gets him nothing: what it begins is
// bound to who has pressed.
func TestAForgedButtonBeginsTheSignInOfWhoPresses(t *testing.T) {
	victim, attacker := newAccount(t), newAccount(t)
	forged := forge(t, attacker, "/plugins/"+stack.PluginID+"/api/actions/connect")
	link := linkOf(t, press(t, victim, forged, "forged"))
	callback := signInFrom(t, link)
	wantCallbackOfAnother(t, callback, victim, attacker)
}

// TestAForgedButtonCallsNoOtherRoute presses buttons that call the plugin's other routes, by either way in which Mattermost
// calls a plugin for a button. By the one within the server, the press succeeds whatever the plugin answers.
func TestAForgedButtonCallsNoOtherRoute(t *testing.T) {
	victim, attacker := newConnected(t, "alice"), newAccount(t)
	before, forged := posted(t, site.ChannelID), 0
	for _, base := range []string{"/plugins/" + stack.PluginID + "/api", site.BaseURL()} {
		for _, path := range []string{"/connection", "/attach", "/actions/confirm"} {
			id := forge(t, attacker, base+path)
			forged++
			err := victim.Post(t.Context(), "/api/v4/posts/"+id+"/actions/forged", struct{}{}, nil)
			var status *rest.StatusError
			if base == site.BaseURL() && path != "/actions/confirm" && !errors.As(err, &status) {
				t.Errorf("%s%s: %v", base, path, err)
			}
		}
	}
	if got := posted(t, site.ChannelID); got != before+forged {
		t.Errorf("there are %d posts more, %d were forged", got-before, forged)
	}
	if got := state(t, victim); got != "connected" {
		t.Errorf("the victim is %s", got)
	}
}

// TestAReminderIsNobodyElsesToPress shows that a message of the bot's is seen by its reader alone.
func TestAReminderIsNobodyElsesToPress(t *testing.T) {
	account := newConnected(t, "carol")
	lose(t, account, "carol", site.Plugin(account))
	told := reminder(t, account)
	var status *rest.StatusError
	if err := site.User2.Post(t.Context(), "/api/v4/posts/"+told.ID+"/actions/connect", struct{}{}, nil); !errors.As(err, &status) || status.Status != http.StatusForbidden {
		t.Errorf("another user's press: %v", err)
	}
}

// TestNobodyIsRemindedOfWhatHeEndedHimself disconnects and goes on calling.
func TestNobodyIsRemindedOfWhatHeEndedHimself(t *testing.T) {
	account := newConnected(t, "alice")
	must(t, site.Plugin(account).Disconnect(t.Context()))
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	other := newConnected(t, "carol") // whose message comes after that of the first would
	lose(t, other, "carol", site.Plugin(other))
	reminder(t, other)
	if got := messages(t, account); len(got) != 0 {
		t.Errorf("the bot has written %+v", got)
	}
}

// TestALoginFlowOnAPhoneIsAcceptedInADialog loses an app password and makes another by the buttons alone.
func TestALoginFlowOnAPhoneIsAcceptedInADialog(t *testing.T) {
	host := useLoginFlow(t)
	client := site.Plugin(host.account)
	host.show(t, client)
	_, err := client.Accept(t.Context(), true)
	must(t, err)

	host.RevokeGrants("nora")
	_, err = client.List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	told := reminder(t, host.account)
	host.grant(t, linkOf(t, press(t, host.account, told.ID, "connect")), "nora")
	eventually(t, "the account waits", func() bool {
		connection, err := client.Connection(t.Context())
		must(t, err)
		return connection.Pending != nil
	})
	asked := pressForDialog(t, host.account, told.ID, "connect")
	if !strings.Contains(asked.Dialog.Text, "`nora`, `Nora Example`") {
		t.Errorf("the dialog says %q", asked.Dialog.Text)
	}
	if answer := asked.submit(t, newAccount(t), "mine"); answer.Error == "" {
		t.Errorf("another user's answer: %+v", answer)
	}
	if answer := asked.submit(t, host.account, "mine"); answer.Error != "" || answer.Errors != nil {
		t.Errorf("the dialog is answered %+v", answer)
	}
	if got := state(t, host.account); got != "connected" {
		t.Errorf("the login flow ends as %s", got)
	}
	if settled := reminder(t, host.account); len(settled.buttons()) != 0 {
		t.Errorf("the message is now %+v", settled)
	}
}
