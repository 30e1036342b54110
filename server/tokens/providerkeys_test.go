package tokens

import (
	"encoding/json"
	"net/http"
	"strconv"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestAKeyThatTheServerHasReplacedIsFoundAtOnce(t *testing.T) {
	for _, id := range []string{"one", "two", ""} {
		t.Run("with the id "+strconv.Quote(id), func(t *testing.T) {
			w := newWorld(t)
			server := w.openID()
			node := w.node(w.byIssuer)
			w.connect(node, ann)
			w.connect(node, ann)
			require.Equal(t, 1, server.served, "they are remembered")
			server.replaceKey(otherRSA(), id)
			w.clock.Advance(keysPause)
			w.connect(node, ann)
			w.connect(node, ann)
			require.Equal(t, 2, server.served)
		})
	}
}

func TestAKeyThatTheServerHasWithdrawnIsTrustedForAnHourAtMost(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	server.published = []jose.JSONWebKey{{Key: otherRSA().Public(), KeyID: "two"}}
	w.clock.Advance(keysLifetime - 1)
	w.connect(node, ann)
	w.clock.Advance(1)
	state, code := w.begin(node, ann)
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.HostUnavailable, err)
}

func TestUnknownKeysMakeThePluginAskOnceInTenSecondsAtMost(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	server.keyID, server.key = "unknown", otherRSA()
	flood := func(from int) {
		callbacks := make([]filehost.Callback, 10)
		for i := range callbacks {
			user := strconv.Itoa(from + i)
			state, code := w.begin(node, user)
			callbacks[i] = callback(user, state, code)
		}
		for _, err := range outcomes(10, func(i int) error {
			_, err := node.Callback(t.Context(), callbacks[i])
			return err
		}) {
			requireKind(t, filehost.HostUnavailable, err)
		}
	}
	flood(0)
	require.Equal(t, 1, server.served, "the keys are not older than that")
	for round := 1; round <= 3; round++ {
		w.clock.Advance(keysPause)
		flood(10 * round)
		require.Equal(t, 1+round, server.served)
	}
}

func TestKeysThatFailAreAskedForOnceInTenSecondsAtMost(t *testing.T) {
	w := newWorld(t)
	w.openID()
	asked := 0
	w.server.set(func(s *signInServer) {
		s.keys = func(w http.ResponseWriter, r *http.Request) { asked++; http.NotFound(w, r) }
	})
	node := w.node(w.byIssuer)
	try := func() {
		state, code := w.begin(node, ann)
		_, err := node.Callback(t.Context(), callback(ann, state, code))
		requireKind(t, filehost.HostUnavailable, err)
	}
	try()
	try()
	require.Equal(t, 1, asked)
	w.clock.Advance(keysPause)
	try()
	require.Equal(t, 2, asked)
}

func TestKeysMovedToAnotherAddressAreReadThere(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	w.connect(node, ann)
	w.server.set(func(s *signInServer) { s.metadata["jwks_uri"] = w.server.URL + "/keys?new" })
	server.replaceKey(otherRSA(), "one")
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
	w.connect(node, ann)
	require.Equal(t, 2, server.served)
}

func TestKeysThatNoIDTokenMayBeCheckedWithAreLeftOut(t *testing.T) {
	good := jose.JSONWebKey{Key: rsaKey().Public(), KeyID: "good"}
	raw := func(key jose.JSONWebKey) json.RawMessage { return must(key.MarshalJSON()) }
	for name, bad := range map[string]json.RawMessage{
		"a secret":             json.RawMessage(`{"kty":"oct","k":"AAECAwQFBgcICQoLDA0ODw","alg":"HS256"}`),
		"a private key":        raw(jose.JSONWebKey{Key: rsaKey()}),
		"a key for encryption": raw(jose.JSONWebKey{Key: rsaKey().Public(), Use: "enc"}),
		"a key for RSA-OAEP":   raw(jose.JSONWebKey{Key: rsaKey().Public(), Algorithm: "RSA-OAEP"}),
		"a key of 1024 bits":   raw(jose.JSONWebKey{Key: newRSA(1024).Public()}),
		"a key of 8200 bits":   json.RawMessage(`{"kty":"RSA","e":"AQAB","n":"` + longModulus(8200) + `"}`),
		"a kind not known":     json.RawMessage(`{"kty":"AKP","alg":"ML-DSA-44","pub":"AAAA"}`),
		"a point on no curve":  json.RawMessage(`{"kty":"EC","crv":"P-256","x":"AAAA","y":"AAAA"}`),
		"something else":       json.RawMessage(`"canary"`),
		"an empty one":         json.RawMessage(`{}`),
		"an RSA key without e": json.RawMessage(`{"kty":"RSA","n":"` + longModulus(2048) + `"}`),
		"a curve not known":    json.RawMessage(`{"kty":"EC","crv":"secp256k1","x":"AAAA","y":"AAAA"}`),
	} {
		t.Run(name, func(t *testing.T) {
			require.Empty(t, usableKeys([]json.RawMessage{bad}))
			kept := usableKeys([]json.RawMessage{bad, raw(good)})
			require.Len(t, kept, 1, "and the others do")
			require.Equal(t, "good", kept[0].KeyID)
		})
	}
	many := make([]json.RawMessage, 2*maxKeys)
	for i := range many {
		many[i] = raw(good)
	}
	require.Len(t, usableKeys(many), maxKeys)
}

func TestTheHealthCheckAsksForKeysOnceAMinuteAtMost(t *testing.T) {
	w := newWorld(t)
	server := w.openID()
	node := w.node(w.byIssuer)
	for range 6 {
		require.NoError(t, node.CheckTokenEndpoint(t.Context()))
		w.clock.Advance(10 * time.Second)
	}
	require.Equal(t, 1, server.served)
	require.NoError(t, node.CheckTokenEndpoint(t.Context()))
	require.Equal(t, 2, server.served)
	w.connect(node, ann)
	require.Equal(t, 2, server.served, "a sign-in finds them there")
}

// FuzzUsableKeys: whatever a document of keys holds, what is left of it are public keys of the sizes that are taken.
func FuzzUsableKeys(f *testing.F) {
	f.Add(must(json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: rsaKey().Public(), KeyID: "one", Use: "sig"}}})))
	f.Add([]byte(`{"keys":[{"kty":"oct","k":"AAAA"},{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]}`))
	f.Add([]byte(`{"keys":[{"kty":"RSA","e":"AQAB","n":"AQAB","x5c":["AA"],"x5u":"%"}]}`))
	f.Fuzz(func(t *testing.T, document []byte) {
		var published struct {
			Keys []json.RawMessage `json:"keys"`
		}
		if json.Unmarshal(document, &published) != nil {
			return
		}
		for _, key := range usableKeys(published.Keys) {
			if !key.IsPublic() || !key.Valid() {
				t.Errorf("kept: %+v", key)
			}
		}
	})
}
