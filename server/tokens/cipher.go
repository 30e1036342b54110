package tokens

import (
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"

	"golang.org/x/crypto/chacha20poly1305"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	pluginID        = "filehost-attach"
	envelopeVersion = 1
	keyIDBytes      = 8
	sealedHeader    = 1 + keyIDBytes + chacha20poly1305.NonceSizeX // of what Seal returns: version, key id, nonce
)

// errUnknownKey means that a value was encrypted with a key that the plugin doesn't have, or not any more.
var errUnknownKey = errors.New("encrypted with a key that is not configured")

// errForged means that a value is damaged, or was made for another place than the one it was found in.
var errForged = errors.New("does not decrypt where it was found")

// Cipher encrypts what the plugin stores or hands out. It encrypts with its current key and decrypts with all.
type Cipher struct {
	current *masterKey
	byID    map[string]*masterKey
}

// Key is an encryption key and where it comes from.
type Key struct {
	Secret filehost.Secret
	Source string // in an admin's words
	Origin Origin
}

// Origin says whose a key is, and so who can remove it when nothing uses it any more.
type Origin int

// The origins.
const (
	Configured Origin = iota // by the admin
	Made                     // by the plugin, for admins who set none
	Kept                     // by the plugin, when the admin replaced it
)

// masterKey is the pseudorandom key of RFC 5869 2.2, from which each purpose derives its own.
type masterKey struct {
	id     string
	pr     []byte
	source string
	origin Origin
}

var _ filehost.Sealer = (*Cipher)(nil)

// NewCipher makes a cipher that encrypts with current and also decrypts with others. Empty others are left out.
func NewCipher(current filehost.Secret, others ...filehost.Secret) (*Cipher, error) {
	keys := make([]Key, len(others))
	for i, other := range others {
		keys[i].Secret = other
	}
	return CipherOf(Key{Secret: current}, keys...)
}

// CipherOf is NewCipher for keys whose sources are told to the admin. Of several equal keys the first one's is.
func CipherOf(current Key, others ...Key) (*Cipher, error) {
	if current.Secret.IsEmpty() {
		return nil, filehost.E(filehost.NotConfigured, "The encryption key is empty.", nil)
	}
	c := &Cipher{byID: map[string]*masterKey{}}
	for i, known := range append([]Key{current}, others...) {
		if known.Secret.IsEmpty() {
			continue
		}
		key, err := newMasterKey(known)
		if err != nil {
			return nil, err
		}
		if i == 0 {
			c.current = key
		}
		if c.byID[key.id] == nil {
			c.byID[key.id] = key
		}
	}
	return c, nil
}

func newMasterKey(known Key) (*masterKey, error) {
	pr, err := hkdf.Extract(sha256.New, []byte(known.Secret.Reveal()), []byte(pluginID))
	if err != nil {
		return nil, err
	}
	id, err := hkdf.Expand(sha256.New, pr, "key id", keyIDBytes)
	return &masterKey{id: hex.EncodeToString(id), pr: pr, source: known.Source, origin: known.Origin}, err
}

func (k *masterKey) aead(purpose purpose) (cipher.AEAD, error) {
	key, err := hkdf.Expand(sha256.New, k.pr, "encrypt "+string(purpose), chacha20poly1305.KeySize)
	if err != nil {
		return nil, err
	}
	return chacha20poly1305.NewX(key)
}

// purpose is what a value is for. Each purpose has keys of its own.
type purpose string

const (
	connectionPurpose purpose = "connection"
	lastUsePurpose    purpose = "last use"
	signInPurpose     purpose = "sign-in"
	attemptsPurpose   purpose = "attempts"
	begunPurpose      purpose = "begun sign-ins"
	heldPurpose       purpose = "held code"
	pagePurpose       purpose = "confirmation page"
	flowPurpose       purpose = "login flow"
	flowIndexPurpose  purpose = "login flows"
	flowEndPurpose    purpose = "login flow's end"
	latestFlowPurpose purpose = "latest login flow"
	urlPurpose        purpose = "url"
	formerKeysPurpose purpose = "former keys"
	signingPurpose    purpose = "signing keys"

	serviceAccountPurpose purpose = "service account" // of fingerprints only
)

// place is where a value belongs. It decrypts at no other.
type place struct {
	Purpose purpose
	User    string // or what stands for the user where none is known yet
	Host    string // the host's immutable id
	Kind    string // of host
}

// associated is the additional data of the encryption. Lengths before the parts keep "a","bc" apart from "ab","c".
func (p place) associated() []byte {
	data := []byte{envelopeVersion}
	for _, part := range []string{pluginID, string(p.Purpose), p.User, p.Host, p.Kind} {
		data = binary.BigEndian.AppendUint32(data, uint32(len(part))) //nolint:gosec // ids, far below 4 GiB
		data = append(data, part...)
	}
	return data
}

// envelope is an encrypted value as it is stored.
type envelope struct {
	Version    int    `json:"v"`
	KeyID      string `json:"kid"`
	User       string `json:"user,omitempty"` // whose it is, of what has no end of its own: authenticated, not encrypted
	Nonce      []byte `json:"nonce"`
	Ciphertext []byte `json:"ciphertext"`
}

func (c *Cipher) encrypt(at place, plain []byte) (envelope, error) {
	aead, err := c.current.aead(at.Purpose)
	if err != nil {
		return envelope{}, err
	}
	nonce := make([]byte, aead.NonceSize())
	_, _ = rand.Read(nonce) // never fails: crypto/rand
	return envelope{
		Version: envelopeVersion, KeyID: c.current.id, Nonce: nonce, Ciphertext: aead.Seal(nil, nonce, plain, at.associated()),
	}, nil
}

func (c *Cipher) decrypt(at place, e envelope) ([]byte, error) {
	if e.Version != envelopeVersion || len(e.Nonce) != chacha20poly1305.NonceSizeX || e.User != "" && e.User != at.User {
		return nil, errForged
	}
	key, ok := c.byID[e.KeyID]
	if !ok {
		return nil, errUnknownKey
	}
	aead, err := key.aead(at.Purpose)
	if err != nil {
		return nil, err
	}
	plain, err := aead.Open(nil, e.Nonce, e.Ciphertext, at.associated())
	if err != nil {
		return nil, errForged
	}
	return plain, nil
}

// fingerprint tells values from each other, and nothing of them to who has no key. It changes with the current key.
func (c *Cipher) fingerprint(purpose purpose, parts ...string) (string, error) {
	key, err := hkdf.Expand(sha256.New, c.current.pr, "fingerprint "+string(purpose), sha256.Size)
	if err != nil {
		return "", err
	}
	mac := hmac.New(sha256.New, key)
	for _, part := range parts { // lengths keep "a","bc" apart from "ab","c"
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part)))
		mac.Write([]byte(part))
	}
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)), nil
}

// encryptJSON returns value as an envelope for the store.
func (c *Cipher) encryptJSON(at place, value any) ([]byte, error) {
	plain, err := json.Marshal(value)
	if err != nil {
		return nil, err
	}
	return c.wrap(at, plain)
}

// wrap returns what JSON has made of a value as an envelope for the store.
func (c *Cipher) wrap(at place, plain []byte) ([]byte, error) {
	sealed, err := c.encrypt(at, plain)
	if err != nil {
		return nil, err
	}
	if isLongLived(at.Purpose) {
		sealed.User = at.User
	}
	return json.Marshal(sealed)
}

// decryptJSON reads an envelope of the store into value. It fails with errUnknownKey or errForged.
func (c *Cipher) decryptJSON(at place, raw []byte, value any) error {
	var sealed envelope
	if json.Unmarshal(raw, &sealed) != nil {
		return errForged
	}
	plain, err := c.decrypt(at, sealed)
	if err != nil {
		return err
	}
	if json.Unmarshal(plain, value) != nil {
		return errForged // the decoder's own words could quote the value
	}
	return nil
}

// Seal implements filehost.Sealer. The text is unpadded base64url (RFC 4648 5).
func (c *Cipher) Seal(associated string, plain []byte) (string, error) {
	sealed, err := c.encrypt(place{Purpose: urlPurpose, User: associated}, plain)
	if err != nil {
		return "", err
	}
	id, err := hex.DecodeString(sealed.KeyID)
	if err != nil {
		return "", err
	}
	text := append([]byte{envelopeVersion}, id...)
	text = append(append(text, sealed.Nonce...), sealed.Ciphertext...)
	return base64.RawURLEncoding.EncodeToString(text), nil
}

// Open implements filehost.Sealer.
func (c *Cipher) Open(associated, sealed string) ([]byte, error) {
	text, err := base64.RawURLEncoding.Strict().DecodeString(sealed)
	if err != nil || len(text) < sealedHeader {
		return nil, errForged
	}
	return c.decrypt(place{Purpose: urlPurpose, User: associated}, envelope{
		Version:    int(text[0]),
		KeyID:      hex.EncodeToString(text[1 : 1+keyIDBytes]),
		Nonce:      text[1+keyIDBytes : sealedHeader],
		Ciphertext: text[sealedHeader:],
	})
}
