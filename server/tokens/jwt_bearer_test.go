package tokens

import (
	"net/url"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// RFC 7523 2.1.
func TestAJWTBearerGrantIsAnAssertionAndNothingElse(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer, func(c *Config) {
		c.OAuth.Scopes = []string{"files"}
		c.Exchange = Exchange{Subject: SubjectTokenJWT, ActorToken: filehost.NewSecret("canary-actor"), Audience: []string{"files"}}
	})
	_, err := node.For(t.Context(), ann)
	require.NoError(t, err)
	form := server.forms()[0]
	claims := claimsOf(t, form.Get("assertion"))
	assert.Equal(t, ann, claims["sub"])
	assert.NotContains(t, claims, "email")
	assert.NotContains(t, claims, "name")
	form.Del("assertion")
	assert.Equal(t, url.Values{"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "scope": {"files"}}, form)
}

// Whoever rotates the keys in between, what a node signs is checked by what is published.
func TestAssertionsHoldAcrossRotations(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer)
	for range 4 {
		_, err := node.For(t.Context(), ann)
		require.NoError(t, err)
		w.clock.Advance(signingKeyTime / 2)
		_, err = node.keyring.renew(t.Context())
		require.NoError(t, err)
	}
	assert.Len(t, server.forms(), 4)
	assert.Empty(t, server.refusals)
}
