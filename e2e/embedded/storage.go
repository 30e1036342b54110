package embedded

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/subtle"
	"errors"
	"slices"
	"sync"
	"time"

	jose "github.com/go-jose/go-jose/v4"
	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

const (
	defaultTokenLife = time.Hour
	refreshTokenLife = 24 * time.Hour
)

// storage keeps sign-ins under way and grants in memory, behind the provider.
type storage struct {
	client *client
	host   *Host
	key    signingKey

	mu       sync.Mutex
	life     time.Duration
	requests map[string]*authRequest
	codes    map[string]string // code -> id of the request
	access   map[string]*accessToken
	refresh  map[string]*grant
	trust    trust
	foreign  map[string]string // access tokens of another server -> user
	ended    map[string]bool   // those of them that are good no more
	issued   []string          // all codes and refresh tokens ever
}

var _ op.Storage = (*storage)(nil)

// grant is what a user allowed the client; each refresh gives it a new refresh token.
type grant struct {
	clientID, subject string
	scopes            []string
	signedInAt        time.Time
	expires           time.Time
	accessTokenID     string
}

type accessToken struct {
	clientID, subject string
	scopes            []string
	audience          []string
	expires           time.Time
}

func newStorage(cfg hosts.Config, host *Host) (*storage, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	life := cfg.TokenLife
	if life == 0 {
		life = defaultTokenLife
	}
	return &storage{
		client: &client{
			id: cfg.ClientID, secret: cfg.ClientSecret,
			redirectURIs: cfg.RedirectURIs, login: host.Issuer() + "/login",
		},
		host:     host,
		key:      signingKey{id: rand.Text(), key: key},
		life:     life,
		requests: map[string]*authRequest{},
		codes:    map[string]string{},
		access:   map[string]*accessToken{},
		refresh:  map[string]*grant{},
		foreign:  map[string]string{},
		ended:    map[string]bool{},
		trust:    trust{links: map[string]string{}, ids: map[string]string{}, spent: map[string]bool{}},
	}, nil
}

var (
	errUnknownToken  = errors.New("unknown, used or expired token")
	errUnknownClient = errors.New("unknown client or wrong secret")
)

// CreateAccessToken implements op.AuthStorage.
func (s *storage) CreateAccessToken(_ context.Context, request op.TokenRequest) (string, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id, token := s.issue(s.client.id, request)
	return id, token.expires, nil
}

// issue wants the lock held.
func (s *storage) issue(clientID string, request op.TokenRequest) (string, *accessToken) {
	token := &accessToken{
		clientID: clientID, subject: request.GetSubject(), scopes: request.GetScopes(), audience: request.GetAudience(),
		expires: time.Now().Add(s.life),
	}
	id := rand.Text()
	s.access[id] = token
	return id, token
}

// CreateAccessAndRefreshTokens implements op.AuthStorage. A refresh spends the old refresh token
// and kills the access token that came with it.
func (s *storage) CreateAccessAndRefreshTokens(_ context.Context, request op.TokenRequest, current string) (string, string, time.Time, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	next := &grant{
		clientID: s.client.id, subject: request.GetSubject(), scopes: request.GetScopes(),
		signedInAt: time.Now(), expires: time.Now().Add(refreshTokenLife),
	}
	if current != "" {
		old, ok := s.refresh[current]
		if !ok {
			return "", "", time.Time{}, oidc.ErrInvalidGrant()
		}
		delete(s.refresh, current)
		delete(s.access, old.accessTokenID)
		next.signedInAt = old.signedInAt
	}
	id, token := s.issue(next.clientID, request)
	next.accessTokenID = id
	refreshToken := rand.Text()
	s.refresh[refreshToken] = next
	s.issued = append(s.issued, refreshToken)
	return id, refreshToken, token.expires, nil
}

// TokenRequestByRefreshToken implements op.AuthStorage.
func (s *storage) TokenRequestByRefreshToken(_ context.Context, token string) (op.RefreshTokenRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.refresh[token]
	if !ok || time.Now().After(g.expires) {
		return nil, errUnknownToken
	}
	return &refreshRequest{grant: *g}, nil
}

// TerminateSession implements op.AuthStorage.
func (s *storage) TerminateSession(_ context.Context, userID, _ string) error {
	s.host.RevokeGrants(userID)
	return nil
}

// RevokeToken implements op.AuthStorage (RFC 7009): an unknown token is no error.
func (s *storage) RevokeToken(_ context.Context, token, _, clientID string) *oidc.Error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g, ok := s.refresh[token]; ok && g.clientID == clientID {
		delete(s.refresh, token)
		delete(s.access, g.accessTokenID)
	}
	delete(s.access, token)
	return nil
}

// GetRefreshTokenInfo implements op.AuthStorage.
func (s *storage) GetRefreshTokenInfo(_ context.Context, clientID, token string) (string, string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g, ok := s.refresh[token]
	if !ok || g.clientID != clientID {
		return "", "", op.ErrInvalidRefreshToken
	}
	return g.subject, token, nil
}

// SigningKey implements op.AuthStorage.
func (s *storage) SigningKey(context.Context) (op.SigningKey, error) { return s.key, nil }

// SignatureAlgorithms implements op.AuthStorage.
func (s *storage) SignatureAlgorithms(context.Context) ([]jose.SignatureAlgorithm, error) {
	return []jose.SignatureAlgorithm{jose.RS256}, nil
}

// KeySet implements op.AuthStorage.
func (s *storage) KeySet(context.Context) ([]op.Key, error) { return []op.Key{s.key.public()}, nil }

// GetClientByClientID implements op.OPStorage.
func (s *storage) GetClientByClientID(_ context.Context, id string) (op.Client, error) {
	if id != s.client.id {
		return nil, oidc.ErrInvalidClient().WithParent(errUnknownClient)
	}
	return s.client, nil
}

// AuthorizeClientIDSecret implements op.OPStorage.
func (s *storage) AuthorizeClientIDSecret(_ context.Context, id, secret string) error {
	if id != s.client.id || subtle.ConstantTimeCompare([]byte(secret), []byte(s.client.secret)) != 1 {
		return oidc.ErrInvalidClient().WithParent(errUnknownClient)
	}
	return nil
}

// SetUserinfoFromScopes implements op.OPStorage; SetUserinfoFromRequest does the work.
func (s *storage) SetUserinfoFromScopes(context.Context, *oidc.UserInfo, string, string, []string) error {
	return nil
}

// SetUserinfoFromRequest implements op.CanSetUserinfoFromRequest, for ID tokens.
func (s *storage) SetUserinfoFromRequest(_ context.Context, info *oidc.UserInfo, request op.IDTokenRequest, _ []string) error {
	describe(info, request.GetSubject())
	return nil
}

// SetUserinfoFromToken implements op.OPStorage, for the userinfo endpoint.
func (s *storage) SetUserinfoFromToken(_ context.Context, info *oidc.UserInfo, id, subject, _ string) error {
	if !s.accessTokenLives(id, subject) {
		return errUnknownToken
	}
	describe(info, subject)
	return nil
}

func describe(info *oidc.UserInfo, user string) {
	info.Subject = user
	info.PreferredUsername = user
	info.Email = user + "@files.example.com"
	info.EmailVerified = true
}

// SetIntrospectionFromToken implements op.OPStorage.
func (s *storage) SetIntrospectionFromToken(_ context.Context, answer *oidc.IntrospectionResponse, id, subject, _ string) error {
	if !s.accessTokenLives(id, subject) {
		return errUnknownToken
	}
	answer.Subject = subject
	return nil
}

// GetPrivateClaimsFromScopes implements op.OPStorage.
func (s *storage) GetPrivateClaimsFromScopes(context.Context, string, string, []string) (map[string]any, error) {
	return nil, nil
}

// GetKeyByIDAndClientID implements op.OPStorage: no client has a key.
func (s *storage) GetKeyByIDAndClientID(context.Context, string, string) (*jose.JSONWebKey, error) {
	return nil, errUnknownClient
}

// ValidateJWTProfileScopes implements op.OPStorage: the grant is not offered.
func (s *storage) ValidateJWTProfileScopes(context.Context, string, []string) ([]string, error) {
	return nil, oidc.ErrUnsupportedGrantType()
}

// Health implements op.Storage.
func (s *storage) Health(context.Context) error { return nil }

func (s *storage) accessTokenLives(id, subject string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.access[id]
	return ok && token.subject == subject && time.Now().Before(token.expires)
}

// isForFiles tells whether an access token is for the host's files, and not for something else: a client's own, or one
// that was exchanged for this.
func (s *storage) isForFiles(id string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	token, ok := s.access[id]
	return ok && (slices.Contains(token.audience, s.client.id) || slices.Contains(token.audience, Audience))
}
