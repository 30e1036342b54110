package tokens

import (
	"crypto/rand"
	"crypto/rsa"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// claimsOf are what a token says, whoever has signed it.
func claimsOf(t *testing.T, token string) map[string]any {
	t.Helper()
	payload, err := base64.RawURLEncoding.DecodeString(strings.Split(token, ".")[1])
	require.NoError(t, err)
	var claims map[string]any
	require.NoError(t, json.Unmarshal(payload, &claims))
	return claims
}

func TestWhoIsNamedAndAsWhom(t *testing.T) {
	with := func(edit func(*filehost.Identity)) filehost.Identity {
		who := identity("u1")
		edit(&who)
		return who
	}
	saml := identity("u1")
	password := with(func(i *filehost.Identity) { i.AuthService, i.AuthData = "", "" })
	other := with(func(i *filehost.Identity) { i.AuthService = "gitlab" })
	for name, c := range map[string]struct {
		claim   SubjectClaim
		service string
		who     filehost.Identity
		want    string // "" = a refusal
	}{
		"the user id of a single sign-on account":         {SubjectUserID, "saml", saml, "u1"},
		"the user id of a password account":               {SubjectUserID, "", password, "u1"},
		"the id at the single sign-on":                    {SubjectAuthData, "saml", saml, "data-of-u1"},
		"the id of a password account":                    {SubjectAuthData, "saml", password, ""},
		"the id at another single sign-on":                {SubjectAuthData, "saml", other, ""},
		"an id where no service is named":                 {SubjectAuthData, "", password, ""},
		"an id of no service, where none is named":        {SubjectAuthData, "", with(func(i *filehost.Identity) { i.AuthService = "" }), ""},
		"an account whose service gave no id":             {SubjectAuthData, "saml", with(func(i *filehost.Identity) { i.AuthData = "" }), ""},
		"the address":                                     {SubjectEmail, "saml", saml, "u1@example.com"},
		"the address of a password account":               {SubjectEmail, "saml", password, ""},
		"the address of another single sign-on's account": {SubjectEmail, "saml", other, ""},
		"the address of an account without an id there":   {SubjectEmail, "saml", with(func(i *filehost.Identity) { i.AuthData = "" }), ""},
		"an address that nobody has verified":             {SubjectEmail, "saml", with(func(i *filehost.Identity) { i.EmailVerified = false }), ""},
		"no address":                                      {SubjectEmail, "saml", with(func(i *filehost.Identity) { i.Email = "" }), ""},
		"the user name":                                   {SubjectUsername, "saml", saml, "name-of-u1"},
		"the user name of a password account":             {SubjectUsername, "saml", password, ""},
		"a user name that Mattermost may have made up":    {SubjectUsername, "gitlab", other, ""},
		"the user name where no service is named":         {SubjectUsername, "", password, ""},
		"a claim that there is not":                       {"nickname", "saml", saml, ""},
		"no claim":                                        {"", "saml", saml, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := Subject{Claim: c.claim, Service: c.service}.of(c.who)
			assert.Equal(t, c.want, got)
			assert.Equal(t, c.want == "", asRefusal(err) != nil)
		})
	}
}

func TestAnAssertionSaysNoMoreThanTheGrantNeeds(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer)
	token, err := node.assert(t.Context(), identity(ann), endpoints{Token: server.audience}, false)
	require.NoError(t, err)
	now := float64(w.clock.Now().Unix())
	claims := claimsOf(t, token.Reveal())
	assert.Len(t, claims["jti"], 26, "130 random bits")
	delete(claims, "jti")
	assert.Equal(t, map[string]any{"iss": pluginIssuer, "sub": ann, "aud": server.audience,
		"iat": now - 60, "nbf": now - 60, "exp": now + 240}, claims)
	assert.Equal(t, "[redacted]", token.String())
}

func TestTheProfileHoldsOnlyWhatTheUserCannotHaveChosen(t *testing.T) {
	w := newWorld(t)
	node, _ := w.vouching(filehost.MethodTokenExchange)
	type profile struct{ Name, PreferredUsername, Email, EmailVerified any }
	for name, c := range map[string]struct {
		claim   SubjectClaim
		service string
		edit    func(*filehost.Identity)
		want    profile
	}{
		"a directory account":              {SubjectUsername, "saml", func(*filehost.Identity) {}, profile{"name-of-" + ann, "name-of-" + ann, ann + "@example.com", true}},
		"an unverified address":            {SubjectUsername, "saml", func(i *filehost.Identity) { i.EmailVerified = false }, profile{"name-of-" + ann, "name-of-" + ann, nil, nil}},
		"named by the id there":            {SubjectAuthData, "saml", func(*filehost.Identity) {}, profile{"data-of-" + ann, nil, ann + "@example.com", true}},
		"named by the address":             {SubjectEmail, "saml", func(*filehost.Identity) {}, profile{ann + "@example.com", nil, ann + "@example.com", true}},
		"named by Mattermost's id":         {SubjectUserID, "saml", func(*filehost.Identity) {}, profile{ann, nil, ann + "@example.com", true}},
		"a name Mattermost may have made":  {SubjectUserID, "gitlab", func(i *filehost.Identity) { i.AuthService = "gitlab" }, profile{ann, nil, ann + "@example.com", true}},
		"a password account":               {SubjectUserID, "saml", func(i *filehost.Identity) { i.AuthService, i.AuthData = "", "" }, profile{ann, nil, nil, nil}},
		"an account of another service":    {SubjectUserID, "ldap", func(*filehost.Identity) {}, profile{ann, nil, nil, nil}},
		"no service that would be trusted": {SubjectUserID, "", func(*filehost.Identity) {}, profile{ann, nil, nil, nil}},
	} {
		t.Run(name, func(t *testing.T) {
			node.config.Subject.Claim, node.config.Subject.Service = c.claim, c.service
			who := identity(ann)
			c.edit(&who)
			token, err := node.assert(t.Context(), who, endpoints{Token: "https://login.example.com/token"}, true)
			require.NoError(t, err)
			claims := claimsOf(t, token.Reveal())
			assert.Equal(t, c.want, profile{claims["name"], claims["preferred_username"], claims["email"], claims["email_verified"]})
		})
	}
}

func TestTheAudienceIsTheSettingElseTheIssuerElseTheTokenEndpoint(t *testing.T) {
	w := newWorld(t)
	node, _ := w.vouching(filehost.MethodJWTBearer)
	at := endpoints{Issuer: "https://login.example.com", Token: "https://login.example.com/token"}
	for _, c := range []struct {
		setting string
		at      endpoints
		want    string
	}{
		{"urn:files", at, "urn:files"},
		{"", at, "https://login.example.com"},
		{"", endpoints{Token: at.Token}, "https://login.example.com/token"},
	} {
		node.config.Subject.Audience = c.setting
		token, err := node.assert(t.Context(), identity(ann), c.at, false)
		require.NoError(t, err)
		assert.Equal(t, c.want, claimsOf(t, token.Reveal())["aud"])
	}
}

func TestNothingIsSignedWithoutAnIssuer(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer, func(c *Config) { c.Issuer = "" })
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, err, "Site URL")
	assert.Empty(t, server.forms())
}

// The peer of these tests is as strict as a relying party should be: whatever is wrong with a token, and nothing else, has
// it refused.
func TestThePeerRefusesEveryWrongClaim(t *testing.T) {
	w := newWorld(t)
	node, server := w.vouching(filehost.MethodJWTBearer)
	keys, err := node.keyring.current(t.Context())
	require.NoError(t, err)
	stranger, err := rsa.GenerateKey(rand.Reader, 2048)
	require.NoError(t, err)
	at := func(d time.Duration) *jwt.NumericDate { return jwt.NewNumericDate(w.clock.Now().Add(d)) }
	type token struct {
		claims assertionClaims
		key    jose.SigningKey
		typ    string
	}
	right := func() token {
		return token{
			assertionClaims{Claims: jwt.Claims{Issuer: pluginIssuer, Subject: ann, Audience: jwt.Audience{server.audience},
				Expiry: at(4 * time.Minute), NotBefore: at(-time.Minute), IssuedAt: at(-time.Minute), ID: rand.Text()}},
			jose.SigningKey{Algorithm: jose.RS256, Key: keys.Current.jwk}, "JWT",
		}
	}
	send := func(k token) string {
		signer, err := jose.NewSigner(k.key, (&jose.SignerOptions{}).WithType(jose.ContentType(k.typ)))
		require.NoError(t, err)
		text, err := jwt.Signed(signer).Claims(k.claims).Serialize()
		require.NoError(t, err)
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, server.URL+"/token", strings.NewReader(url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"}, "assertion": {text}}.Encode()))
		require.NoError(t, err)
		request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		request.SetBasicAuth("mattermost", "canary-client-secret")
		response, err := server.Client().Do(request)
		require.NoError(t, err)
		require.NoError(t, response.Body.Close())
		if response.StatusCode == http.StatusOK {
			return ""
		}
		return server.refusals[len(server.refusals)-1]
	}
	require.Empty(t, send(right()))
	require.Empty(t, send(func() token { k := right(); k.key.Key = keys.Next.jwk; return k }()), "the next key is known already")

	again := right()
	require.Empty(t, send(again))
	assert.Equal(t, "jti", send(again), "a replay")
	for want, edits := range map[string][]func(*token){
		"iss": {func(k *token) { k.claims.Issuer = "https://evil.example.com" }, func(k *token) { k.claims.Issuer = "" }},
		"sub": {func(k *token) { k.claims.Subject = bob }, func(k *token) { k.claims.Subject = "" }},
		"aud": {func(k *token) { k.claims.Audience = jwt.Audience{"https://elsewhere.example.com"} }, func(k *token) { k.claims.Audience = nil },
			func(k *token) { k.claims.Audience = append(k.claims.Audience, "https://elsewhere.example.com") }},
		"exp":  {func(k *token) { k.claims.Expiry = at(0) }, func(k *token) { k.claims.Expiry = nil }},
		"iat":  {func(k *token) { k.claims.IssuedAt = at(time.Second) }, func(k *token) { k.claims.IssuedAt = nil }},
		"nbf":  {func(k *token) { k.claims.NotBefore = at(time.Second) }, func(k *token) { k.claims.NotBefore = nil }},
		"life": {func(k *token) { k.claims.Expiry = at(4*time.Minute + time.Second) }},
		"jti":  {func(k *token) { k.claims.ID = "" }, func(k *token) { k.claims.ID = "short" }},
		"typ":  {func(k *token) { k.typ = "at+jwt" }},
		"no key": {func(k *token) { k.key.Key = stranger },
			func(k *token) { k.key.Key = jose.JSONWebKey{Key: stranger, KeyID: "unknown"} }},
		"signature": {func(k *token) { k.key.Key = jose.JSONWebKey{Key: stranger, KeyID: keys.Current.jwk.KeyID} }},
		"no JWT":    {func(k *token) { k.key = jose.SigningKey{Algorithm: jose.HS256, Key: []byte(strings.Repeat("k", 32))} }},
	} {
		for _, edit := range edits {
			k := right()
			edit(&k)
			assert.Equal(t, want, send(k))
		}
	}
}

// A relying party whose clock is a minute off, either way, and that grants no leeway, takes what the plugin signs.
func TestAnAssertionHoldsForAClockThatIsAMinuteOff(t *testing.T) {
	for _, off := range []time.Duration{-time.Minute, 0, time.Minute} {
		w := newWorld(t)
		node, server := w.vouching(filehost.MethodJWTBearer)
		server.set(func(s *trustingServer) { s.clock = func() time.Time { return w.clock.Now().Add(off) } })
		_, err := node.For(t.Context(), ann)
		require.NoError(t, err, off)
	}
}
