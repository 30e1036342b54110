package tokens

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// openID makes the sign-in server one of OpenID Connect, which signs for real. Its fields may change between requests.
type openID struct {
	t      testing.TB
	issuer string
	clock  func() time.Time

	algorithm jose.SignatureAlgorithm
	key       any    // that signs
	keyID     string // "" = the token names none
	published []jose.JSONWebKey
	claims    func(claims map[string]any)        // edits those of a token; nil = none
	forge     func(claims map[string]any) string // makes the token instead of signing it; nil = it is signed
	served    int                                // requests for the keys
	nonce     string                             // of the last sign-in
}

// The keys of the tests. They are made once: RSA keys take their time.
var (
	rsaKey   = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(2048) })
	otherRSA = sync.OnceValue(func() *rsa.PrivateKey { return newRSA(2048) })
	edKey    = sync.OnceValue(func() ed25519.PrivateKey {
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return must(private, err)
	})
)

func newRSA(bits int) *rsa.PrivateKey { return must(rsa.GenerateKey(rand.Reader, bits)) }

func ecKey(curve elliptic.Curve) *ecdsa.PrivateKey {
	return must(ecdsa.GenerateKey(curve, rand.Reader))
}

func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// openID publishes metadata as publish does, with more members or other values of them, and signs with RS256.
func (w *world) openID(more ...any) *openID {
	w.t.Helper()
	o := &openID{t: w.t, issuer: w.server.URL, clock: w.clock.Now, algorithm: jose.RS256, key: rsaKey(), keyID: "one"}
	o.published = []jose.JSONWebKey{o.public()}
	w.publish("/.well-known/openid-configuration", append([]any{
		"jwks_uri", w.server.URL + "/keys",
		"userinfo_endpoint", w.server.URL + "/userinfo",
		"revocation_endpoint", w.server.URL + "/revoke",
		"scopes_supported", []string{"openid", "profile", "offline_access"},
		"id_token_signing_alg_values_supported", idTokenAlgorithms,
		"code_challenge_methods_supported", []string{"plain", "S256"},
	}, more...)...)
	w.server.set(func(s *signInServer) {
		s.idToken = o.idToken
		s.keys = o.serveKeys
		s.answer["user_id"] = nil
	})
	w.account = func(filehost.Credential) (string, error) { return "", nil }
	return o
}

func (o *openID) public() jose.JSONWebKey {
	return jose.JSONWebKey{Key: o.key.(crypto.Signer).Public(), KeyID: o.keyID, Use: "sig"}
}

// replaceKey is what an operator does who doesn't keep the old one.
func (o *openID) replaceKey(key any, keyID string) {
	o.key, o.keyID = key, keyID
	o.published = []jose.JSONWebKey{o.public()}
}

func (o *openID) serveKeys(w http.ResponseWriter, _ *http.Request) {
	o.served++
	writeJSON(w, http.StatusOK, jose.JSONWebKeySet{Keys: o.published})
}

// idToken is the hook of the sign-in server. asked is nil at a refresh, whose token has no nonce (OpenID Connect Core 12.2).
func (o *openID) idToken(asked url.Values, accessToken string) string {
	now := o.clock()
	claims := map[string]any{
		"iss": o.issuer, "sub": "0815", "aud": "mattermost", "iat": now.Unix(), "exp": now.Add(5 * time.Minute).Unix(),
		"at_hash": o.atHash(accessToken), "preferred_username": "alan", "sid": rand.Text(),
	}
	if asked != nil {
		if !slices.Contains(strings.Fields(asked.Get("scope")), "openid") {
			return ""
		}
		o.nonce = asked.Get("nonce")
		claims["nonce"] = o.nonce
	}
	if o.claims != nil {
		o.claims(claims)
	}
	if o.forge != nil {
		return o.forge(claims)
	}
	return o.sign(claims)
}

// atHash is the left half of the token's hash, by the algorithm of the signature (OpenID Connect Core 3.1.3.6).
func (o *openID) atHash(accessToken string) string {
	sum := map[byte]func([]byte) []byte{
		'2': func(b []byte) []byte { h := sha256.Sum256(b); return h[:] },
		'3': func(b []byte) []byte { h := sha512.Sum384(b); return h[:] },
		'5': func(b []byte) []byte { h := sha512.Sum512(b); return h[:] },
		'D': func(b []byte) []byte { h := sha512.Sum512(b); return h[:] }, // EdDSA
	}[o.algorithm[2]]([]byte(accessToken))
	return base64.RawURLEncoding.EncodeToString(sum[:len(sum)/2])
}

func (o *openID) sign(claims map[string]any) string {
	o.t.Helper()
	key := o.key
	if o.keyID != "" {
		key = jose.JSONWebKey{Key: o.key, KeyID: o.keyID}
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: o.algorithm, Key: key}, (&jose.SignerOptions{}).WithType("JWT"))
	require.NoError(o.t, err)
	token, err := jwt.Signed(signer).Claims(claims).Serialize()
	require.NoError(o.t, err)
	return token
}

// longModulus is a number of that many bits, as a JWK has it.
func longModulus(bits int) string {
	number := make([]byte, bits/8)
	number[0], number[len(number)-1] = 0x80, 1
	return base64.RawURLEncoding.EncodeToString(number)
}
