package tokens

import (
	"encoding/base32"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// TestEachStateHas128RandomBits measures what is in a state and in the handle of a confirm page: in 200 of them each of the
// first 128 bits must have been 0 and 1, and none may come twice.
func TestEachStateHas128RandomBits(t *testing.T) {
	const samples, bits = 200, 128
	w := newWorld(t)
	node := w.node()
	made := map[string]func() string{
		"state": func() string { return w.query(node).Get("state") },
		"handle": func() string {
			handle, _ := w.held(node, ann)
			return handle
		},
	}
	for name, sample := range made {
		var ones [bits]int
		seen := map[string]bool{}
		for range samples {
			text := sample()
			require.False(t, seen[text], name)
			seen[text] = true
			raw, err := base32.StdEncoding.WithPadding(base32.NoPadding).DecodeString(text)
			require.NoError(t, err, name)
			require.GreaterOrEqual(t, len(raw)*8, bits, name)
			for bit := range bits {
				ones[bit] += int(raw[bit/8]>>(bit%8)) & 1
			}
		}
		for bit, count := range ones {
			require.True(t, count > 0 && count < samples, "bit %d of the %s is always the same", bit, name)
		}
	}
}

// TestACodeIsRedeemedWithTheVerifierOfItsOwnAttemptOnly brings the code of one attempt to the state of another, as who
// injects a stolen code does (RFC 9700 4.5).
func TestACodeIsRedeemedWithTheVerifierOfItsOwnAttemptOnly(t *testing.T) {
	w := newWorld(t)
	node := w.node()
	first, stolen := w.begin(node, bob)
	second, _ := w.begin(node, ann)
	require.NotEqual(t, first, second)
	_, err := node.Callback(t.Context(), callback(ann, second, stolen))
	requireKind(t, filehost.InvalidRequest, err)
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
}
