package suite

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
)

func newKey() string { return "key-" + rand.Text() }

// attachStatus sends an attachment with a key and gives the status of a good answer.
func attachStatus(t *testing.T, key string, attachment api.Attachment) int {
	t.Helper()
	body, err := json.Marshal(attachment)
	must(t, err)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, site.BaseURL()+"/attach", bytes.NewReader(body))
	must(t, err)
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Idempotency-Key", key)
	response, err := site.Plugin(site.User).Send(request)
	must(t, err)
	must(t, response.Body.Close())
	return response.StatusCode
}

// copiesInto asks for copies into a channel of the test's own.
func copiesInto(t *testing.T, paths ...string) api.Attachment {
	t.Helper()
	attachment := copies(paths...)
	attachment.ChannelID = newChannel(t, site.User)
	return attachment
}

// attachOnce wants the answer at the first try.
func attachOnce(t *testing.T, client api.Client, key string, attachment api.Attachment) api.Attached {
	t.Helper()
	attached, err := client.AttachOnce(t.Context(), key, attachment)
	must(t, err)
	return attached
}

// wantSame wants answers to be equal but for the ids of their requests.
func wantSame(t *testing.T, first, second api.Attached) {
	t.Helper()
	for _, attached := range []api.Attached{first, second} {
		for _, item := range attached.Items {
			if item.Error != nil {
				item.Error.RequestID = ""
			}
		}
	}
	if !reflect.DeepEqual(first, second) {
		t.Errorf("answered %+v, and then %+v", first, second)
	}
}

// wantOnePost wants the channel to have one post, with these bytes.
func wantOnePost(t *testing.T, channelID string, attached api.Attached, content []byte) {
	t.Helper()
	if count := postsIn(t, channelID); count != 1 {
		t.Errorf("the channel has %d posts", count)
	}
	stored := readPost(t, attached.PostID)
	if len(stored.FileIDs) != len(attached.Items) || stored.ChannelID != channelID || stored.UserID != site.User.ID {
		t.Errorf("the post is %+v", stored)
	}
	for _, item := range attached.Items {
		if got := download(t, item.FileID); !bytes.Equal(got, content) {
			t.Errorf("%d bytes came back, not the %d that were sent", len(got), len(content))
		}
	}
}

// TestSameKeySameAnswer repeats a request, in other words, after its file is gone and one that wasn't there has come.
func TestSameKeySameAnswer(t *testing.T) {
	const missing = "/not there yet.txt"
	asked := copiesInto(t, addFile(t, []byte("once")), missing, "/Welcome.txt")
	key := newKey()
	first := attachOnce(t, site.Plugin(site.User), key, asked)
	folder, path := site.Host.Dir("alice"), asked.Items[0].Path
	if site.Host.Traits().Kind == "webdav" { // where an id is the path in other words
		asked.Items[0] = api.Item{ID: entryID(t, path)}
	}
	must(t, os.Remove(folder+path))
	must(t, os.WriteFile(folder+missing, []byte("late"), 0o600))
	t.Cleanup(func() { _ = os.Remove(folder + missing) })
	wantSame(t, first, attachOnce(t, site.Plugin(site.User), key, asked))
	if count := postsIn(t, asked.ChannelID); count != 1 {
		t.Errorf("the channel has %d posts", count)
	}

	_, err := site.Plugin(site.User).AttachOnce(t.Context(), key, copies("/Welcome.txt"))
	if problem := wantProblem(t, err, "key_reused", 422); problem.Details["field"] != "Idempotency-Key" {
		t.Errorf("details are %v", problem.Details)
	}
	another := newConnected(t, "alice")
	must(t, site.Admin.JoinChannel(t.Context(), asked.ChannelID, another))
	if other := attachOnce(t, site.Plugin(another), key, asked); other.PostID == first.PostID {
		t.Error("another user got the answer")
	}
}

// entryID is the id that the listing gives a file of the top folder.
func entryID(t *testing.T, path string) string {
	t.Helper()
	for _, entry := range list(t, in("/", "type", "file")).Entries {
		if entry.Path == path {
			return entry.ID
		}
	}
	t.Fatalf("%s isn't listed", path)
	return ""
}

// TestFinalErrorsAreRepeatedAndOthersAreNot mends the cause of each.
func TestFinalErrorsAreRepeatedAndOthersAreNot(t *testing.T) {
	key, path := newKey(), addFile(t, []byte("there"))
	missing := copiesInto(t, path+".later")
	_, err := site.Plugin(site.User).AttachOnce(t.Context(), key, missing)
	wantProblem(t, err, "not_found", 404)
	rename(t, path, path+".later")
	_, err = site.Plugin(site.User).AttachOnce(t.Context(), key, missing)
	wantProblem(t, err, "not_found", 404)
	attachOnce(t, site.Plugin(site.User), newKey(), missing)

	key, path = newKey(), addFile(t, []byte("there"))
	lift := site.Host.Fault(hosts.Fault{User: "alice", Path: path, Status: http.StatusServiceUnavailable})
	defer lift()
	_, err = site.Plugin(site.User).AttachOnce(t.Context(), key, copiesInto(t, path))
	wantProblem(t, err, "host_unavailable", 502)
	lift()
	attachOnce(t, site.Plugin(site.User), key, copiesInto(t, path))
}

// TestManyCallsWithOneKey sends 50 at once to two nodes.
func TestManyCallsWithOneKey(t *testing.T) {
	content := sample.Pattern(3 << 20)
	asked, key := copiesInto(t, addFile(t, content)), newKey()
	clients := []api.Client{site.Plugin(site.User), secondNode(t).Plugin(site.User)}
	var (
		group    sync.WaitGroup
		mu       sync.Mutex
		answers  []api.Attached
		conflict int
	)
	for i := range 50 {
		group.Go(func() {
			attached, err := clients[i%2].AttachOnce(t.Context(), key, asked)
			mu.Lock()
			defer mu.Unlock()
			var problem *api.Problem
			switch {
			case err == nil:
				answers = append(answers, attached)
			case errors.As(err, &problem) && problem.Code == "conflict" && problem.Details["retry_after_s"] != nil:
				conflict++
			default:
				t.Errorf("answered %v", err)
			}
		})
	}
	group.Wait()
	if len(answers) == 0 || len(answers)+conflict != 50 {
		t.Fatalf("%d answers and %d conflicts", len(answers), conflict)
	}
	t.Logf("%d answers and %d conflicts", len(answers), conflict)
	for _, answer := range append(answers, attachOnce(t, clients[1], key, asked)) {
		wantSame(t, answers[0], answer)
	}
	wantOnePost(t, asked.ChannelID, answers[0], content)
}

// TestDraftsAreKeptToo repeats a draft after its files have been posted.
func TestDraftsAreKeptToo(t *testing.T) {
	asked, key := draft("/Welcome.txt"), newKey()
	first := attachOnce(t, site.Plugin(site.User), key, asked)
	must(t, site.User.Post(t.Context(), "/api/v4/posts", map[string]any{"channel_id": site.ChannelID, "file_ids": []string{first.FileInfos[0].ID}}, nil))
	wantSame(t, first, attachOnce(t, site.Plugin(site.User), key, asked))
}

// TestWrongKeysAreRefused wants the header to be named.
func TestWrongKeysAreRefused(t *testing.T) {
	for name, key := range map[string]string{"too long": strings.Repeat("k", 256), "with a space": "a b", "not ASCII": "sch\u00f6n"} {
		t.Run(name, func(t *testing.T) {
			_, err := site.Plugin(site.User).AttachOnce(t.Context(), key, copies("/Welcome.txt"))
			if problem := wantProblem(t, err, "invalid_request", 400); problem.Details["field"] != "Idempotency-Key" {
				t.Errorf("details are %v", problem.Details)
			}
		})
	}
}

// rename renames a file of alice's on the host.
func rename(t *testing.T, from, to string) {
	t.Helper()
	must(t, os.Rename(site.Host.Dir("alice")+from, site.Host.Dir("alice")+to))
	t.Cleanup(func() { _ = os.Remove(site.Host.Dir("alice") + to) })
}
