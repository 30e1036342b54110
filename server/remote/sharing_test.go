package remote

import (
	"html"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

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
