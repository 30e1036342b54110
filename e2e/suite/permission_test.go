package suite

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

func TestAttachChecksMattermostsPermissions(t *testing.T) {
	foreign := newChannel(t)
	archived := newChannel(t, site.User)
	must(t, site.Admin.Delete(t.Context(), "/api/v4/channels/"+archived))
	var elsewhere struct{ ID string }
	must(t, site.Admin.Post(t.Context(), "/api/v4/posts", map[string]string{"channel_id": foreign, "message": "root"}, &elsewhere))
	reply := copies("/Welcome.txt")
	reply.RootID = elsewhere.ID

	to := func(channelID string) api.Attachment {
		attachment := copies("/Welcome.txt")
		attachment.ChannelID = channelID
		return attachment
	}
	tests := map[string]struct {
		attachment api.Attachment
		code       string
		status     int
	}{
		"a channel of others":         {to(foreign), "forbidden", 403},
		"a channel that never was":    {to("abcdefghijklmnopqrstuvwxyz"), "forbidden", 403},
		"an archived channel":         {to(archived), "forbidden", 403},
		"no id of a channel":          {to("../../x"), "invalid_request", 400},
		"a thread of another channel": {reply, "invalid_request", 400},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := site.Host.Counts().Gets
			_, err := site.Plugin(site.User).Attach(t.Context(), test.attachment)
			wantProblem(t, err, test.code, test.status)
			if after := site.Host.Counts().Gets; after != before {
				t.Error("the file was read all the same")
			}
		})
	}
	if got := posted(t, foreign); got != 1 {
		t.Errorf("%d posts in the channel of others", got)
	}
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

func TestNothingWithoutASession(t *testing.T) {
	nobody := site.Plugin(nil)
	calls := map[string]func() error{
		"files":      func() error { _, err := nobody.List(t.Context(), in("/")); return err },
		"attach":     func() error { _, err := nobody.Attach(t.Context(), copies("/Welcome.txt")); return err },
		"connection": func() error { _, err := nobody.Connection(t.Context()); return err },
		"connect":    func() error { _, err := nobody.Authorize(t.Context()); return err },
		"disconnect": func() error { return nobody.Disconnect(t.Context()) },
	}
	for name, call := range calls {
		t.Run(name, func(t *testing.T) { wantProblem(t, call(), "not_authenticated", 401) })
	}
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
	var answer struct {
		Status int
		Body   string
	}
	must(t, site.Admin.Get(t.Context(), "/plugins/scanner/forge?user_id="+site.User.ID+"&path=/"+stack.PluginID+"/api/files", &answer))
	if answer.Status != http.StatusForbidden || strings.Contains(answer.Body, "Welcome") {
		t.Errorf("the other plugin got %d %s", answer.Status, answer.Body)
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
	lift := site.Host.Fault(embedded.Fault{
		User: "alice", Path: path, After: 1000, End: embedded.Stall, Then: func() { close(reached) },
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
	lift := site.Host.Fault(embedded.Fault{
		User: "alice", Path: path, After: 1000, End: embedded.Stall, Then: func() { close(reached) },
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
