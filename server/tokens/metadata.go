package tokens

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	callLimit        = 10 * time.Second // of one call of the sign-in server
	answerLimit      = 1 << 20          // bytes of one answer of it
	metadataLifetime = time.Hour
	metadataRetry    = time.Minute
)

// metadata is what a sign-in server publishes about itself (RFC 8414 2, OpenID Connect Discovery 3).
type metadata struct {
	Issuer        string   `json:"issuer"`
	Authorize     string   `json:"authorization_endpoint"`
	Token         string   `json:"token_endpoint"`
	Revocation    string   `json:"revocation_endpoint"`
	UserInfo      string   `json:"userinfo_endpoint"`
	Keys          string   `json:"jwks_uri"`
	Scopes        []string `json:"scopes_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
	Challenges    []string `json:"code_challenge_methods_supported"`
	ClientAuth    []string `json:"token_endpoint_auth_methods_supported"`
	IssuerInReply bool     `json:"authorization_response_iss_parameter_supported"`
}

func (m metadata) endpoints() endpoints {
	auth := authInHeader // what a server that lists none must support (RFC 8414 2)
	if len(m.ClientAuth) > 0 && !slices.Contains(m.ClientAuth, "client_secret_basic") {
		auth = authInBody
	}
	return endpoints{
		Authorize: m.Authorize, Token: m.Token, Revocation: m.Revocation, UserInfo: m.UserInfo, Keys: m.Keys,
		Issuer: m.Issuer, IssuerSent: m.IssuerInReply, ClientAuth: auth, Algorithms: m.algorithms(), NoS256: m.noS256(),
	}
}

// algorithms are those of ours that the server signs ID tokens with. A server that lists none may use any of ours.
func (m metadata) algorithms() []string {
	if len(m.Algorithms) == 0 {
		return idTokenAlgorithms
	}
	return slices.DeleteFunc(slices.Clone(idTokenAlgorithms), func(name string) bool { return !slices.Contains(m.Algorithms, name) })
}

// noS256 tells whether the server says that it takes no S256 challenge (RFC 8414 2). One that says nothing may.
func (m metadata) noS256() bool {
	return len(m.Challenges) > 0 && !slices.Contains(m.Challenges, "S256")
}

// defaultScopes are what to ask for where the settings leave it open: to know who signs in, and for a refresh token
// (OpenID Connect Core 3.1.2.1, 11). They are none at a server that is not one of OpenID Connect.
func (m metadata) defaultScopes() []string {
	if m.Keys == "" || len(m.Scopes) > 0 && !slices.Contains(m.Scopes, oidc.ScopeOpenID) {
		return nil
	}
	scopes := []string{oidc.ScopeOpenID}
	if slices.Contains(m.Scopes, oidc.ScopeOfflineAccess) {
		scopes = append(scopes, oidc.ScopeOfflineAccess)
	}
	return scopes
}

// cachedMetadata is the last metadata read.
type cachedMetadata struct {
	mu     sync.Mutex
	last   *metadata
	readAt time.Time
}

// look returns the last metadata, nil if there is none, and whether it does without asking again.
func (c *cachedMetadata) look(now time.Time) (last *metadata, young bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.last, c.last != nil && now.Sub(c.readAt) < metadataLifetime
}

// putOff lets the old metadata do until the server is asked again.
func (c *cachedMetadata) putOff(now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.readAt = now.Add(metadataRetry - metadataLifetime)
}

// discovered returns the metadata of the issuer: at most an hour old, or the last there was while the server can't be
// asked.
func (s *Store) discovered(ctx context.Context) (metadata, error) {
	cache := &s.provider.metadata
	last, young := cache.look(s.config.Clock.Now())
	if young {
		return *last, nil
	}
	found, err := shared(ctx, s, "metadata", func(ctx context.Context) (metadata, error) {
		if found, young := cache.look(s.config.Clock.Now()); young {
			return *found, nil // another call has just ended
		}
		return s.discover(ctx)
	})
	switch {
	case err == nil:
		return found, nil
	case last != nil && ctx.Err() == nil:
		cache.putOff(s.config.Clock.Now())
		return *last, nil
	}
	return metadata{}, s.signInServerDown(err)
}

// shared lets the callers of one moment share a call of the sign-in server, which goes on when they leave.
func shared[T any](ctx context.Context, s *Store, what string, call func(context.Context) (T, error)) (T, error) {
	flight := s.provider.flights.DoChan(what, func() (any, error) {
		if !s.config.Pending.begin(s.config.Lifetime) {
			return nil, context.Canceled
		}
		defer s.config.Pending.running.Done()
		lifetime := s.config.Lifetime
		if filehost.IsProbe(ctx) {
			lifetime = filehost.AsProbe(lifetime)
		}
		var found T
		err := filehost.Recovered(func() (err error) {
			found, err = call(lifetime)
			return err
		})
		return found, err
	})
	var none T
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case result := <-flight:
		if result.Err != nil {
			return none, result.Err
		}
		return result.Val.(T), nil
	}
}

// discover reads the metadata and remembers it.
func (s *Store) discover(ctx context.Context) (metadata, error) {
	issuer := s.provider.OAuth.Issuer
	found, err := s.readMetadata(ctx, strings.TrimRight(issuer, "/")+"/.well-known/openid-configuration")
	if errors.Is(err, errNotThere) {
		found, err = s.readMetadata(ctx, rfc8414URL(issuer))
	}
	if err == nil {
		err = s.provider.accept(found)
	}
	if err != nil {
		return metadata{}, err
	}
	cache := &s.provider.metadata
	cache.mu.Lock()
	defer cache.mu.Unlock()
	cache.last, cache.readAt = &found, s.config.Clock.Now()
	return found, nil
}

// rfc8414URL puts the well-known part between host and path (RFC 8414 3.1).
func rfc8414URL(issuer string) string {
	parsed, err := url.Parse(issuer)
	if err != nil {
		return issuer
	}
	parsed.Path = "/.well-known/oauth-authorization-server" + strings.TrimRight(parsed.Path, "/")
	return parsed.String()
}

var (
	// errNotThere means that the server answered that there is nothing at an address.
	errNotThere = errors.New("nothing is there")
	// errNotJSON stands for the decoder's own words, which could quote the answer.
	errNotJSON = errors.New("the answer is not the JSON expected")
)

// statusError is the cause of a call that was answered with a status that is not the one hoped for.
type statusError int

// Error implements error.
func (e statusError) Error() string { return fmt.Sprintf("the server answered %d", int(e)) }

// metadataError says what is wrong with metadata that came.
type metadataError struct{ why string }

// Error implements error.
func (e *metadataError) Error() string { return e.why }

func (s *Store) readMetadata(ctx context.Context, address string) (metadata, error) {
	var found metadata
	err := s.getJSON(ctx, address, filehost.Secret{}, &found)
	return found, err
}

// getJSON reads a JSON document of the sign-in server, with a bearer token if there is one.
func (s *Store) getJSON(ctx context.Context, address string, bearer filehost.Secret, into any) error {
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return err
	}
	if !bearer.IsEmpty() {
		request.Header.Set("Authorization", "Bearer "+bearer.Reveal())
	}
	return s.readJSON(request, answerLimit, into)
}

// readJSON makes a request once and reads the JSON document that it is answered with, of limit bytes at most. No error
// holds anything of the answer.
func (s *Store) readJSON(request *http.Request, limit int64, into any) error {
	request.Header.Set("Accept", "application/json")
	response, err := s.config.Client.Do(request) //nolint:gosec // which filters addresses
	if err != nil {
		return callFailed(request.Context(), err)
	}
	defer response.Body.Close() //nolint:errcheck // only read
	switch {
	case response.StatusCode == http.StatusNotFound:
		return errNotThere
	case response.StatusCode != http.StatusOK:
		return statusError(response.StatusCode)
	}
	raw, err := io.ReadAll(io.LimitReader(response.Body, limit))
	if err != nil {
		return callFailed(request.Context(), err)
	}
	if json.NewDecoder(bytes.NewReader(raw)).Decode(into) != nil { // whatever a server appends to the document
		return errNotJSON
	}
	return nil
}

// accept tells whether metadata may be used.
func (p *provider) accept(found metadata) error {
	if found.Issuer != p.OAuth.Issuer { // compared as they are (RFC 8414 3.3)
		return &metadataError{fmt.Sprintf("the metadata is of another issuer than %q", p.OAuth.Issuer)}
	}
	required := map[string]string{"token_endpoint": cmp.Or(p.fixed.Token, found.Token)}
	if p.people {
		required["authorization_endpoint"] = cmp.Or(p.fixed.Authorize, found.Authorize)
	}
	for name, address := range required {
		if reason := p.rule.refusal(address); reason != "" {
			return &metadataError{fmt.Sprintf("the %s of the metadata %s", name, reason)}
		}
	}
	for name, address := range map[string]string{
		"revocation_endpoint": found.Revocation, "userinfo_endpoint": found.UserInfo, "jwks_uri": found.Keys,
	} {
		if reason := p.rule.refusal(address); address != "" && reason != "" {
			return &metadataError{fmt.Sprintf("the %s of the metadata %s", name, reason)}
		}
	}
	return nil
}
