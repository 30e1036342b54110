package tokens

import (
	"cmp"
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// assertionLife is from the time that an assertion says it was issued at until it expires. It is the most that Keycloak
	// takes by default.
	assertionLife = 5 * time.Minute
	// assertionBackdated is how far that time is in the past: a relying party whose clock is behind takes it all the same,
	// though it grants no leeway, as Keycloak doesn't by default.
	assertionBackdated = clockSkew
)

// SubjectClaim is what a user is named by to others.
type SubjectClaim string

// The claims. All but the first are what a single sign-on has said of the user when he logged in to Mattermost; a
// password account may say anything in their place.
const (
	SubjectUserID   SubjectClaim = "user_id"   // Mattermost's own, immutable: somebody has linked it with an account
	SubjectAuthData SubjectClaim = "auth_data" // the id at the single sign-on
	SubjectEmail    SubjectClaim = "email"
	SubjectUsername SubjectClaim = "username"
)

// Subject says as whom users are named to others. The zero value names nobody.
type Subject struct {
	Claim   SubjectClaim
	Service string // the AuthService whose accounts are vouched for; "" = none are
	// Audience is that of assertions; "" = the issuer of the sign-in server, or else its token endpoint.
	Audience string
}

// vouched tells whether what is known of a user beside his id comes from the company's single sign-on.
func (s Subject) vouched(who filehost.Identity) bool {
	return s.Service != "" && who.AuthService == s.Service && who.AuthData != ""
}

// username is the user name that the single sign-on vouches for; "" = it does for none.
func (s Subject) username(who filehost.Identity) string {
	if !s.vouched(who) || !slices.Contains(filehost.Directories, who.AuthService) {
		return ""
	}
	return who.Username
}

// email is the address that it vouches for; "" = it does for none.
func (s Subject) email(who filehost.Identity) string {
	if !s.vouched(who) || !who.EmailVerified {
		return ""
	}
	return who.Email
}

// of returns the name of a user. It fails with a *refusal when there is none that is proven.
func (s Subject) of(who filehost.Identity) (string, error) {
	subject := ""
	switch s.Claim {
	case SubjectUserID:
		subject = who.UserID
	case SubjectAuthData:
		if s.vouched(who) {
			subject = who.AuthData
		}
	case SubjectEmail:
		subject = s.email(who)
	case SubjectUsername:
		subject = s.username(who)
	}
	if subject == "" {
		return "", &refusal{reason: "Your Mattermost account is not one that the company's single sign-on vouches for."}
	}
	return subject, nil
}

// assertionClaims are those of RFC 7523 3 and, for a relying party that keeps accounts by them, of OpenID Connect Core
// 5.1.
type assertionClaims struct {
	jwt.Claims
	Name              string `json:"name,omitempty"`
	PreferredUsername string `json:"preferred_username,omitempty"`
	Email             string `json:"email,omitempty"`
	EmailVerified     bool   `json:"email_verified,omitempty"`
}

// addProfile adds what the single sign-on vouches for: a verified address, and the user name only where the admin lets
// users be named by it, as whoever moves a password account to a single sign-on brings the name that he has chosen. Else
// the user is named like the subject, since Dex asks for a name.
func (c *assertionClaims) addProfile(subject Subject, who filehost.Identity) {
	if subject.Claim == SubjectUsername {
		c.PreferredUsername = subject.username(who)
	}
	c.Name, c.Email = c.Subject, subject.email(who)
	c.EmailVerified = c.Email != ""
}

// assert returns a JWT that names a user to the sign-in server, and to nobody else: for one request, and at most five
// minutes. With profile it says more of him than his name. It fails with a *refusal for who can't be named.
func (s *Store) assert(ctx context.Context, who filehost.Identity, at endpoints, profile bool) (filehost.Secret, error) {
	if s.config.Issuer == "" {
		return filehost.Secret{}, filehost.E(filehost.NotConfigured, "Mattermost has no address to vouch for you under. Ask your admin to set the Site URL.", nil)
	}
	subject, err := s.config.Subject.of(who)
	if err != nil {
		return filehost.Secret{}, err
	}
	keys, err := s.keyring.current(ctx)
	if err != nil {
		return filehost.Secret{}, err
	}
	issued := s.config.Clock.Now().Add(-assertionBackdated)
	claims := assertionClaims{Claims: jwt.Claims{
		Issuer:    s.config.Issuer,
		Subject:   subject,
		Audience:  jwt.Audience{cmp.Or(s.config.Subject.Audience, at.Issuer, at.Token)}, // one: Keycloak takes no more
		IssuedAt:  jwt.NewNumericDate(issued),
		NotBefore: jwt.NewNumericDate(issued),
		Expiry:    jwt.NewNumericDate(issued.Add(assertionLife)),
		ID:        rand.Text(),
	}}
	if profile {
		claims.addProfile(s.config.Subject, who)
	}
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.RS256, Key: keys.Current.jwk}, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return filehost.Secret{}, notSigned(err)
	}
	text, err := jwt.Signed(signer).Claims(claims).Serialize()
	if err != nil {
		return filehost.Secret{}, notSigned(err)
	}
	return filehost.NewSecret(text), nil
}

func notSigned(cause error) error {
	return filehost.E(filehost.Internal, "The plugin could not sign who you are.", cause)
}
