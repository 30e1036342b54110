package api

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

const someKeys = `{"keys":[{"kty":"RSA","use":"sig","alg":"RS256","kid":"one","n":"AQAB","e":"AQAB"}]}`

func TestTheKeySetIsPublicAndMayBeKeptForAnHour(t *testing.T) {
	w := newWorld(t)
	w.tokens.Keys = someKeys
	recorder := w.call(t, "", http.MethodGet, "/jwks.json", "")
	require.Equal(t, http.StatusOK, recorder.Code)
	assert.JSONEq(t, someKeys, recorder.Body.String())
	assert.Equal(t, "public, max-age=3600", recorder.Header().Get("Cache-Control"))
	tag := recorder.Header().Get("ETag")
	assert.Equal(t, http.StatusNotModified, w.call(t, "", http.MethodGet, "/jwks.json", "", "If-None-Match", tag).Code)
	assert.Equal(t, http.StatusOK, w.call(t, "", http.MethodHead, "/jwks.json", "").Code)
	w.tokens.Keys = `{"keys":[]}`
	assert.Equal(t, http.StatusOK, w.call(t, "", http.MethodGet, "/jwks.json", "", "If-None-Match", tag).Code)
}

func TestAnIssuerThatSignsNothingIsNotThere(t *testing.T) {
	w := newWorld(t)
	for _, target := range []string{"/jwks.json", "/.well-known/openid-configuration"} {
		recorder := w.call(t, "", http.MethodGet, target, "")
		assert.Equal(t, "not_found", failureOf(t, recorder).Code)
		assert.Equal(t, "no-store", recorder.Header().Get("Cache-Control"))
	}
}

// A client of the library that Dex reads its issuers with finds all that it needs.
func TestTheDiscoveryDocumentServesARelyingParty(t *testing.T) {
	w := newWorld(t)
	w.tokens.Keys = someKeys
	site := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		r.URL.Path = r.URL.Path[len("/plugins/filehost-attach"):]
		w.ServeHTTP(rw, r)
	}))
	t.Cleanup(site.Close)
	w.SiteURL = func() string { return site.URL }
	provider, err := oidc.NewProvider(oidc.ClientContext(t.Context(), site.Client()), IssuerURL(site.URL))
	require.NoError(t, err)
	var found struct {
		JWKSURI    string   `json:"jwks_uri"`
		Algorithms []string `json:"id_token_signing_alg_values_supported"`
	}
	require.NoError(t, provider.Claims(&found))
	assert.Equal(t, []string{"RS256"}, found.Algorithms)
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, found.JWKSURI, nil)
	require.NoError(t, err)
	response, err := site.Client().Do(request)
	require.NoError(t, err)
	defer response.Body.Close()
	var set map[string]any
	require.NoError(t, json.NewDecoder(response.Body).Decode(&set))
	assert.Len(t, set["keys"], 1)
}

func TestOnlyASystemAdminReplacesTheSigningKeys(t *testing.T) {
	w := newWorld(t)
	w.tokens.Keys = someKeys
	assert.Equal(t, "forbidden", failureOf(t, w.call(t, alice, http.MethodDelete, "/admin/signing-keys", "")).Code)
	assert.JSONEq(t, someKeys, w.tokens.Keys)
	assert.Equal(t, http.StatusNoContent, w.call(t, admin, http.MethodDelete, "/admin/signing-keys", "").Code)
	assert.JSONEq(t, `{"keys":[]}`, w.tokens.Keys)
	w.tokens.Keys = ""
	assert.Equal(t, "not_found", failureOf(t, w.call(t, admin, http.MethodDelete, "/admin/signing-keys", "")).Code)
}
