package tokens

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// longLived is a purpose whose values have no end of their own: they are brought under a new key. Their envelopes name
// whose they are, since their keys in the store don't.
type longLived struct {
	prefix  string // of their keys in the store
	purpose purpose
	// settled tells whether the bytes of a value may change now: nobody holds on to them. nil = at any time.
	settled func(plain []byte) bool
}

var longLivedConnection = longLived{"conn_", connectionPurpose, settledRecord}

// longLivedPurposes are all there are. Whatever else the plugin stores ends by itself, within a day or so.
var longLivedPurposes = []longLived{
	longLivedConnection,
	{"used_", lastUsePurpose, nil},
	{"sign_", signingPurpose, nil}, // whose: the sign-in server that they are for. What no node rotates any more then stays
}

func isLongLived(p purpose) bool {
	return slices.ContainsFunc(longLivedPurposes, func(l longLived) bool { return l.purpose == p })
}

func longLivedAt(key string) (longLived, bool) {
	i := slices.IndexFunc(longLivedPurposes, func(l longLived) bool { return strings.HasPrefix(key, l.prefix) })
	if i < 0 {
		return longLived{}, false
	}
	return longLivedPurposes[i], true
}

// settledRecord tells whether a connection may be encrypted anew. The owner of a lease compares its bytes to see whether
// he still holds it, and others to see that it doesn't move. Tombstones, refusals and what an automatic method has made
// have an end, which must not be put off. All these give way to a record under the current key by themselves.
func settledRecord(plain []byte) bool {
	var read struct {
		State  state           `json:"state"`
		Grant  filehost.Method `json:"grant"`
		Before json.RawMessage `json:"before"`
	}
	switch {
	case json.Unmarshal(plain, &read) != nil:
		return false
	case read.State == refused && read.Before != nil:
		return true // it has no end
	case read.Grant.Automatic():
		return false
	}
	return slices.Contains([]state{active, dead, declined}, read.State)
}

// ownerOf returns whose a stored value says to be; "" = it doesn't say. Decrypting it at that user's place proves it.
func ownerOf(raw []byte) string {
	var sealed envelope
	if json.Unmarshal(raw, &sealed) != nil {
		return ""
	}
	return sealed.User
}

// keyIDOf returns the id of the key that a stored value was encrypted with; "" = it isn't encrypted.
func keyIDOf(raw []byte) string {
	var sealed envelope
	if json.Unmarshal(raw, &sealed) == nil {
		return sealed.KeyID
	}
	text, err := base64.RawURLEncoding.Strict().DecodeString(string(raw))
	if err != nil || len(text) < sealedHeader || text[0] != envelopeVersion {
		return ""
	}
	return hex.EncodeToString(text[1 : 1+keyIDBytes])
}
