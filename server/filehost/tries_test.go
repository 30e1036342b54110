package filehost_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// TestAReplicaThatLagsBehindIsNotAskedAsFastAsItAnswers: else one request would keep the database busy for as long as it lags.
func TestAReplicaThatLagsBehindIsNotAskedAsFastAsItAnswers(t *testing.T) {
	w := linkWorld()
	replica := w.kv.Replica(1 << 30)
	postID := w.attachLinks(t, public("/report.pdf")).PostID
	_, err := replica.Get(t.Context(), "post_"+postID)
	require.NoError(t, err)
	edit := filehost.MayEdit
	_, err = w.ChangeLink(t.Context(), alice, filehost.LinkID(postID, 0), filehost.LinkChange{Permission: &edit})
	require.NoError(t, err)

	config := w.Config
	config.KV = replica
	ctx, cancel := context.WithCancel(t.Context())
	reads := 0
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.Get && key == "post_"+postID {
			if reads++; reads > 1000 {
				cancel()
				return errors.New("too many")
			}
		}
		return nil
	})
	ended := make(chan error)
	go func() { ended <- filehost.New(config).PostDeleted(ctx, filehost.SeenPost{ID: postID}) }()
	for range 5 {
		require.NoError(t, w.clock.BlockUntilContext(t.Context(), 1))
		w.clock.Advance(time.Second)
	}
	require.NoError(t, w.clock.BlockUntilContext(t.Context(), 1))
	cancel()
	require.NoError(t, <-ended, "what is left is to be done later")
	assert.Less(t, reads, 100)
}
