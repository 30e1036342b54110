package filehost_test

import (
	"bytes"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// withImages is a world whose host has thumbnails.
func withImages(images *filehosttest.Images) *world {
	w := newWorld()
	w.remote.Thumbnails = images
	return w
}

var picture = filehost.Ref{Path: filehosttest.MustPath("/a.png")}

func TestAThumbnailIsTheHostsForThisUserNow(t *testing.T) {
	images := &filehosttest.Images{Bytes: []byte("an image")}
	w := withImages(images)
	w.tokens.Connect(bob)
	states := map[string]bool{}
	for _, user := range []string{alice, bob, alice} {
		got, err := w.Thumbnail(t.Context(), user, picture, 64)
		require.NoError(t, err)
		assert.Equal(t, "an image", string(got.Bytes))
		assert.Equal(t, "image/png", got.MIMEType)
		states[got.State] = true
	}
	w.tokens.Connect(alice)
	again, err := w.Thumbnail(t.Context(), alice, picture, 64)
	require.NoError(t, err)
	states[again.State] = true
	assert.Len(t, states, 3, "a user, and a connection of his")
	ask := filehosttest.Ask{UserID: alice, Ref: picture, Pixels: 64}
	assert.Equal(t, []filehosttest.Ask{ask, {UserID: bob, Ref: picture, Pixels: 64}, ask, ask}, images.Asks(), "the host is asked each time")
	assert.Zero(t, images.Open())

	require.NoError(t, w.tokens.Disconnect(t.Context(), alice))
	_, err = w.Thumbnail(t.Context(), alice, picture, 64)
	assert.Equal(t, filehost.NotConnected, filehost.KindOf(err))
}

func TestAThumbnailIsWholeOrAnError(t *testing.T) {
	const most = 2 << 20
	for name, test := range map[string]struct {
		images *filehosttest.Images
		want   filehost.Kind // Internal = it comes
	}{
		"as large as may be":             {&filehosttest.Images{Bytes: make([]byte, most)}, filehost.Internal},
		"as large, and doesn't say":      {&filehosttest.Images{Bytes: make([]byte, most), Untold: true}, filehost.Internal},
		"larger":                         {&filehosttest.Images{Bytes: make([]byte, most+1)}, filehost.TooLarge},
		"larger, and doesn't say":        {&filehosttest.Images{Bytes: make([]byte, most+1), Untold: true}, filehost.TooLarge},
		"said to be larger than memory":  {&filehosttest.Images{Bytes: make([]byte, 9), Claims: 1 << 60}, filehost.TooLarge},
		"breaks off":                     {&filehosttest.Images{Bytes: make([]byte, 9), Broken: filehost.E(filehost.HostUnavailable, "Early.", nil)}, filehost.HostUnavailable},
		"the host has none":              {&filehosttest.Images{Failure: filehost.E(filehost.Unsupported, "None.", nil)}, filehost.Unsupported},
		"the credential is good no more": {&filehosttest.Images{Failure: filehost.E(filehost.CredentialRejected, "No.", nil)}, filehost.NotConnected},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := withImages(test.images).Thumbnail(t.Context(), alice, picture, 64)
			if test.want == filehost.Internal {
				require.NoError(t, err)
				assert.True(t, bytes.Equal(test.images.Bytes, got.Bytes))
			} else {
				assert.Equal(t, test.want.Code(), filehost.KindOf(err).Code(), "%v", err)
				assert.Empty(t, got.Bytes)
			}
			assert.Zero(t, test.images.Open(), "what was opened is closed")
		})
	}
}

func TestTheSizeOfAThumbnailHasBounds(t *testing.T) {
	images := &filehosttest.Images{}
	w := withImages(images)
	for pixels, want := range map[int]bool{0: false, 15: false, 16: true, 1024: true, 1025: false, -1: false} {
		_, err := w.Thumbnail(t.Context(), alice, picture, pixels)
		assert.Equal(t, want, err == nil, pixels)
		var known *filehost.Error
		if !want && assert.ErrorAs(t, err, &known) {
			assert.Equal(t, "size", known.Field)
		}
	}
	assert.Len(t, images.Asks(), 2)
}

func TestAWallOfThumbnailsHasItsPlacesAndTakesNoListings(t *testing.T) {
	synctest.Test(t, wallOfThumbnails)
}

func wallOfThumbnails(t *testing.T) {
	gate := make(chan struct{})
	images := &filehosttest.Images{Asked: func(filehosttest.Ask) { <-gate }}
	w := withImages(images)
	var wall sync.WaitGroup
	for i := range 50 {
		wall.Go(func() {
			_, err := w.Thumbnail(t.Context(), alice, filehost.Ref{Path: filehosttest.MustPath(fmt.Sprintf("/%d.png", i))}, 64)
			assert.NoError(t, err)
		})
	}
	synctest.Wait()
	_, err := w.Browse(t.Context(), alice, filehost.Listing{})
	require.NoError(t, err, "a listing waits for no thumbnail")
	assert.Len(t, images.Asks(), 25, "so many at once")
	close(gate)
	wall.Wait()
	assert.Len(t, images.Asks(), 50)
}

func TestAThumbnailThatIsGotWithoutASignInIsInTheAuditLog(t *testing.T) {
	w := withImages(&filehosttest.Images{})
	w.tokens.Grant = string(filehost.MethodJWTBearer)
	_, err := w.Thumbnail(t.Context(), alice, picture, 64)
	require.NoError(t, err)
	events := w.audit.Events()
	require.Len(t, events, 2)
	for i, outcome := range []filehost.AuditOutcome{filehost.AuditAttempt, filehost.AuditSuccess} {
		assert.Equal(t, filehost.AuditThumbnail, events[i].Action)
		assert.Equal(t, outcome, events[i].Outcome)
		assert.Equal(t, []filehost.Path{picture.Path}, events[i].Paths)
	}
}
