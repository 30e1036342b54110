package embedded

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/signin"
)

const (
	// Audience is what a token must be for that was exchanged, else the host doesn't take it.
	Audience = "files"
	// impersonator is the account in whose name tokens for others may be had.
	impersonator = "impersonator"
	// maxSubjectTokenLife is how long a subject token may be good for, from when it was issued.
	maxSubjectTokenLife = 6 * time.Minute
	maxKeysBytes        = 1 << 20
)

func init() {
	// As Zitadel does: its library leaves out what it doesn't know.
	oidc.AllTokenTypes = append(oidc.AllTokenTypes, signin.UserIDTokenType)
}

// trust says whose word counts in a token exchange (RFC 8693), and for whom.
type trust struct {
	issuer string
	links  map[string]string // subject of the issuer -> user
	ids    map[string]string // the server's own id -> user
	spent  map[string]bool   // jti
}

// Trust has the sign-in server take an issuer's word, whose keys are at /jwks.json below it.
func (h *Host) Trust(issuer string) {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	h.storage.trust.issuer = issuer
}

// Link says which user a subject of the trusted issuer is, as an administrator does.
func (h *Host) Link(subject, user string) {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	h.storage.trust.links[subject] = user
}

// Identify says what a user's id is at the sign-in server.
func (h *Host) Identify(id, user string) {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	h.storage.trust.ids[id] = user
}

// ActorToken makes a token of the account that may act for others, or of one that may not.
func (h *Host) ActorToken(allowed bool) (string, error) {
	actor := impersonator
	if !allowed {
		actor = "nobody"
	}
	signer, err := jose.NewSigner(
		jose.SigningKey{Algorithm: jose.RS256, Key: h.storage.key.key}, (&jose.SignerOptions{}).WithHeader("kid", h.storage.key.id))
	if err != nil {
		return "", err
	}
	now := time.Now()
	return jwt.Signed(signer).Claims(jwt.Claims{
		Issuer: h.Issuer(), Subject: actor, Audience: jwt.Audience{h.storage.client.id}, ID: rand.Text(),
		IssuedAt: jwt.NewNumericDate(now), Expiry: jwt.NewNumericDate(now.Add(refreshTokenLife)),
	}).Serialize()
}

var (
	_ op.TokenExchangeStorage               = (*storage)(nil)
	_ op.TokenExchangeTokensVerifierStorage = (*storage)(nil)
)

// VerifyExchangeSubjectToken implements op.TokenExchangeTokensVerifierStorage, for what the server hasn't issued itself.
func (s *storage) VerifyExchangeSubjectToken(ctx context.Context, token string, kind oidc.TokenType) (string, string, map[string]any, error) {
	switch kind {
	case signin.UserIDTokenType:
		s.mu.Lock()
		defer s.mu.Unlock()
		if user := s.trust.ids[token]; user != "" {
			return token, user, nil, nil
		}
		return "", "", nil, errUnknownToken
	case oidc.JWTTokenType, oidc.IDTokenType:
		claims, err := s.verifySubjectToken(ctx, token)
		if err != nil {
			return "", "", nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		user := s.trust.links[claims.Subject]
		if user == "" || s.trust.spent[claims.ID] {
			return "", "", nil, errUnknownToken
		}
		s.trust.spent[claims.ID] = true
		return claims.ID, user, nil, nil
	}
	return "", "", nil, errUnknownToken
}

// VerifyExchangeActorToken implements op.TokenExchangeTokensVerifierStorage: only the server's own count.
func (s *storage) VerifyExchangeActorToken(context.Context, string, oidc.TokenType) (string, string, map[string]any, error) {
	return "", "", nil, errUnknownToken
}

// verifySubjectToken checks a statement of the trusted issuer (RFC 8693 2.1, RFC 7519 4.1).
func (s *storage) verifySubjectToken(ctx context.Context, token string) (jwt.Claims, error) {
	s.mu.Lock()
	issuer := s.trust.issuer
	s.mu.Unlock()
	parsed, err := jwt.ParseSigned(token, []jose.SignatureAlgorithm{jose.RS256})
	if err != nil {
		return jwt.Claims{}, err
	}
	keys, err := readKeys(ctx, issuer+"/jwks.json")
	if err != nil {
		return jwt.Claims{}, err
	}
	var claims jwt.Claims
	if err := parsed.Claims(keys, &claims); err != nil {
		return jwt.Claims{}, err
	}
	if claims.ID == "" || claims.Expiry == nil || claims.IssuedAt == nil ||
		claims.Expiry.Time().Sub(claims.IssuedAt.Time()) > maxSubjectTokenLife {
		return jwt.Claims{}, fmt.Errorf("%w: no jti, or good for too long", errUnknownToken)
	}
	expected := jwt.Expected{Issuer: issuer, AnyAudience: jwt.Audience{s.host.Issuer()}}
	return claims, claims.ValidateWithLeeway(expected, 0)
}

func readKeys(ctx context.Context, address string) (*jose.JSONWebKeySet, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, err
	}
	response, err := new(http.Client).Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("the issuer's keys: %s", response.Status)
	}
	var keys jose.JSONWebKeySet
	return &keys, json.NewDecoder(io.LimitReader(response.Body, maxKeysBytes)).Decode(&keys)
}

// ValidateTokenExchangeRequest implements op.TokenExchangeStorage.
func (s *storage) ValidateTokenExchangeRequest(_ context.Context, request op.TokenExchangeRequest) error {
	if request.GetRequestedTokenType() == "" {
		request.SetRequestedTokenType(oidc.AccessTokenType) // RFC 8693 2.1 leaves it to the server
	}
	if request.GetRequestedTokenType() != oidc.AccessTokenType {
		return oidc.ErrInvalidRequest().WithDescription("only access tokens are issued here")
	}
	for _, audience := range request.GetAudience() {
		if audience != Audience {
			return oidc.ErrInvalidTarget().WithDescription("audience %q is not known", audience)
		}
	}
	for _, resource := range request.GetResourses() {
		if resource != s.host.URL() {
			return oidc.ErrInvalidTarget().WithDescription("resource %q is not known", resource)
		}
	}
	for _, scope := range request.GetScopes() {
		if !slices.Contains([]string{oidc.ScopeOpenID, oidc.ScopeProfile, oidc.ScopeEmail}, scope) {
			return oidc.ErrInvalidScope().WithDescription("scope %q is not for an exchange", scope)
		}
	}
	if request.GetExchangeSubjectTokenType() != signin.UserIDTokenType {
		return nil
	}
	switch request.GetExchangeActor() {
	case impersonator:
		return nil
	case "":
		return oidc.ErrInvalidRequest().WithDescription("actor_token invalid")
	}
	return oidc.ErrAccessDenied().WithDescription("the actor may not act for others")
}

// CreateTokenExchangeRequest implements op.TokenExchangeStorage: nothing is kept of it.
func (s *storage) CreateTokenExchangeRequest(context.Context, op.TokenExchangeRequest) error {
	return nil
}

// GetPrivateClaimsFromTokenExchangeRequest implements op.TokenExchangeStorage.
func (s *storage) GetPrivateClaimsFromTokenExchangeRequest(context.Context, op.TokenExchangeRequest) (map[string]any, error) {
	return nil, nil
}

// SetUserinfoFromTokenExchangeRequest implements op.TokenExchangeStorage.
func (s *storage) SetUserinfoFromTokenExchangeRequest(_ context.Context, info *oidc.UserInfo, request op.TokenExchangeRequest) error {
	describe(info, request.GetSubject())
	return nil
}
