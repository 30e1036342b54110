package suite

import (
	"crypto/rand"
	"errors"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// newAccount makes a user who is in the team and the channel and connected to nothing.
func newAccount(t *testing.T) *stack.Account {
	t.Helper()
	account, err := stack.CreateAccount(t.Context(), rest.New(site.Mattermost.URL, ""), "u"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	must(t, site.Admin.JoinTeam(t.Context(), site.TeamID, account))
	must(t, site.Admin.JoinChannel(t.Context(), site.ChannelID, account))
	// The sign-in's way through the plugin is held to the contract too.
	account.Browser.Transport = site.Transport
	return account
}

// newConnected makes a user who is connected as that user of the file host.
func newConnected(t *testing.T, hostUser string) *stack.Account {
	t.Helper()
	account := newAccount(t)
	must(t, site.Connect(t.Context(), account, hostUser))
	return account
}

// hostileNames are those of sample.HostileNames that the host's files can have.
func hostileNames() []string {
	return slices.DeleteFunc(slices.Clone(sample.HostileNames), func(name string) bool { return !site.Host.Takes(name) })
}

func newChannel(t *testing.T, members ...*stack.Account) string {
	t.Helper()
	id, err := site.Admin.CreateChannel(t.Context(), site.TeamID, "c"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	for _, member := range members {
		must(t, site.Admin.JoinChannel(t.Context(), id, member))
	}
	must(t, site.ForgetOnOtherNodes(t.Context()))
	return id
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// wantProblem wants err to be the API's error of that code and status.
func wantProblem(t *testing.T, err error, code string, status int) api.Problem {
	t.Helper()
	var problem *api.Problem
	if !errors.As(err, &problem) {
		t.Fatalf("got %v, want %d %s", err, status, code)
	}
	if problem.Code != code || problem.StatusCode != status {
		t.Fatalf("got %v, want %d %s", problem, status, code)
	}
	return *problem
}

// posted counts the posts that users have made in a channel.
func posted(t *testing.T, channelID string) int {
	t.Helper()
	var channel struct {
		Posts int `json:"total_msg_count"`
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+channelID, &channel))
	return channel.Posts
}

// post is a post as Mattermost tells it.
type post struct {
	ID        string
	UserID    string `json:"user_id"`
	ChannelID string `json:"channel_id"`
	RootID    string `json:"root_id"`
	Message   string
	FileIDs   []string `json:"file_ids"`
}

func readPost(t *testing.T, id string) post {
	t.Helper()
	var p post
	must(t, site.Admin.Get(t.Context(), "/api/v4/posts/"+id, &p))
	return p
}

// postsIn counts the posts in a channel that are no messages of the system's own, such as of who left.
func postsIn(t *testing.T, channelID string) int {
	t.Helper()
	var list struct {
		Posts map[string]struct{ Type string }
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+channelID+"/posts", &list))
	count := 0
	for _, p := range list.Posts {
		if p.Type == "" {
			count++
		}
	}
	return count
}

// fileInfo is what Mattermost knows of a file.
type fileInfo struct {
	Name            string
	Size            int64
	UserID          string `json:"user_id"`
	MIMEType        string `json:"mime_type"`
	Width           int
	HasPreviewImage bool `json:"has_preview_image"`
}

func readInfo(t *testing.T, id string) fileInfo {
	t.Helper()
	var info fileInfo
	must(t, site.Admin.Get(t.Context(), "/api/v4/files/"+id+"/info", &info))
	return info
}

// openFile streams a file back out of Mattermost.
func openFile(t *testing.T, id string) io.ReadCloser {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, site.Mattermost.URL+"/api/v4/files/"+id, nil)
	must(t, err)
	response, err := site.Admin.Send(request)
	must(t, err)
	return response.Body
}

func download(t *testing.T, id string) []byte {
	t.Helper()
	body := openFile(t, id)
	defer func() { _ = body.Close() }()
	content, err := io.ReadAll(body)
	must(t, err)
	return content
}

// copies asks for files to be copied into the shared channel.
func copies(paths ...string) api.Attachment {
	attachment := api.Attachment{ChannelID: site.ChannelID, As: "copy"}
	for _, path := range paths {
		attachment.Items = append(attachment.Items, api.Item{Path: path})
	}
	return attachment
}

// in is a query for the folder at path, with more parameters by name and value.
func in(path string, more ...string) url.Values {
	query := url.Values{"path": {path}}
	for pair := range slices.Chunk(more, 2) {
		query.Add(pair[0], pair[1])
	}
	return query
}

// atHost is a path of the tests as the plugin knows it: on a host where a user's own files are in a folder at the top, below
// that.
func atHost(path string) string {
	if home := site.Host.Traits().Home; home != "" {
		return strings.TrimSuffix("/"+home+path, "/")
	}
	return path
}

// addFile puts a file of alice's on the host for one test and gives its path.
func addFile(t *testing.T, content []byte) string {
	t.Helper()
	name := "/temporary " + rand.Text() + ".bin"
	file := site.Host.Dir("alice") + name
	must(t, os.WriteFile(file, content, 0o600))
	t.Cleanup(func() { _ = os.Remove(file) })
	return name
}

// eventually waits until something that Mattermost does in the background is done.
func eventually(t *testing.T, what string, done func() bool) {
	t.Helper()
	eventuallyWithin(t, 20*time.Second, what, done)
}

// eventuallyWithin is for what takes its time.
func eventuallyWithin(t *testing.T, most time.Duration, what string, done func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	limit := time.NewTimer(most)
	defer limit.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-limit.C:
			t.Fatalf("still not: %s", what)
		}
	}
}
