package filehost_test

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// TestALinkThatTheUserHasMadeHimselfStaysWhateverTheStoreFailsAt fails each of the store's operations, one at a time.
func TestALinkThatTheUserHasMadeHimselfStaysWhateverTheStoreFailsAt(t *testing.T) {
	for failing, done := 1, false; !done; failing++ {
		w := linkWorld()
		_, _, err := w.shares.CreateLink(t.Context(), filehost.Credential{Account: "alice-at-host"}, filehost.Entry{Path: filehosttest.MustPath("/folder")},
			filehost.LinkWish{Permission: filehost.MayView})
		require.NoError(t, err)
		ask, calls := leaving("/folder"), 0
		w.kv.Fail(func(_ filehosttest.Op, key string) error {
			if calls++; calls == failing {
				return errors.New("down")
			}
			return nil
		})
		attached, err := w.Attach(t.Context(), alice, ask)
		w.kv.Fail(nil)
		done = calls < failing
		w.clock.Advance(15 * time.Minute)
		w.DoDue(t.Context(), "")
		require.Len(t, w.shares.Made(), 1, "after operation %d", failing)
		if err == nil {
			w.mattermost.DeletePost(attached.PostID)
			_ = w.PostDeleted(t.Context(), filehost.SeenPost{ID: attached.PostID})
			require.Len(t, w.shares.Made(), 1, "after operation %d, and its post", failing)
		}
		assert.NotContains(t, w.stored(t), "hold_")
	}
}
