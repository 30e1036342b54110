package remote

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

// TestNoSpaceLooksLikeTheUsersOwn: whoever may make spaces and invite him chooses their names.
func TestNoSpaceLooksLikeTheUsersOwn(t *testing.T) {
	const own = "Alice"
	seen := func(name string) string {
		return strings.Join(strings.Fields(strings.NewReplacer("\u200c", "", "\u200d", "").Replace(name)), " ")
	}
	for _, name := range []string{
		own, "Alice\u200b", "Alice\u202e", "Alice\u2060", "Al\u200dice", "Alice ", "Alice\u00a0", " Alice", "Alice\u3164",
		"Alice (abcd\u200d1234)", "Alice\u00a0(abcd1234)",
	} {
		made := newSpaces([]drive{
			{ID: "s$abcd1234-mine", Name: own, Type: personalDrive},
			{ID: "s$eeee5678-theirs", Name: name, Type: projectDrive},
		})
		mine, theirs := made.list[0].path.Name(), made.list[1].path.Name()
		assert.Equal(t, own, mine, "%q", name)
		assert.NotEqual(t, own, seen(theirs), "%q", name)
		assert.NotEqual(t, "Alice (abcd1234)", seen(theirs), "%q", name)
		assert.NotContains(t, theirs, "\u200b")
	}
}
