// Command fosite is a token endpoint over ory/fosite, the library of Ory Hydra, for the grant of RFC 7523:
// `fosite CONFIG.json`. It trusts one issuer, whose keys it fetches as Keycloak does, and of its subjects those that
// somebody has linked with an account; the file of links is read anew for each request.
package main

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"time"

	"github.com/ory/fosite"
	"github.com/ory/fosite/compose"
	"github.com/ory/fosite/handler/oauth2"
	"github.com/ory/fosite/storage"
	"golang.org/x/crypto/bcrypt"
)

// settings are what the file holds that the program is given.
type settings struct {
	Address, Issuer string
	// Client may use the grant; ResourceServer may ask about tokens.
	Client, ResourceServer struct{ ID, Secret string }
	// Trusted is the issuer whose assertions are taken, Keys where its public keys are.
	Trusted, Keys string
	// Links is the path of the file of subjects of the trusted issuer and whose accounts they are.
	Links string
	// Scopes are those that the client may have.
	Scopes []string
}

// maxAssertionLife is how long an assertion may be good for, from when it was issued.
const maxAssertionLife = 6 * time.Minute

func main() {
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(path string) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var s settings
	if err := json.Unmarshal(content, &s); err != nil {
		return err
	}
	provider, err := newProvider(s)
	if err != nil {
		return err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/openid-configuration", s.discovery)
	mux.HandleFunc("POST /oauth2/token", func(w http.ResponseWriter, r *http.Request) { token(w, r, provider) })
	mux.HandleFunc("POST /oauth2/introspect", func(w http.ResponseWriter, r *http.Request) {
		answer, err := provider.NewIntrospectionRequest(r.Context(), r, new(session))
		if err != nil {
			provider.WriteIntrospectionError(r.Context(), w, err)
			return
		}
		provider.WriteIntrospectionResponse(r.Context(), w, answer)
	})
	mux.HandleFunc("POST /oauth2/revoke", func(w http.ResponseWriter, r *http.Request) {
		provider.WriteRevocationResponse(r.Context(), w, provider.NewRevocationRequest(r.Context(), r))
	})
	server := &http.Server{Addr: s.Address, Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	return server.ListenAndServe()
}

func newProvider(s settings) (fosite.OAuth2Provider, error) {
	memory := storage.NewMemoryStore()
	for id, secret := range map[string]string{s.Client.ID: s.Client.Secret, s.ResourceServer.ID: s.ResourceServer.Secret} {
		hash, err := bcrypt.GenerateFromPassword([]byte(secret), bcrypt.MinCost)
		if err != nil {
			return nil, err
		}
		client := &fosite.DefaultClient{ID: id, Secret: hash, Scopes: s.Scopes}
		if id == s.Client.ID {
			client.GrantTypes = []string{string(fosite.GrantTypeJWTBearer)}
		}
		memory.Clients[id] = client
	}
	secret := make([]byte, 32)
	if _, err := rand.Read(secret); err != nil {
		return nil, err
	}
	config := &fosite.Config{
		GlobalSecret:                  secret,
		AccessTokenLifespan:           time.Hour,
		GrantTypeJWTBearerMaxDuration: maxAssertionLife,
		HashCost:                      bcrypt.MinCost,
		AccessTokenIssuer:             s.Issuer,
	}
	factories := []compose.Factory{
		compose.RFC7523AssertionGrantFactory, compose.OAuth2TokenIntrospectionFactory, compose.OAuth2TokenRevocationFactory,
	}
	own := audiences{config, []string{s.Issuer + "/oauth2/token", s.Issuer}}
	store := &trust{MemoryStore: memory, settings: s, client: &http.Client{Timeout: 10 * time.Second}}
	provider := &fosite.Fosite{Store: store, Config: own}
	for _, factory := range factories {
		handler := factory(own, store, compose.NewOAuth2HMACStrategy(config))
		if h, ok := handler.(fosite.TokenEndpointHandler); ok {
			config.TokenEndpointHandlers.Append(h)
		}
		if h, ok := handler.(fosite.TokenIntrospector); ok {
			config.TokenIntrospectionHandlers.Append(h)
		}
		if h, ok := handler.(fosite.RevocationHandler); ok {
			config.RevocationHandlers.Append(h)
		}
	}
	return provider, nil
}

// audiences are what an assertion may name as the server: its token endpoint or its issuer (RFC 7523 3).
type audiences struct {
	*fosite.Config
	names []string
}

// GetTokenURLs implements fosite.TokenURLProvider.
func (a audiences) GetTokenURLs(context.Context) []string { return a.names }

// session is what a token is kept with. The grant calls for both.
type session struct{ fosite.DefaultSession }

// SetSubject implements rfc7523.Session.
func (s *session) SetSubject(subject string) { s.Subject = subject }

// Clone implements fosite.Session.
func (s *session) Clone() fosite.Session {
	return &session{*s.DefaultSession.Clone().(*fosite.DefaultSession)}
}

func token(w http.ResponseWriter, r *http.Request, provider fosite.OAuth2Provider) {
	request, err := provider.NewAccessRequest(r.Context(), r, new(session))
	if err != nil {
		provider.WriteAccessError(r.Context(), w, request, err)
		return
	}
	answer, err := provider.NewAccessResponse(r.Context(), request)
	if err != nil {
		provider.WriteAccessError(r.Context(), w, request, err)
		return
	}
	provider.WriteAccessResponse(r.Context(), w, request, answer)
}

// discovery is what there is of OpenID Connect: a document that says where to ask for tokens.
func (s settings) discovery(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{
		"issuer":                                s.Issuer,
		"authorization_endpoint":                s.Issuer + "/oauth2/auth",
		"token_endpoint":                        s.Issuer + "/oauth2/token",
		"introspection_endpoint":                s.Issuer + "/oauth2/introspect",
		"revocation_endpoint":                   s.Issuer + "/oauth2/revoke",
		"jwks_uri":                              s.Issuer + "/.well-known/jwks.json",
		"grant_types_supported":                 []string{string(fosite.GrantTypeJWTBearer)},
		"response_types_supported":              []string{"code"},
		"subject_types_supported":               []string{"public"},
		"id_token_signing_alg_values_supported": []string{"RS256"},
		"token_endpoint_auth_methods_supported": []string{"client_secret_basic", "client_secret_post"},
	})
}

var _ oauth2.CoreStorage = (*trust)(nil)
