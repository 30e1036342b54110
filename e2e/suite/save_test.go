package suite

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// upload puts a file of so many bytes into Mattermost, as the account, and gives its id.
func upload(t *testing.T, account *stack.Account, channelID, name string, content io.Reader, size int64) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		site.Mattermost.URL+"/api/v4/files?"+url.Values{"channel_id": {channelID}, "filename": {name}}.Encode(), io.NopCloser(content))
	must(t, err)
	request.ContentLength = size
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := account.Send(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		FileInfos []struct{ ID string } `json:"file_infos"`
	}
	must(t, json.NewDecoder(response.Body).Decode(&answer))
	return answer.FileInfos[0].ID
}

// shareFile posts a file of the account's, and gives its id and the post's.
func shareFile(t *testing.T, account *stack.Account, channelID, rootID, name, content string) (fileID, postID string) {
	t.Helper()
	fileID = upload(t, account, channelID, name, strings.NewReader(content), int64(len(content)))
	var written post
	must(t, account.Post(t.Context(), "/api/v4/posts", map[string]any{"channel_id": channelID, "root_id": rootID, "message": "m", "file_ids": []string{fileID}}, &written))
	return fileID, written.ID
}

// newFolder makes a folder of alice's for one test, and gives its path and where it is on the disk.
func newFolder(t *testing.T) (path, dir string) {
	t.Helper()
	path = "/saved " + rand.Text()
	dir = site.Host.Dir("alice") + path
	must(t, os.Mkdir(dir, 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return path, dir
}

func namesIn(t *testing.T, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	must(t, err)
	var names []string
	for _, entry := range entries {
		names = append(names, entry.Name())
	}
	return names
}

// wantFile wants a file on the host's disk to have that content.
func wantFile(t *testing.T, file, content string) {
	t.Helper()
	raw, err := os.ReadFile(file)
	must(t, err)
	if string(raw) != content {
		t.Errorf("%s has %d bytes, not the %d that were saved", file, len(raw), len(content))
	}
}

// TestSaveAttachments saves what others have posted in a channel, in a thread, in a private channel and in a direct
// message, and what is one's own.
func TestSaveAttachments(t *testing.T) {
	folder, dir := newFolder(t)
	mine, private, direct := newChannel(t, site.User, site.User2), newPrivateChannel(t, site.User, site.User2), directChannel(t, site.User, site.User2)
	for name, where := range map[string][2]string{
		"channel.bin": {mine}, "thread.bin": {mine, say(t, mine, "")}, "private.bin": {private}, "direct.bin": {direct}, "Ärger & #1.txt": {mine},
	} {
		content := name + string(sample.Pattern(1<<20+3))
		fileID, _ := shareFile(t, site.User2, where[0], where[1], name, content)
		saved, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
		must(t, err)
		if saved.Entry.Path != folder+"/"+name || saved.Entry.Size != int64(len(content)) || saved.Renamed {
			t.Errorf("it was saved as %+v", saved)
		}
		wantFile(t, dir+"/"+name, content)
	}
	own := upload(t, site.User, mine, "draft.txt", strings.NewReader("mine"), 4)
	saved, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: own, Folder: folder, Name: "other.txt", Conflict: "fail"})
	must(t, err)
	if saved.Entry.Name != "other.txt" {
		t.Errorf("it was saved as %+v", saved)
	}
	listed, err := site.Plugin(site.User).List(t.Context(), in(folder))
	must(t, err)
	if !listed.Capabilities.Save || len(listed.Entries) != 6 {
		t.Errorf("the folder has %d entries; can save: %v", len(listed.Entries), listed.Capabilities.Save)
	}
}

// TestSaveChecksWhoMayRead names files that the caller may not have, and wants the host not even asked.
func TestSaveChecksWhoMayRead(t *testing.T) {
	folder, dir := newFolder(t)
	mine, foreign := newChannel(t, site.User, site.User2), newChannel(t, site.User2)
	private, elsewhere := newPrivateChannel(t, site.User2), directChannel(t, site.Admin, site.User2)
	gone, goneIn := shareFile(t, site.User2, mine, "", "a.txt", "gone")
	must(t, site.User2.Delete(t.Context(), "/api/v4/posts/"+goneIn))
	inForeign, _ := shareFile(t, site.User2, foreign, "", "a.txt", "foreign")
	inPrivate, _ := shareFile(t, site.User2, private, "", "a.txt", "private")
	inDirect, _ := shareFile(t, site.User2, elsewhere, "", "a.txt", "direct")
	tests := map[string]struct {
		fileID, code string
		status       int
	}{
		"another's, not posted":      {upload(t, site.User2, mine, "a.txt", strings.NewReader("draft"), 5), "not_found", 404},
		"of a post that is deleted":  {gone, "not_found", 404},
		"of a private channel":       {inPrivate, "forbidden", 403},
		"of others' direct message":  {inDirect, "forbidden", 403},
		"that never was":             {"abcdefghijklmnopqrstuvwxyz", "not_found", 404},
		"with a way behind its id":   {inForeign + "/../x", "invalid_request", 400},
		"with the id of its channel": {mine, "not_found", 404},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := site.Host.Counts().WithCredential
			_, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: test.fileID, Folder: folder})
			wantProblem(t, err, test.code, test.status)
			if after := site.Host.Counts().WithCredential; after != before {
				t.Error("the host was asked")
			}
		})
	}
	if names := namesIn(t, dir); len(names) > 0 {
		t.Errorf("the host has %q", names)
	}
}

// TestSaveOnConflict saves under a name that is taken in each of the three ways.
func TestSaveOnConflict(t *testing.T) {
	folder, dir := newFolder(t)
	channel := newChannel(t, site.User)
	fileID, _ := shareFile(t, site.User, channel, "", "report.txt", "the new one")
	must(t, os.WriteFile(dir+"/report.txt", []byte("the old one"), 0o600))
	plugin := site.Plugin(site.User)
	_, err := plugin.Save(t.Context(), api.Saving{FileID: fileID, Folder: folder, Conflict: "fail"})
	wantProblem(t, err, "conflict", 409)
	for _, name := range []string{"report (2).txt", "report (3).txt"} {
		saved, err := plugin.Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
		must(t, err)
		if saved.Entry.Name != name || !saved.Renamed {
			t.Errorf("it was saved as %+v, not as %s", saved, name)
		}
	}
	wantFile(t, dir+"/report.txt", "the old one")
	saved, err := plugin.Save(t.Context(), api.Saving{FileID: fileID, Folder: folder, Conflict: "replace"})
	must(t, err)
	if saved.Renamed {
		t.Errorf("it was saved as %+v", saved)
	}
	wantFile(t, dir+"/report.txt", "the new one")
	if names := namesIn(t, dir); !slices.Equal(names, []string{"report (2).txt", "report (3).txt", "report.txt"}) {
		t.Errorf("the host has %q", names)
	}
}

// TestSaveAtOnce saves two files under one name at once: one wins, and is whole.
func TestSaveAtOnce(t *testing.T) {
	folder, dir := newFolder(t)
	channel := newChannel(t, site.User)
	contents := []string{strings.Repeat("a", 4<<20), strings.Repeat("b", 4<<20)}
	var files [2]string
	for i, content := range contents {
		files[i], _ = shareFile(t, site.User, channel, "", "a.txt", content)
	}
	configure(t, map[string]any{"copiesperuser": 2})
	var errs [2]error
	var both errgroup.Group
	for i, fileID := range files {
		both.Go(func() error {
			_, errs[i] = site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder, Name: "one.bin", Conflict: "fail"})
			return nil
		})
	}
	must(t, both.Wait())
	winner := slices.Index(errs[:], nil)
	if winner < 0 {
		t.Fatalf("neither was saved: %v, %v", errs[0], errs[1])
	}
	wantProblem(t, errs[1-winner], "conflict", 409)
	wantFile(t, dir+"/one.bin", contents[winner])
	if names := namesIn(t, dir); len(names) != 1 {
		t.Errorf("the host has %q", names)
	}
}

// TestSaveThatFailsLeavesNothing breaks what is sent to the host in several ways: each is an error, and nothing of the file
// stays.
func TestSaveThatFailsLeavesNothing(t *testing.T) {
	folder, dir := newFolder(t)
	const size = 8 << 20
	fileID := upload(t, site.User, newChannel(t, site.User), "big.bin", bytes.NewReader(sample.Pattern(size)), size)
	method := http.MethodPut
	if site.Host.Traits().Kind == "opencloud" {
		method = http.MethodPatch
	}
	for name, test := range map[string]struct {
		fault  hosts.Fault
		code   string
		status int
	}{
		"the quota is full":   {hosts.Fault{Status: http.StatusInsufficientStorage}, "too_large", 413},
		"it is refused":       {hosts.Fault{Status: http.StatusForbidden}, "forbidden", 403},
		"the host has failed": {hosts.Fault{Status: http.StatusServiceUnavailable}, "host_unavailable", 502},
	} {
		t.Run(name, func(t *testing.T) {
			test.fault.Method, test.fault.User = method, "alice"
			defer site.Host.Fault(test.fault)()
			_, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
			problem := wantProblem(t, err, test.code, test.status)
			if owner := problem.Details["limit_owner"]; test.code == "too_large" && owner != "host" {
				t.Errorf("the limit is %v's", owner)
			}
			if names := namesIn(t, dir); len(names) > 0 {
				t.Errorf("the host has %q", names)
			}
		})
	}
	saved, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
	must(t, err)
	if saved.Entry.Size != size {
		t.Errorf("it was saved as %+v", saved)
	}
}

// TestSaveLarge saves a file that Nextcloud takes in chunks only, and OpenCloud in several parts.
func TestSaveLarge(t *testing.T) {
	folder, dir := newFolder(t)
	const size = 40<<20 + 3
	fileID := upload(t, site.User, newChannel(t, site.User), "big.bin", bytes.NewReader(sample.Pattern(size)), size)
	_, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
	must(t, err)
	wantFile(t, dir+"/big.bin", string(sample.Pattern(size)))
}

// TestSaveWithoutTheServersOwnRoute shows what becomes of a save where the plugin can't reach it.
func TestSaveWithoutTheServersOwnRoute(t *testing.T) {
	folder, dir := newFolder(t)
	channel := newChannel(t, site.User, site.User2)
	fileID, _ := shareFile(t, site.User2, channel, "", "a.txt", "content")
	foreign, _ := shareFile(t, site.User2, newPrivateChannel(t, site.User2), "", "a.txt", "content")
	hideServer(t)
	eventually(t, "health fails", func() bool { return checkStatus(adminHealth(t), "transfers") == "fail" })
	_, err := site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
	wantProblem(t, err, "not_configured", 503)

	configure(t, map[string]any{"allowunscannedcopies": true})
	eventually(t, "health warns", func() bool { return checkStatus(adminHealth(t), "transfers") == "warn" })
	_, err = site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: foreign, Folder: folder})
	wantProblem(t, err, "forbidden", 403)
	_, err = site.Plugin(site.User).Save(t.Context(), api.Saving{FileID: fileID, Folder: folder})
	must(t, err)
	wantFile(t, dir+"/a.txt", "content")
}

// TestMakeFolder makes a folder, once.
func TestMakeFolder(t *testing.T) {
	folder, dir := newFolder(t)
	entry, err := site.Plugin(site.User).MakeFolder(t.Context(), folder+"/New ü")
	must(t, err)
	if entry.Path != folder+"/New ü" || entry.Kind != "folder" {
		t.Errorf("it was made as %+v", entry)
	}
	if names := namesIn(t, dir); !slices.Equal(names, []string{"New ü"}) {
		t.Errorf("the host has %q", names)
	}
	_, err = site.Plugin(site.User).MakeFolder(t.Context(), folder+"/New ü")
	wantProblem(t, err, "conflict", 409)
	_, err = site.Plugin(site.User).MakeFolder(t.Context(), folder+"/none/New")
	wantProblem(t, err, "not_found", 404)
}
