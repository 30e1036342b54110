package suite

import (
	"context"
	"crypto/rand"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestAttachChecksMattermostsPermissions names what is others', gone or no place to post in, and wants nothing read or
// posted.
func TestAttachChecksMattermostsPermissions(t *testing.T) {
	mine, foreign, archived := newChannel(t, site.User), newChannel(t), newChannel(t, site.User)
	private, elsewhere := newPrivateChannel(t), newTeamsChannel(t)
	theirs := directChannel(t, site.Admin, site.User2)
	foreignRoot, ownRoot := say(t, foreign, ""), say(t, mine, "")
	answer, deleted := say(t, mine, ownRoot), say(t, mine, "")
	must(t, site.Admin.Delete(t.Context(), "/api/v4/posts/"+deleted))
	must(t, site.Admin.Delete(t.Context(), "/api/v4/channels/"+archived))

	const never = "abcdefghijklmnopqrstuvwxyz"
	tests := map[string]struct {
		channelID, rootID string
		code, field       string
		status            int
	}{
		"a channel of others":                  {foreign, "", "forbidden", "", 403},
		"a private channel of others":          {private, "", "forbidden", "", 403},
		"a direct message of others":           {theirs, "", "forbidden", "", 403},
		"a channel of another team":            {elsewhere, "", "forbidden", "", 403},
		"a channel that never was":             {never, "", "forbidden", "", 403},
		"the id of a team":                     {site.TeamID, "", "forbidden", "", 403},
		"the id of a user":                     {site.User.ID, "", "forbidden", "", 403},
		"the id of a post":                     {ownRoot, "", "forbidden", "", 403},
		"an archived channel":                  {archived, "", "forbidden", "", 403},
		"no id of a channel":                   {"../../x", "", "invalid_request", "channel_id", 400},
		"an id in another case":                {strings.ToUpper(mine), "", "forbidden", "", 403},
		"an id and more":                       {mine + " ", "", "invalid_request", "channel_id", 400},
		"a thread of another channel":          {mine, foreignRoot, "invalid_request", "root_id", 400},
		"a thread in a channel of others":      {foreign, foreignRoot, "forbidden", "", 403},
		"an answer in the place of its root":   {mine, answer, "invalid_request", "root_id", 400},
		"a thread whose root is deleted":       {mine, deleted, "invalid_request", "root_id", 400},
		"a thread that never was":              {mine, never, "invalid_request", "root_id", 400},
		"a channel in the place of a thread":   {mine, mine, "invalid_request", "root_id", 400},
		"no id of a thread":                    {mine, "/", "invalid_request", "root_id", 400},
		"a thread with a path behind its id":   {mine, ownRoot + "/..", "invalid_request", "root_id", 400},
		"a channel with a query behind it":     {mine + "?x", "", "invalid_request", "channel_id", 400},
		"an own thread in a channel of others": {foreign, ownRoot, "forbidden", "", 403},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := site.Host.Counts().WithCredential
			attachment := copies("/Welcome.txt")
			attachment.ChannelID, attachment.RootID = test.channelID, test.rootID
			_, err := site.Plugin(site.User).Attach(t.Context(), attachment)
			problem := wantProblem(t, err, test.code, test.status)
			if field, _ := problem.Details["field"].(string); field != test.field {
				t.Errorf("the field is %q, want %q", field, test.field)
			}
			if after := site.Host.Counts().WithCredential; after != before {
				t.Error("the host was asked all the same")
			}
		})
	}
	for channelID, want := range map[string]int{mine: 2, foreign: 1, private: 0, theirs: 0, elsewhere: 0} {
		if got := postsIn(t, channelID); got != want {
			t.Errorf("%d posts in %s, want %d", got, channelID, want)
		}
	}
}

// TestAttachInAnyChannelOfTheUsers attaches where a user may: in private channels, and in direct messages with others and with himself.
func TestAttachInAnyChannelOfTheUsers(t *testing.T) {
	for name, channelID := range map[string]string{
		"private":             newPrivateChannel(t, site.User),
		"direct":              directChannel(t, site.User, site.User2),
		"direct with himself": directChannel(t, site.User, site.User),
	} {
		t.Run(name, func(t *testing.T) {
			attachment := copies("/Welcome.txt")
			attachment.ChannelID = channelID
			if stored := readPost(t, attach(t, attachment).PostID); stored.ChannelID != channelID || len(stored.FileIDs) != 1 {
				t.Errorf("the post is %+v", stored)
			}
		})
	}
}

// TestAttachNeedsThePermissions takes from all members of channels what an admin may take from them.
func TestAttachNeedsThePermissions(t *testing.T) {
	var role struct {
		ID          string
		Permissions []string
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/roles/name/channel_user", &role))
	set := func(permissions []string) {
		must(t, site.Admin.Put(context.WithoutCancel(t.Context()), "/api/v4/roles/"+role.ID+"/patch", map[string]any{"permissions": permissions}, nil))
	}
	t.Cleanup(func() { set(role.Permissions) })
	for _, permission := range []string{"create_post", "upload_file"} {
		t.Run(permission, func(t *testing.T) {
			set(slices.DeleteFunc(slices.Clone(role.Permissions), func(one string) bool { return one == permission }))
			before := posted(t, site.ChannelID)
			_, err := site.Plugin(site.User).Attach(t.Context(), copies("/Welcome.txt"))
			wantProblem(t, err, "forbidden", 403)
			if after := posted(t, site.ChannelID); after != before {
				t.Error("something was posted")
			}
		})
	}
}

func newPrivateChannel(t *testing.T, members ...*stack.Account) string {
	t.Helper()
	name := "p" + strings.ToLower(rand.Text()[:12])
	var channel struct{ ID string }
	must(t, site.Admin.Post(t.Context(), "/api/v4/channels", map[string]string{"team_id": site.TeamID, "name": name, "display_name": name, "type": "P"}, &channel))
	for _, member := range members {
		must(t, site.Admin.JoinChannel(t.Context(), channel.ID, member))
	}
	return channel.ID
}

// newTeamsChannel makes a public channel of a team that nobody else is in.
func newTeamsChannel(t *testing.T) string {
	t.Helper()
	teamID, err := site.Admin.CreateTeam(t.Context(), "t"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	channelID, err := site.Admin.CreateChannel(t.Context(), teamID, "elsewhere")
	must(t, err)
	return channelID
}

func directChannel(t *testing.T, one, other *stack.Account) string {
	t.Helper()
	var channel struct{ ID string }
	must(t, one.Post(t.Context(), "/api/v4/channels/direct", []string{one.ID, other.ID}, &channel))
	return channel.ID
}

// say has the admin write a message, and gives its id.
func say(t *testing.T, channelID, rootID string) string {
	t.Helper()
	var written post
	must(t, site.Admin.Post(t.Context(), "/api/v4/posts", map[string]string{"channel_id": channelID, "root_id": rootID, "message": "message"}, &written))
	return written.ID
}

func TestAttachObeysTheUploadSwitch(t *testing.T) {
	set := func(enabled bool) {
		err := site.Admin.Put(context.WithoutCancel(t.Context()), "/api/v4/config/patch",
			map[string]any{"FileSettings": map[string]any{"EnableFileAttachments": enabled}}, nil)
		if err != nil {
			t.Error(err)
		}
	}
	set(false)
	defer set(true)
	_, err := site.Plugin(site.User).Attach(t.Context(), copies("/Welcome.txt"))
	wantProblem(t, err, "forbidden", 403)
}

// TestNotConnected shows that a caller who isn't connected is told where to connect.
func TestNotConnected(t *testing.T) {
	stranger := newAccount(t)
	calls := map[string]func() error{
		"files":  func() error { _, err := site.Plugin(stranger).List(t.Context(), in("/")); return err },
		"attach": func() error { _, err := site.Plugin(stranger).Attach(t.Context(), copies("/Welcome.txt")); return err },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			problem := wantProblem(t, call(), "not_connected", 424)
			if problem.Details["connect_url"] == nil {
				t.Errorf("details are %v", problem.Details)
			}
		})
	}
}

// TestNoOtherPluginActsAsAUser has another plugin of the server forge the caller.
func TestNoOtherPluginActsAsAUser(t *testing.T) {
	const api = "/plugins/scanner/forge?path=/" + stack.PluginID + "/api"
	asUser := "&user_id=" + site.User.ID
	attachment := copies("/Welcome.txt")
	attachment.ChannelID = newChannel(t, site.User)
	calls := map[string]func(answer any) error{
		"GET /files":   func(answer any) error { return site.Admin.Get(t.Context(), api+"/files"+asUser, answer) },
		"POST /attach": func(answer any) error { return site.Admin.Post(t.Context(), api+"/attach"+asUser, attachment, answer) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) {
			var answer struct {
				Status int
				Body   string
			}
			must(t, call(&answer))
			if answer.Status != http.StatusForbidden || strings.Contains(answer.Body, "Welcome") {
				t.Errorf("the other plugin got %d %s", answer.Status, answer.Body)
			}
		})
	}
	if count := postsIn(t, attachment.ChannelID); count != 0 {
		t.Errorf("the other plugin has posted %d times", count)
	}
}

func TestWrongRoutesAndMethods(t *testing.T) {
	user := site.Plugin(site.User)
	wantProblem(t, api.AsProblem(user.Get(t.Context(), "/nothing", nil)), "not_found", 404)
	wantProblem(t, api.AsProblem(user.Put(t.Context(), "/files", nil, nil)), "method_not_allowed", 405)
	wantProblem(t, api.AsProblem(user.Post(t.Context(), "/attach", "no object", nil)), "invalid_request", 400)
	wantProblem(t, api.AsProblem(user.Post(t.Context(), "/attach", map[string]any{"channel_id": site.ChannelID, "surprise": 1}, nil)), "invalid_request", 400)
}

// TestAttachLimitsCopiesAtOnce holds one copy open and asks for one more than a user may have.
func TestAttachLimitsCopiesAtOnce(t *testing.T) {
	configure(t, map[string]any{"copiesperuser": 1, "stallseconds": 60})
	path := addFile(t, make([]byte, 1<<20))
	reached := make(chan struct{})
	lift := site.Host.Fault(hosts.Fault{
		User: "alice", Path: path, After: 1000, End: hosts.Stall, Then: func() { close(reached) },
	})
	defer lift()
	client, first := site.Plugin(site.User), make(chan error, 1)
	go func() {
		_, err := client.Attach(t.Context(), copies(path))
		first <- err
	}()
	<-reached
	_, err := client.Attach(t.Context(), copies("/Welcome.txt"))
	problem := wantProblem(t, err, "rate_limited", 429)
	if problem.Details["retry_after_s"] == nil {
		t.Errorf("details are %v", problem.Details)
	}
	lift()
	must(t, <-first)
}

// TestAttachAfterLeaving removes the user from the channel while his copy is under way.
func TestAttachAfterLeaving(t *testing.T) {
	configure(t, map[string]any{"stallseconds": 60})
	channelID := newChannel(t, site.User)
	path := addFile(t, make([]byte, 1<<20))
	reached := make(chan struct{})
	lift := site.Host.Fault(hosts.Fault{
		User: "alice", Path: path, After: 1000, End: hosts.Stall, Then: func() { close(reached) },
	})
	defer lift()
	attachment := copies(path)
	attachment.ChannelID = channelID
	client, result := site.Plugin(site.User), make(chan error, 1)
	go func() {
		_, err := client.Attach(t.Context(), attachment)
		result <- err
	}()
	select {
	case <-reached:
	case err := <-result:
		t.Fatalf("the copy ended before it began: %v", err)
	}
	must(t, site.Admin.Delete(t.Context(), "/api/v4/channels/"+channelID+"/members/"+site.User.ID))
	lift()
	wantProblem(t, <-result, "forbidden", 403)
	if got := postsIn(t, channelID); got != 0 {
		t.Errorf("%d posts of one who has left", got)
	}
}
