package signin

import (
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"strings"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
)

// Key is what a sign-in server signs with. The tests hold it too, so that a forged token has one thing wrong and no more.
type Key struct {
	ID      string
	Private *rsa.PrivateKey
}

// NewKey makes a key.
func NewKey() (Key, error) {
	private, err := rsa.GenerateKey(rand.Reader, 2048)
	return Key{ID: rand.Text(), Private: private}, err
}

// Resign gives a token anew, with its claims changed, signed by this key with RS256.
func (k Key) Resign(token string, change func(claims map[string]any)) (string, error) {
	claims, err := Claims(token)
	if err != nil {
		return "", err
	}
	change(claims)
	return k.sign(jose.SigningKey{Algorithm: jose.RS256, Key: k.Private}, claims)
}

// ResignWithSecret gives a token anew with its claims as they are, but signed with HS256 by this secret (RFC 8725 2.1).
func (k Key) ResignWithSecret(token string, secret []byte) (string, error) {
	claims, err := Claims(token)
	if err != nil {
		return "", err
	}
	return k.sign(jose.SigningKey{Algorithm: jose.HS256, Key: secret}, claims)
}

// PublicPEM is the public half as everybody can read it, which some have taken for a secret to verify HS256 with.
func (k Key) PublicPEM() ([]byte, error) {
	public, err := x509.MarshalPKIXPublicKey(&k.Private.PublicKey)
	if err != nil {
		return nil, err
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PUBLIC KEY", Bytes: public}), nil
}

func (k Key) sign(key jose.SigningKey, claims map[string]any) (string, error) {
	signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType("JWT").WithHeader("kid", k.ID))
	if err != nil {
		return "", err
	}
	return jwt.Signed(signer).Claims(claims).Serialize()
}

// Unsign gives a token anew without a signature (RFC 7519 6).
func Unsign(token string) (string, error) {
	_, rest, found := strings.Cut(token, ".")
	payload, _, complete := strings.Cut(rest, ".")
	if !found || !complete {
		return "", errNoToken
	}
	return base64.RawURLEncoding.EncodeToString([]byte(`{"alg":"none","typ":"JWT"}`)) + "." + payload + ".", nil
}

var errNoToken = errors.New("this is no signed token")

// Claims reads a token's claims, whoever has signed them.
func Claims(token string) (map[string]any, error) {
	parts := strings.Split(token, ".")
	if len(parts) != 3 {
		return nil, errNoToken
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil {
		return nil, err
	}
	var claims map[string]any
	return claims, json.Unmarshal(payload, &claims)
}
