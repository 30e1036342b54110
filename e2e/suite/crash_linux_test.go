package suite

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptrace"
	"syscall"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/embedded"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// crash is a request that is under way while the plugin is killed.
type crash struct {
	asked   api.Attachment
	key     string
	content []byte
	ended   chan struct{}
}

// begin prepares a request with a file of 4 MiB, and a channel of its own.
func begin(t *testing.T) *crash {
	t.Helper()
	c := &crash{key: newKey(), content: sample.Pattern(4 << 20), ended: make(chan struct{})}
	c.asked = copiesInto(t, addFile(t, c.content))
	return c
}

// send sends the request; what it is answered, if it is, is the server's affair.
func (c *crash) send(t *testing.T) {
	t.Helper()
	client := api.Client{Client: rest.New(site.BaseURL(), site.User.Token)}
	go func() {
		defer close(c.ended)
		if attached, err := client.AttachOnce(t.Context(), c.key, c.asked); err == nil {
			t.Errorf("a plugin that was killed answered %+v", attached)
		}
	}()
}

// signal sends a signal to the plugin's process on the first node.
func signal(t *testing.T, sent syscall.Signal) {
	t.Helper()
	processes, err := site.Mattermost.Processes()
	must(t, err)
	if processes[stack.PluginID] == 0 {
		t.Fatalf("the plugin doesn't run: %v", processes)
	}
	must(t, syscall.Kill(processes[stack.PluginID], sent))
}

// restart starts the plugin anew, as an admin does it.
func restart(t *testing.T) {
	t.Helper()
	must(t, site.Admin.Post(t.Context(), "/api/v4/plugins/"+stack.PluginID+"/disable", nil, nil))
	must(t, site.Admin.Post(t.Context(), "/api/v4/plugins/"+stack.PluginID+"/enable", nil, nil))
	eventually(t, "the plugin is healthy again", func() bool {
		return rest.New(site.BaseURL(), site.User.Token).Get(t.Context(), "/health", nil) == nil
	})
}

// repeat sends the request again and wants its answer at once, from then on for good, and one post.
func (c *crash) repeat(t *testing.T) {
	t.Helper()
	attached := attachOnce(t, site.Plugin(site.User), c.key, c.asked)
	wantSame(t, attached, attachOnce(t, site.Plugin(site.User), c.key, c.asked))
	wantOnePost(t, c.asked.ChannelID, attached, c.content)
}

// stall makes the host stall its answers to a method, and tells when it does.
func stall(path, method string, after int64) (reached chan struct{}, lift func()) {
	reached = make(chan struct{})
	return reached, site.Host.Fault(hosts.Fault{User: "alice", Path: path, Method: method, After: after,
		Then: func() { close(reached) }, End: hosts.Stall})
}

// sendHalf sends the request as far as the middle of its body, once the plugin asks for that: it reads a body only when it
// has found out who calls, and the server hands on what is read without reading itself. reading is closed then.
func (c *crash) sendHalf(t *testing.T) (reading chan struct{}) {
	t.Helper()
	body, err := json.Marshal(c.asked)
	must(t, err)
	reading = make(chan struct{})
	ctx := httptrace.WithClientTrace(t.Context(), &httptrace.ClientTrace{Got100Continue: func() { close(reading) }})
	rest, never := io.Pipe()
	t.Cleanup(func() { _ = never.Close() })
	half := io.MultiReader(bytes.NewReader(body[:len(body)/2]), rest)
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, site.BaseURL()+"/attach", half)
	must(t, err)
	request.ContentLength = int64(len(body))
	request.Header = http.Header{"Authorization": {"Bearer " + site.User.Token}, "Content-Type": {"application/json"},
		"Idempotency-Key": {c.key}, "Expect": {"100-continue"}}
	client := &http.Client{Transport: &http.Transport{ExpectContinueTimeout: time.Hour}}
	go func() {
		defer close(c.ended)
		response, err := client.Do(request)
		if err != nil {
			return
		}
		_ = response.Body.Close()
		if response.StatusCode/100 == 2 {
			t.Errorf("a plugin that was killed answered %s", response.Status)
		}
	}()
	return reading
}

// TestKilledBeforeTheClaim kills it while it reads the request.
func TestKilledBeforeTheClaim(t *testing.T) {
	c := begin(t)
	select {
	case <-c.sendHalf(t):
	case <-c.ended:
		t.Fatal("the request ended before the plugin read it")
	}
	signal(t, syscall.SIGKILL)
	<-c.ended
	restart(t)
	c.repeat(t)
}

// TestKilledWhileCopying kills it with half of the file read.
func TestKilledWhileCopying(t *testing.T) {
	c := begin(t)
	reached, lift := stall(c.asked.Items[0].Path, http.MethodGet, 2<<20)
	defer lift()
	c.send(t)
	<-reached
	_, err := site.Plugin(site.User).AttachOnce(t.Context(), c.key, c.asked)
	wantConflict(t, err)
	signal(t, syscall.SIGKILL)
	<-c.ended
	lift()
	restart(t)
	c.repeat(t)
}

func wantConflict(t *testing.T, err error) {
	t.Helper()
	if problem := wantProblem(t, err, "conflict", 409); problem.Details["retry_after_s"] == nil {
		t.Errorf("details are %v", problem.Details)
	}
}

// TestKilledAfterTheUpload kills it when the file is in Mattermost and it looks at the host once more.
func TestKilledAfterTheUpload(t *testing.T) {
	c := begin(t)
	type stalled struct {
		reached chan struct{}
		lift    func()
	}
	looks := make(chan stalled, 1)
	defer site.Host.Fault(hosts.Fault{User: "alice", Path: c.asked.Items[0].Path, After: 1, Then: func() {
		reached, lift := stall(c.asked.Items[0].Path, "PROPFIND", 0)
		looks <- stalled{reached, lift}
	}})()
	c.send(t)
	look := <-looks
	defer look.lift()
	<-look.reached
	signal(t, syscall.SIGKILL)
	<-c.ended
	look.lift()
	restart(t)
	c.repeat(t)
}

// TestKilledWhileItsPostIsCreated kills it while the server asks another plugin about its post. The server creates the
// post all the same, and ends the plugin only then; another node is asked before.
func TestKilledWhileItsPostIsCreated(t *testing.T) {
	node := secondNode(t)
	c := begin(t)
	c.asked.Message = "please wait " + stack.HoldMarker
	defer func() { _ = site.Release(t.Context()) }()
	c.send(t)
	eventually(t, "the post is held", func() bool {
		held, err := site.Held(t.Context())
		return err == nil && held == 1
	})
	signal(t, syscall.SIGKILL)
	<-c.ended
	_, err := node.Plugin(site.User).AttachOnce(t.Context(), c.key, c.asked)
	wantConflict(t, err)
	must(t, site.Release(t.Context()))
	eventually(t, "the server has created the post", func() bool { return postHasFiles(t, c.asked.ChannelID) })
	attached := attachOnce(t, node.Plugin(site.User), c.key, c.asked)
	restart(t)
	c.repeat(t)
	wantSame(t, attached, attachOnce(t, site.Plugin(site.User), c.key, c.asked))
}

// postHasFiles tells whether the files of the channel's post are attached, which comes after the post.
func postHasFiles(t *testing.T, channelID string) bool {
	t.Helper()
	var list struct {
		Posts map[string]struct {
			Metadata struct{ Files []struct{ ID string } }
		}
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/channels/"+channelID+"/posts", &list))
	for _, p := range list.Posts {
		if len(p.Metadata.Files) > 0 {
			return true
		}
	}
	return false
}

// TestAnotherNodeTakesOver kills the plugin of one node with one of two files copied, and repeats the request on the other.
func TestAnotherNodeTakesOver(t *testing.T) {
	node := secondNode(t)
	c := begin(t)
	c.asked.Items = append(c.asked.Items, api.Item{Path: addFile(t, c.content)})
	reached, lift := stall(c.asked.Items[1].Path, http.MethodGet, 2<<20)
	defer lift()
	c.send(t)
	<-reached
	before := wholeUploads(t, node, len(c.content))
	_, err := node.Plugin(site.User).AttachOnce(t.Context(), c.key, c.asked)
	wantConflict(t, err)
	signal(t, syscall.SIGKILL)
	<-c.ended
	lift()
	var attached api.Attached
	eventually(t, "the other node answers", func() bool {
		var problem *api.Problem
		attached, err = node.Plugin(site.User).AttachOnce(t.Context(), c.key, c.asked)
		return !errors.As(err, &problem) || problem.Code != "conflict"
	})
	must(t, err)
	if copied := wholeUploads(t, node, len(c.content)) - before; copied != 1 {
		t.Errorf("it copied %d files, not only the one that was missing", copied)
	}
	restart(t)
	c.repeat(t)
	wantSame(t, attached, attachOnce(t, site.Plugin(site.User), c.key, c.asked))
}

// wholeUploads counts the files of that size that the scanners of both nodes have seen. Which node's sees an upload depends
// on the way that the plugin finds to its server. With files on S3, Mattermost also stores what it got of an upload that
// broke off, shows it to plugins, and posts it nowhere.
func wholeUploads(t *testing.T, node *stack.Node, size int) int {
	t.Helper()
	var elsewhere []stack.Scanned
	must(t, rest.New(node.URL, site.Admin.Token).Get(t.Context(), "/plugins/scanner/", &elsewhere))
	here, err := site.Scanned(t.Context())
	must(t, err)
	whole := 0
	for _, seen := range append(here, elsewhere...) {
		if seen.Size == int64(size) {
			whole++
		}
	}
	return whole
}

// TestKilledWhileRefreshing kills the plugin of a node when the sign-in server has spent the refresh token and the answer is
// on its way. The other node waits until the lease has run out, tries the old token once, and asks to connect again.
func TestKilledWhileRefreshing(t *testing.T) {
	node, err := site.AddNode(t.Context(), stack.NodeConfig{})
	must(t, err)
	t.Cleanup(func() { must(t, site.StopNode(node)) })
	account := newConnected(t, "carol")
	spent := make(chan struct{})
	lift := site.Host.Fault(hosts.Fault{Method: http.MethodPost, Path: embedded.TokenPath, Then: func() { close(spent) }, End: hosts.Stall})
	defer lift()
	site.Host.ExpireAccessTokens("carol")
	before := site.Host.Counts().Refreshes
	killed := make(chan error, 1)
	go func() {
		_, err := api.Client{Client: rest.New(node.URL+"/plugins/"+stack.PluginID+"/api", account.Token)}.List(t.Context(), in("/"))
		killed <- err
	}()
	<-spent
	processes, err := node.Processes()
	must(t, err)
	must(t, syscall.Kill(processes[stack.PluginID], syscall.SIGKILL))
	if err := <-killed; err == nil {
		t.Error("a plugin that was killed answered")
	}
	lift()

	_, err = site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	if refreshes := site.Host.Counts().Refreshes - before; refreshes != 2 {
		t.Errorf("the refresh token was sent %d times, want twice: by who died, and by who came after", refreshes)
	}
	_, err = site.Plugin(account).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	if refreshes := site.Host.Counts().Refreshes - before; refreshes != 2 {
		t.Error("a refresh token that is dead was sent again")
	}
	must(t, site.Connect(t.Context(), account, "carol"))
	_, err = site.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
}
