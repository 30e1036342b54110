package api

import (
	"crypto/sha256"
	"encoding/base64"
	"net/http"
)

// typeJWKS is the media type of key sets (RFC 7517 8.5.1).
const typeJWKS = "application/jwk-set+json"

// issuerCache is how long anybody may keep the keys: much shorter than a new one is published before it signs.
const issuerCache = "public, max-age=3600"

// IssuerURL is the issuer of what the plugin signs (OpenID Connect Discovery 3). siteURL has no trailing slash.
func IssuerURL(siteURL string) string { return siteURL + Base }

// discoveryBody is what OpenID Connect Discovery 3 asks for of an issuer whose tokens nobody fetches: there are no
// endpoints beside the keys.
type discoveryBody struct {
	Issuer        string   `json:"issuer"`
	JWKSURI       string   `json:"jwks_uri"`
	ResponseTypes []string `json:"response_types_supported"`
	SubjectTypes  []string `json:"subject_types_supported"`
	Algorithms    []string `json:"id_token_signing_alg_values_supported"`
}

// jwks serves GET /jwks.json.
func (h *Handler) jwks(r *request) (response, error) {
	keys, err := publicKeys(r)
	if err != nil {
		return response{}, err
	}
	tag := sha256.Sum256(keys)
	answer := response{status: http.StatusOK, contentType: typeJWKS, body: keys, header: http.Header{
		"Cache-Control": {issuerCache},
		"Etag":          {`"` + base64.RawURLEncoding.EncodeToString(tag[:18]) + `"`},
	}}
	return answer.unlessKnown(r.Request), nil
}

// discovery serves GET /.well-known/openid-configuration.
func (h *Handler) discovery(r *request) (response, error) {
	if _, err := publicKeys(r); err != nil {
		return response{}, err
	}
	issuer := IssuerURL(h.SiteURL())
	return response{status: http.StatusOK, header: http.Header{"Cache-Control": {issuerCache}}, body: discoveryBody{
		Issuer:        issuer,
		JWKSURI:       issuer + "/jwks.json",
		ResponseTypes: []string{"id_token"},
		SubjectTypes:  []string{"public"},
		Algorithms:    []string{"RS256"},
	}}, nil
}

// replaceSigningKeys serves DELETE /admin/signing-keys.
func (h *Handler) replaceSigningKeys(r *request) (response, error) {
	service, err := serviceOfQuery(r)
	if err != nil {
		return response{}, err
	}
	return response{status: http.StatusNoContent}, service.ReplaceSigningKeys(r.ctx, r.userID)
}

func publicKeys(r *request) ([]byte, error) {
	service, err := r.serviceFor("")
	if err != nil {
		return nil, err
	}
	return service.Issuer.JWKS(r.ctx)
}
