package tokens

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// RFC 8693 2.1.
func TestATokenExchangeSaysWhatItAsksFor(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
		c.OAuth.Scopes = []string{"openid", "files"}
		c.Exchange = Exchange{Subject: SubjectTokenJWT, ActorToken: filehost.NewSecret("canary-actor"), ConnectorID: "mattermost",
			Audience: []string{"files"}, Resource: []string{"https://files.example.com", "files"}}
	})
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	form := server.forms()[0]
	assert.Equal(t, ann, claimsOf(t, form.Get("subject_token"))["sub"])
	form.Del("subject_token")
	assert.Equal(t, url.Values{
		"grant_type":           {"urn:ietf:params:oauth:grant-type:token-exchange"},
		"requested_token_type": {"urn:ietf:params:oauth:token-type:access_token"},
		"subject_token_type":   {"urn:ietf:params:oauth:token-type:jwt"},
		"actor_token":          {"canary-actor"},
		"actor_token_type":     {"urn:ietf:params:oauth:token-type:access_token"},
		"connector_id":         {"mattermost"},
		"audience":             {"files"},
		"resource":             {"https://files.example.com", "files"},
		"scope":                {"openid files"},
	}, form)
}

func TestATokenExchangeSaysNothingThatNobodyHasSet(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange)
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, []string{"grant_type", "requested_token_type", "subject_token", "subject_token_type"}, slices.Sorted(maps.Keys(server.forms()[0])))
}

func TestDexIsShownAnIDToken(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
		c.Exchange = Exchange{Subject: SubjectTokenIDToken, ConnectorID: "mattermost"}
	})
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	form := server.forms()[0]
	assert.Equal(t, "urn:ietf:params:oauth:token-type:id_token", form.Get("subject_token_type"))
	assert.Equal(t, "mattermost", form.Get("connector_id"))
	assert.Equal(t, ann, claimsOf(t, form.Get("subject_token"))["name"], "Dex asks for one")
}

func TestZitadelIsShownAUserIDAndWhoActsForHim(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
		c.Exchange = Exchange{Subject: SubjectTokenZitadelUserID, ActorToken: filehost.NewSecret("canary-actor")}
		c.Subject = Subject{Claim: SubjectAuthData, Service: "saml"}
	})
	server.accounts["data-of-"+ann] = "anna"
	credential, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	assert.Equal(t, "anna", credential.Account)
	form := server.forms()[0]
	assert.Equal(t, "data-of-"+ann, form.Get("subject_token"))
	assert.Equal(t, "urn:zitadel:params:oauth:token-type:user_id", form.Get("subject_token_type"))
	assert.Equal(t, "canary-actor", form.Get("actor_token"))
	assert.Nil(t, node.keyring, "nothing is signed")
	_, err = node.For(t.Context(), bob)
	requireKind(t, filehost.NotConnected, err)
}

// An actor token that has run out is no user's fault, though RFC 8693 2.2.2 has but one code for both.
func TestAnActorTokenThatIsNotValidIsTheAdminsConcern(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
		c.Exchange = Exchange{Subject: SubjectTokenZitadelUserID, ActorToken: filehost.NewSecret("canary-expired")}
	})
	for _, user := range []string{ann, ann, bob, ann} {
		_, err := node.For(t.Context(), user)
		requireKind(t, filehost.NotConfigured, err)
	}
	assert.Len(t, server.forms(), 2)
	err := node.CheckTokenEndpoint(t.Context())
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, err, "“Actor token”")

	_, err = node.For(t.Context(), "carol")
	requireKind(t, filehost.NotConfigured, err)
	server.set(func(s *trustingServer) { s.actors["canary-expired"] = true })
	w.clock.Advance(restTime + time.Second)
	_, err = node.For(t.Context(), ann)
	require.NoError(t, err)
}

// Whoever is called so chose it, or somebody who wants the admin to look in the wrong place.
func TestADescriptionThatQuotesTheUserDoesNotBlameTheActor(t *testing.T) {
	for description, blames := range map[string]bool{
		"actor_token invalid":                     true,
		"the 'actor_token' has expired":           true,
		"expired: actor_token.":                   true,
		"unknown user mr.actor_token@example.com": false,
		"actor_tokens are not supported":          false,
		"actor_token: EVE may not be one":         false,
		"no actor_token for e@example.com":        false,
		"3216 is unknown to (actor_token)":        false,
		"u7 may not be impersonated: actor_token": false,
		"the subject_token is not valid":          false,
	} {
		w := newWorld(t)
		node, server := w.vouching(filehost.MethodTokenExchange, func(c *Config) {
			c.Exchange.ActorToken = filehost.NewSecret("canary-actor")
			c.Identify = func(context.Context, string) (filehost.Identity, error) {
				return filehost.Identity{UserID: "u7", Username: "eve", Email: "e@example.com", AuthData: "3216", Active: true}, nil
			}
		})
		server.fault = refusing(400, "invalid_request", description)
		_, err := node.For(t.Context(), "eve")
		want := map[bool]filehost.Kind{true: filehost.NotConfigured, false: filehost.NotConnected}[blames]
		requireKind(t, want, err)
	}
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodTokenExchange)
	server.fault = refusing(400, "invalid_request", "actor_token invalid")
	_, err := node.For(t.Context(), "eve")
	requireKind(t, filehost.NotConnected, err)
}

// RFC 8693 2.2.1.
func TestAnAnswerThatIsNoAccessTokenIsNotUsed(t *testing.T) {
	for name, answer := range map[string]map[string]any{
		"no issued_token_type":    {"issued_token_type": nil},
		"an ID token":             {"issued_token_type": typeIDToken, "token_type": "N_A"},
		"an ID token as a bearer": {"issued_token_type": typeIDToken},
		"a refresh token":         {"issued_token_type": "urn:ietf:params:oauth:token-type:refresh_token"},
		"N_A":                     {"token_type": "N_A"},
		"no token_type":           {"token_type": nil},
		"a DPoP token":            {"token_type": "DPoP"},
		"no token":                {"access_token": nil},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			node, server := w.vouching(filehost.MethodTokenExchange)
			server.answer = answer
			_, err := node.For(t.Context(), ann)
			requireKind(t, filehost.HostUnavailable, err)
			require.Error(t, node.CheckTokenEndpoint(t.Context()))
			connection, err := node.Connection(t.Context(), ann)
			require.NoError(t, err)
			assert.Nil(t, connection.Refused)
			assert.Equal(t, filehost.Disconnected, connection.State)
		})
	}
}

// A host that could be a sign-in server itself is none that would trust the plugin.
func TestAnIssuerOrATokenURLIsNeeded(t *testing.T) {
	w := newWorld(t)
	for _, method := range []filehost.Method{filehost.MethodJWTBearer, filehost.MethodTokenExchange} {
		_, err := New(Config{Host: w.host, Methods: []filehost.Method{method}, AllowHTTP: true, OAuth: OAuth{ClientID: "mattermost"}, Client: w.server.Client()})
		requireKind(t, filehost.NotConfigured, err)
	}
}
