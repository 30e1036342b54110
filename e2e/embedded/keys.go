package embedded

import (
	"crypto/rsa"

	jose "github.com/go-jose/go-jose/v4"
)

// signingKey signs ID tokens; verificationKey is its public half.
type signingKey struct {
	id  string
	key *rsa.PrivateKey
}

func (k signingKey) ID() string                                  { return k.id }
func (k signingKey) Key() any                                    { return k.key }
func (k signingKey) SignatureAlgorithm() jose.SignatureAlgorithm { return jose.RS256 }
func (k signingKey) public() verificationKey                     { return verificationKey{k.id, &k.key.PublicKey} }

type verificationKey struct {
	id  string
	key *rsa.PublicKey
}

func (k verificationKey) ID() string                         { return k.id }
func (k verificationKey) Key() any                           { return k.key }
func (k verificationKey) Use() string                        { return "sig" }
func (k verificationKey) Algorithm() jose.SignatureAlgorithm { return jose.RS256 }
