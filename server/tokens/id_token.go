package tokens

import (
	"context"
	"crypto/subtle"
	"errors"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// idTokenSkew is how far the clock of the sign-in server may be off ours.
	idTokenSkew = time.Minute
	// refreshedKeysLimit bounds the wait for keys while a refresh holds its lease: both fit into leaseTime.
	refreshedKeysLimit = 5 * time.Second
	maxSubjectBytes    = 255 // OpenID Connect Core 2
	maxIDTokenBytes    = 64 << 10
)

// idTokenAlgorithms are the ways in which an ID token may be signed: with a key of which the plugin has the public half
// alone. Whoever knows the client secret could sign in HS256, and anybody in none (RFC 8725 2.1, 3.1).
var idTokenAlgorithms = []string{
	oidc.RS256, oidc.RS384, oidc.RS512, oidc.PS256, oidc.PS384, oidc.PS512, oidc.ES256, oidc.ES384, oidc.ES512, oidc.EdDSA,
}

// idToken is what the plugin uses of an ID token that it has checked.
type idToken struct {
	Subject string // the user, at this sign-in server and for ever
	Name    string // for people to read; may change. "" = there is none
}

// names are what a sign-in server may call a user for people to read (OpenID Connect Core 5.1).
type names struct {
	Username string `json:"preferred_username"`
	Full     string `json:"name"`
}

// name is the name to be shown; "" = there is none. It is never the subject: that may be a number that tells nobody
// anything, such as Dex's.
func (n names) name() string {
	for _, name := range []string{n.Username, n.Full} {
		if usableAccount(name) {
			return name
		}
	}
	return ""
}

// userInfo is what the plugin uses of the answer of a user info endpoint (OpenID Connect Core 5.3.2).
type userInfo struct {
	Subject string `json:"sub"`
	names
}

// idTokenError says why an ID token is refused, in words of our own: those of the token are anybody's.
type idTokenError struct{ why string }

// Error implements error.
func (e *idTokenError) Error() string { return "the ID token is refused: " + e.why }

var (
	errNoIDToken = &idTokenError{"the answer has none, although the scope openid was granted"}
	errUserInfo  = &idTokenError{"its subject is not the one of the user info"}
	errNonce     = &idTokenError{"its nonce is not the one of this sign-in"}
)

// expected is what an ID token is held to.
type expected struct {
	keys       string // address of the keys
	issuer     string
	clientID   string
	algorithms []string // that may have been used
	nonce      string
	subject    string // "" = not known yet: the token is that of a sign-in
}

func (s *Store) expected(at endpoints, nonce, subject string) expected {
	return expected{
		keys: at.Keys, issuer: at.Issuer, clientID: s.provider.OAuth.ClientID, algorithms: at.Algorithms,
		nonce: nonce, subject: subject,
	}
}

// refreshed tells whether the token is expected of a refresh.
func (e expected) refreshed() bool { return e.subject != "" }

// signedInAs checks the ID token of a sign-in and tells who has signed in (OpenID Connect Core 3.1.3.7). It is the zero
// idToken where none was asked for.
func (s *Store) signedInAs(ctx context.Context, at endpoints, begun signIn, answer issued) (idToken, error) {
	if begun.Nonce == "" {
		return idToken{}, nil
	}
	found, err := s.checkIDToken(ctx, s.expected(at, begun.Nonce, ""), answer)
	var keys *keysError
	switch {
	case errors.As(err, &keys):
		return idToken{}, s.signInServerDown(err)
	case errors.Is(err, errNonce):
		return idToken{}, filehost.E(filehost.InvalidRequest, "The answer of the sign-in server of "+s.config.Host.Name+" belongs to another sign-in. Begin again in Mattermost.", err)
	case err != nil:
		return idToken{}, s.notProven(err)
	}
	return found, nil
}

func (s *Store) notProven(cause error) error {
	return filehost.E(filehost.HostUnavailable, "The sign-in server of "+s.config.Host.Name+" did not prove who you are. Begin again in Mattermost, and tell your admin if it stays so.", cause)
}

// sameSubject checks the ID token that may come with a refresh (OpenID Connect Core 12.2). It fails with idTokenError
// when the token is another user's, or not the sign-in server's.
func (s *Store) sameSubject(ctx context.Context, at endpoints, held record, answer issued) error {
	if held.Subject == "" || answer.IDToken.IsEmpty() {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx, refreshedKeysLimit)
	defer cancel()
	_, err := s.checkIDToken(ctx, s.expected(at, held.Nonce, held.Subject), answer)
	return err
}

// checkIDToken fails with keysError or idTokenError.
func (s *Store) checkIDToken(ctx context.Context, want expected, answer issued) (idToken, error) {
	raw := answer.IDToken.Reveal()
	switch {
	case raw == "":
		return idToken{}, errNoIDToken
	case len(raw) > maxIDTokenBytes:
		return idToken{}, &idTokenError{"it is too long"}
	}
	signature := &signatureCheck{store: s, address: want.keys, lenient: want.refreshed()}
	now := s.config.Clock.Now()
	token, err := oidc.NewVerifier(want.issuer, signature, &oidc.Config{
		ClientID:             want.clientID,
		SupportedSigningAlgs: want.algorithms,
		SkipExpiryCheck:      want.refreshed(), // a clock that is off must not end the connections of everybody
		Now:                  func() time.Time { return now.Add(-idTokenSkew) },
	}).Verify(ctx, raw)
	if err != nil {
		return idToken{}, signature.reason(err)
	}
	return checkClaims(want, token, answer.AccessToken, now)
}

// reason puts an error of the verifier, which quotes the token, into words of our own.
func (c *signatureCheck) reason(err error) error {
	var expired *oidc.TokenExpiredError
	switch {
	case c.failed != nil && !c.passed:
		return c.failed
	case !c.passed:
		return &idTokenError{"it can't be read, its algorithm is not allowed, or its signature is wrong"}
	case errors.As(err, &expired):
		return &idTokenError{"it has expired; compare the clocks of both servers"}
	}
	return &idTokenError{"its issuer or its audience is another, or it is not valid yet"}
}

// checkClaims checks what the verifier leaves to its caller.
func checkClaims(want expected, token *oidc.IDToken, accessToken filehost.Secret, now time.Time) (idToken, error) {
	found := idToken{Subject: token.Subject}
	var more struct {
		Party *string `json:"azp"`
		names
	}
	refreshed := want.refreshed()
	dated := token.IssuedAt.Unix() > 0 && !token.IssuedAt.After(now.Add(idTokenSkew))
	// A refresh need not repeat the nonce.
	nonce := refreshed && token.Nonce == "" || subtle.ConstantTimeCompare([]byte(token.Nonce), []byte(want.nonce)) == 1
	switch {
	case token.Claims(&more) != nil:
		return idToken{}, &idTokenError{"its claims can't be read"}
	case found.Subject == "", len(found.Subject) > maxSubjectBytes:
		return idToken{}, &idTokenError{"its subject is empty or too long"}
	case refreshed && found.Subject != want.subject:
		return idToken{}, &idTokenError{"it is another user's than the first one"}
	case more.Party == nil && len(token.Audience) > 1, more.Party != nil && *more.Party != want.clientID:
		return idToken{}, &idTokenError{"it was made for another client (azp)"}
	case !refreshed && !dated:
		return idToken{}, &idTokenError{"it is from the future, or of no time; compare the clocks of both servers"}
	case !nonce:
		return idToken{}, errNonce
	case token.AccessTokenHash != "" && token.VerifyAccessToken(accessToken.Reveal()) != nil:
		return idToken{}, &idTokenError{"it belongs to another access token (at_hash)"}
	}
	found.Name = more.name()
	return found, nil
}
