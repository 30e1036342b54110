package suite

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
)

func refresh(t *testing.T, postID string, dryRun bool) api.Refreshed {
	t.Helper()
	refreshed, err := site.Plugin(site.User).Refresh(t.Context(), postID, dryRun)
	must(t, err)
	return refreshed
}

// changeFile gives a file of alice's another content, and another time and ETag with it.
func changeFile(t *testing.T, path string, content []byte) {
	t.Helper()
	must(t, os.WriteFile(site.Host.Dir("alice")+path, content, 0o600))
}

// TestRefreshBringsTheNewerVersionIntoTheThread changes one of two files of a post.
func TestRefreshBringsTheNewerVersionIntoTheThread(t *testing.T) {
	path, same := addFile(t, []byte("the first version")), addFile(t, []byte("the same"))
	posted := attach(t, copies(path, same))
	for _, item := range refresh(t, posted.PostID, false).Items {
		if item.State != "unchanged" || item.After == nil || *item.After != item.Before {
			t.Errorf("at first: %+v", item)
		}
	}
	newer := bytes.Repeat([]byte("the second version "), 1000)
	changeFile(t, path, newer)
	before := postsIn(t, site.ChannelID)
	dry := refresh(t, posted.PostID, true)
	if dry.ReplyID != "" || dry.Items[0].State != "changed" || dry.Items[0].After.Size != int64(len(newer)) || dry.Items[1].State != "unchanged" {
		t.Errorf("the dry run says %+v", dry)
	}
	if postsIn(t, site.ChannelID) != before {
		t.Error("the dry run has posted")
	}
	done := refresh(t, posted.PostID, false)
	reply := readPost(t, done.ReplyID)
	if reply.UserID != site.User.ID || reply.RootID != posted.PostID || !slices.Equal(reply.FileIDs, []string{done.Items[0].FileID}) ||
		!strings.Contains(reply.Message, "19.0 kB instead of 17 B") {
		t.Errorf("the answer is %+v", reply)
	}
	if got := download(t, done.Items[0].FileID); !bytes.Equal(got, newer) {
		t.Errorf("%d bytes came, not the %d of the newer version", len(got), len(newer))
	}
	if original := readPost(t, posted.PostID); len(original.FileIDs) != 2 || string(download(t, posted.Items[0].FileID)) != "the first version" {
		t.Errorf("the post itself has become %+v", original)
	}
	for _, postID := range []string{posted.PostID, done.ReplyID} {
		if again := refresh(t, postID, false); again.ReplyID != "" || again.Items[0].State != "unchanged" {
			t.Errorf("again: %+v", again)
		}
	}
}

// TestRefreshFollowsARename moves a file to another name, where the host's ids survive that; elsewhere it is gone.
func TestRefreshFollowsARename(t *testing.T) {
	path := addFile(t, []byte("content"))
	stable := list(t, in("/")).Capabilities.StableIDs
	listed := list(t, in("/", "limit", "1000")).Entries
	at := slices.IndexFunc(listed, func(entry api.Entry) bool { return entry.Path == path })
	posted := attach(t, api.Attachment{ChannelID: site.ChannelID, Items: []api.Item{{ID: listed[at].ID}}})
	dir := site.Host.Dir("alice")
	must(t, os.Rename(dir+path, dir+path+".moved"))
	t.Cleanup(func() { _ = os.Remove(dir + path + ".moved") })
	item := refresh(t, posted.PostID, false).Items[0]
	if !stable {
		if item.State != "gone" || item.After != nil {
			t.Errorf("where ids are paths: %+v", item)
		}
		return
	}
	if item.State != "renamed" || item.After.Path != path+".moved" || item.Before.Path != path {
		t.Errorf("after the move: %+v %+v", item, item.After)
	}
}

// TestRefreshOfADraft posts the files of a draft as a composer does.
func TestRefreshOfADraft(t *testing.T) {
	path := addFile(t, []byte("the first version"))
	drafted := attach(t, draft(path))
	var created post
	must(t, site.User.Post(t.Context(), "/api/v4/posts", map[string]any{
		"channel_id": site.ChannelID, "message": "by hand", "file_ids": []string{drafted.Items[0].FileID},
	}, &created))
	changeFile(t, path, []byte("the second version"))
	done := refresh(t, created.ID, false)
	if reply := readPost(t, done.ReplyID); reply.RootID != created.ID || string(download(t, done.Items[0].FileID)) != "the second version" {
		t.Errorf("the answer is %+v", reply)
	}
}

// TestRefreshIsThePostersOwn has others try, the system's admin among them, and posts that were not made from the host.
func TestRefreshIsThePostersOwn(t *testing.T) {
	posted := attach(t, copies("/Welcome.txt"))
	other := newConnected(t, "bob")
	for _, caller := range []api.Client{site.Plugin(other), site.Plugin(site.Admin)} {
		_, err := caller.Refresh(t.Context(), posted.PostID, true)
		wantProblem(t, err, "forbidden", 403)
	}
	var plain post
	must(t, site.User.Post(t.Context(), "/api/v4/posts", map[string]any{"channel_id": site.ChannelID, "message": "nothing"}, &plain))
	_, err := site.Plugin(site.User).Refresh(t.Context(), plain.ID, true)
	wantProblem(t, err, "not_found", 404)
	_, err = site.Plugin(site.User).Refresh(t.Context(), "../x", true)
	wantProblem(t, err, "invalid_request", 400)
}

// TestRefreshOfADeletedPost wants nothing to be left of it in the store.
func TestRefreshOfADeletedPost(t *testing.T) {
	posted := attach(t, copies("/Welcome.txt"))
	kept := func() bool {
		rows, err := databaseRows(t.Context())
		must(t, err)
		return strings.Contains(rows["pluginkeyvaluestore"], "post_"+posted.PostID)
	}
	if !kept() {
		t.Fatal("a look through the database does not see what is known of the post")
	}
	must(t, site.User.Delete(t.Context(), "/api/v4/posts/"+posted.PostID))
	_, err := site.Plugin(site.User).Refresh(t.Context(), posted.PostID, true)
	wantProblem(t, err, "not_found", 404)
	eventually(t, "forgotten", func() bool { return !kept() })
}
