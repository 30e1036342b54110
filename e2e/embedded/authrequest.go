package embedded

import (
	"context"
	"crypto/rand"
	"slices"
	"time"

	"github.com/zitadel/oidc/v3/pkg/oidc"
	"github.com/zitadel/oidc/v3/pkg/op"
)

// authRequest is a sign-in under way: the client's request, and the user once he signed in.
type authRequest struct {
	id       string
	asked    oidc.AuthRequest
	subject  string
	signedIn time.Time
}

var _ op.AuthRequest = (*authRequest)(nil)

func (a *authRequest) GetID() string                      { return a.id }
func (a *authRequest) GetACR() string                     { return "" }
func (a *authRequest) GetAMR() []string                   { return []string{"pwd"} }
func (a *authRequest) GetAudience() []string              { return []string{a.asked.ClientID} }
func (a *authRequest) GetAuthTime() time.Time             { return a.signedIn }
func (a *authRequest) GetClientID() string                { return a.asked.ClientID }
func (a *authRequest) GetNonce() string                   { return a.asked.Nonce }
func (a *authRequest) GetRedirectURI() string             { return a.asked.RedirectURI }
func (a *authRequest) GetResponseType() oidc.ResponseType { return a.asked.ResponseType }
func (a *authRequest) GetResponseMode() oidc.ResponseMode { return a.asked.ResponseMode }
func (a *authRequest) GetScopes() []string                { return a.asked.Scopes }
func (a *authRequest) GetState() string                   { return a.asked.State }
func (a *authRequest) GetSubject() string                 { return a.subject }
func (a *authRequest) Done() bool                         { return a.subject != "" }

// GetCodeChallenge gives what the verifier must match (RFC 7636).
func (a *authRequest) GetCodeChallenge() *oidc.CodeChallenge {
	return &oidc.CodeChallenge{Challenge: a.asked.CodeChallenge, Method: a.asked.CodeChallengeMethod}
}

// CreateAuthRequest implements op.AuthStorage. PKCE with S256 is a must.
func (s *storage) CreateAuthRequest(_ context.Context, asked *oidc.AuthRequest, _ string) (op.AuthRequest, error) {
	if asked.CodeChallenge == "" || asked.CodeChallengeMethod != oidc.CodeChallengeMethodS256 {
		return nil, oidc.ErrInvalidRequest().WithDescription("PKCE with S256 is required")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	request := &authRequest{id: rand.Text(), asked: *asked}
	s.requests[request.id] = request
	return request, nil
}

// AuthRequestByID implements op.AuthStorage.
func (s *storage) AuthRequestByID(_ context.Context, id string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request, ok := s.requests[id]
	if !ok {
		return nil, errUnknownToken
	}
	return request, nil
}

// AuthRequestByCode implements op.AuthStorage. Looking a code up spends it.
func (s *storage) AuthRequestByCode(_ context.Context, code string) (op.AuthRequest, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request, ok := s.requests[s.codes[code]]
	if !ok {
		return nil, errUnknownToken
	}
	delete(s.codes, code)
	return request, nil
}

// SaveAuthCode implements op.AuthStorage.
func (s *storage) SaveAuthCode(_ context.Context, id, code string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.codes[code] = id
	s.issued = append(s.issued, code)
	return nil
}

// DeleteAuthRequest implements op.AuthStorage.
func (s *storage) DeleteAuthRequest(_ context.Context, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.requests, id)
	return nil
}

// signIn marks a sign-in as done by user; false when there is none by that id.
func (s *storage) signIn(id, user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	request, ok := s.requests[id]
	if ok {
		request.subject, request.signedIn = user, time.Now()
	}
	return ok
}

// refreshRequest is a grant seen as the request to refresh it.
type refreshRequest struct{ grant }

var _ op.RefreshTokenRequest = (*refreshRequest)(nil)

func (r *refreshRequest) GetAMR() []string                 { return []string{"pwd"} }
func (r *refreshRequest) GetAudience() []string            { return []string{r.clientID} }
func (r *refreshRequest) GetAuthTime() time.Time           { return r.signedInAt }
func (r *refreshRequest) GetClientID() string              { return r.clientID }
func (r *refreshRequest) GetScopes() []string              { return slices.Clone(r.scopes) }
func (r *refreshRequest) GetSubject() string               { return r.subject }
func (r *refreshRequest) SetCurrentScopes(scopes []string) { r.scopes = scopes }
