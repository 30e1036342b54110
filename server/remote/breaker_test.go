package remote

import (
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/outbound"
)

// TestOneUsersFolderThatHangsClosesTheHostToNobody has a user look at folders on a storage of his own that never answers,
// many at once, so that they are given up in the same moment.
func TestOneUsersFolderThatHangsClosesTheHostToNobody(t *testing.T) {
	const atOnce = 8
	asked := make(chan struct{}, atOnce)
	host := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "tarpit") {
			_, _ = io.Copy(io.Discard, r.Body)
			asked <- struct{}{}
			<-r.Context().Done()
			return
		}
		answer(listingOf(""))(w, r)
	}))
	t.Cleanup(host.Close)
	out, err := outbound.New(outbound.Config{AllowHTTP: true, Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}})
	require.NoError(t, err)
	t.Cleanup(out.CloseIdleConnections)
	clock := clockwork.NewFakeClock()
	client := clientOf(t, host.URL+"/dav", Config{Host: filehost.Host{Kind: "webdav"}, Client: out, StallAfter: stallAfter, Clock: clock})
	mallory, others := alice, alice
	mallory.UserID, others.UserID = "mallory", "alice"

	var group sync.WaitGroup
	for range atOnce {
		group.Go(func() {
			_, err := client.Stat(t.Context(), mallory, path(t, "/tarpit/x"))
			if filehost.KindOf(err) != filehost.Timeout {
				t.Error(err)
			}
		})
	}
	for range atOnce {
		<-asked
	}
	clock.Advance(stallAfter)
	group.Wait()

	_, err = client.Stat(t.Context(), others, filehost.Root)
	require.NoError(t, err)
	_, err = client.Stat(t.Context(), mallory, filehost.Root)
	require.NoError(t, err, "nor to him")
}
