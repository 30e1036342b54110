package remote

import (
	"context"
	"encoding/json"
	"html"
	"runtime"
	"strings"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestAPasswordIsRecognisedHoweverTheHostRepeatsIt(t *testing.T) {
	const password = `pass<w>"o"  rd`
	for said, want := range map[string]bool{
		"too common":                            false,
		"not " + password:                       true,
		"not " + html.EscapeString(password):    true,
		"<b>" + password:                        true,
		strings.Repeat("x", 196) + password:     true, // of which a part is left
		"what is left of it: " + `pass"o" rd`:   true,
		"what is no part of it: " + `pass rd "`: false,
	} {
		no := declined{400, words(said), said}
		assert.Equal(t, want, no.repeats(filehost.NewSecret(password)), said)
	}
	assert.False(t, declined{400, "no", "no"}.repeats(filehost.NewSecret("")))
}

// TestAListOfNothingsTakesNoMemory is of what a hostile host can say within the longest answer.
func TestAListOfNothingsTakesNoMemory(t *testing.T) {
	bomb := []byte("[" + strings.Repeat("{},", maxSharesBytes/3-1) + "{}]")
	allocated := func(read func() error) uint64 {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.NoError(t, read())
		runtime.ReadMemStats(&after)
		return (after.TotalAlloc - before.TotalAlloc) >> 20
	}
	var shares few[ocsShare]
	assert.Less(t, allocated(func() error { return json.Unmarshal(bomb, &shares) }), uint64(32), "MiB")
	assert.Len(t, shares.kept, mostShares)
	assert.True(t, shares.more)
	var permissions few[graphPermission]
	assert.Less(t, allocated(func() error { return json.Unmarshal(bomb, &permissions) }), uint64(32), "MiB")
	assert.True(t, permissions.more)
	for text, kept := range map[string]int{"null": 0, "[]": 0, "[{},{}]": 2} {
		require.NoError(t, json.Unmarshal([]byte(text), &shares), text)
		assert.Len(t, shares.kept, kept, text)
		assert.False(t, shares.more)
	}
	for _, text := range []string{"{}", `"x"`, `[{},"x"]`} {
		assert.Error(t, json.Unmarshal([]byte(text), &shares), text)
	}
}

func TestWhatIsTooLongForAnIDIsNotKeptAsOne(t *testing.T) {
	client := &Client{names: newRecent[nameOf, string](clockwork.NewFakeClock(), mostRemembered)}
	of := people{graphShares: graphShares{client}, asked: new(int)}
	assert.Empty(t, of.name(context.Background(), strings.Repeat("x", maxNameBytes+1)))
	assert.Empty(t, client.names.kept)
}
