package suite

import (
	"net/http"
	"syscall"
	"testing"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestKilledBetweenLinksAndTheirPost kills the plugin when one of two links is made. The next run takes it back.
func TestKilledBetweenLinksAndTheirPost(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	first, second := addFile(t, []byte("linked")), addFile(t, []byte("linked too"))
	asked := links("public", newChannel(t, site.User), atHost(first), atHost(second))
	reached, lifts := make(chan func()), make(chan func(), 1)
	lifts <- site.Host.Fault(hosts.Fault{User: "alice", Method: http.MethodPost, After: 1, Then: func() {
		(<-lifts)() // of the first link; the second one stalls
		lifts <- site.Host.Fault(hosts.Fault{User: "alice", Method: http.MethodPost, After: 1, Then: func() { reached <- <-lifts }, End: hosts.Stall})
	}})
	ended := make(chan struct{})
	client := api.Client{Client: rest.New(site.BaseURL(), site.User.Token)}
	go func() { defer close(ended); _, _ = client.Attach(t.Context(), asked) }()
	var lift func()
	select {
	case lift = <-reached:
	case <-ended:
		t.Fatal("the links were not made")
	}
	signal(t, syscall.SIGKILL)
	<-ended
	lift()
	restart(t)
	eventuallyWithin(t, 2*time.Minute, "the first link is taken back", func() bool { return len(publicShares(host, first)) == 0 })
	if cards := cardsIn(t, asked.ChannelID); len(cards) != 0 {
		t.Errorf("the channel has %v", cards)
	}
}

// TestKilledWhileAPostWithLinksIsCreated kills the plugin while the server creates the post, which it does all the same: the
// next run finds the post and looks after its links.
func TestKilledWhileAPostWithLinksIsCreated(t *testing.T) {
	host, ok := sharingHost(t)
	if !ok {
		return
	}
	path := addFile(t, []byte("linked"))
	asked, key := links("public", newChannel(t, site.User), atHost(path)), newKey()
	asked.Message = "please wait " + stack.HoldMarker
	defer func() { _ = site.Release(t.Context()) }()
	ended := make(chan struct{})
	client := api.Client{Client: rest.New(site.BaseURL(), site.User.Token)}
	go func() { defer close(ended); _, _ = client.AttachOnce(t.Context(), key, asked) }()
	eventually(t, "the post is held", func() bool {
		held, err := site.Held(t.Context())
		return err == nil && held == 1
	})
	signal(t, syscall.SIGKILL)
	<-ended
	must(t, site.Release(t.Context()))
	eventually(t, "the server has created the post", func() bool { return len(cardsIn(t, asked.ChannelID)) == 1 })
	restart(t)
	attached := attachOnce(t, site.WholePlugin(site.User), key, asked)
	if cards := cardsIn(t, asked.ChannelID); len(cards) != 1 || cards[0] != attached.PostID || len(publicShares(host, path)) != 1 {
		t.Errorf("the channel has %v, the answer %+v", cards, attached)
	}
	eventuallyWithin(t, 2*time.Minute, "the card is there", func() bool {
		_, err := site.Plugin(site.User).Card(t.Context(), attached.PostID)
		return err == nil
	})
}
