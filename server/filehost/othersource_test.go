package filehost_test

import (
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// TestARefreshIsOfTheAccountAndTheAddressThatThePostIsOf: the same id and the same path are another file there.
func TestARefreshIsOfTheAccountAndTheAddressThatThePostIsOf(t *testing.T) {
	for name, change := range map[string]func(*world){
		"another account": func(w *world) { w.tokens.Name(alice, "alice-in-private") },
		"another address": func(w *world) {
			config := w.Config
			config.Host.BaseURL, _ = url.Parse("https://new.example.com")
			w.Service = filehost.New(config)
		},
	} {
		for kind, ask := range map[string]filehost.Attachment{"copy": attachment("/report.pdf"), "draft": draftOf("/report.pdf"), "link": internal("/report.pdf")} {
			t.Run(name+", "+kind, func(t *testing.T) {
				w := linkWorld()
				attached := w.attachLinks(t, ask)
				postID := attached.PostID
				if ask.Draft {
					postID, _ = w.mattermost.Post(t.Context(), filehost.Post{UserID: alice, ChannelID: "channel", FileIDs: []string{attached.Items[0].FileID}})
				}
				posts, message := len(w.mattermost.Posts()), w.mattermost.Posts()[0].Message
				w.remote.AddFile("/report.pdf", []byte("what is nobody's business here"), noon.Add(time.Hour))
				change(w)
				for _, dry := range []bool{true, false} {
					refreshed, err := w.Refresh(t.Context(), alice, postID, dry)
					assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
					for _, item := range refreshed.Items {
						assert.Nil(t, item.After)
					}
				}
				assert.Len(t, w.mattermost.Posts(), posts)
				assert.Equal(t, message, w.mattermost.Posts()[0].Message)
			})
		}
	}
}

func draftOf(paths ...string) filehost.Attachment {
	draft := attachment(paths...)
	draft.Draft, draft.Message = true, ""
	return draft
}

func TestARefreshWorksAgainWithTheAccountOfThePost(t *testing.T) {
	w := linkWorld()
	postID := w.attachLinks(t, attachment("/report.pdf")).PostID
	w.tokens.Name(alice, "alice-in-private")
	_, err := w.Refresh(t.Context(), alice, postID, true)
	require.Error(t, err)
	w.tokens.Name(alice, "alice-at-host")
	w.tokens.Connect(alice)
	refreshed, err := w.Refresh(t.Context(), alice, postID, true)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Freshness{filehost.Unchanged}, statesOf(refreshed))
}
