package doubles

import (
	"context"
	_ "embed"
	"encoding/xml"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// OwnCloud is ownCloud 10.
type OwnCloud struct{ sabre }

var _ hosts.Host = (*OwnCloud)(nil)

// ownCloudName is what the recorded server calls itself.
const ownCloudName = "PiCloud"

// ownCloudProperties are those that Nextcloud doesn't have, or has in another way.
var ownCloudProperties = map[xml.Name]func(*sabre, node) value{
	ocName("permissions"): letters("RDNVCK", "RDNVW"),
	ocName("privatelink"): func(s *sabre, n node) value { return text(s.Origin() + "/f/" + strconv.FormatUint(n.id(), 10)) },
	ocName("checksums"): ofFile(func(s *sabre, n node) value {
		if sum := s.checksum(n); sum != "" {
			return markup("<oc:checksum>SHA1:" + sum + "</oc:checksum>")
		}
		return absent
	}),
}

// StartOwnCloud listens on a free loopback port and serves until Close; ctx is for the start alone.
func StartOwnCloud(ctx context.Context, cfg hosts.Config) (*OwnCloud, error) {
	base, err := newServer(ctx, cfg, sabreTakes(255))
	if err != nil {
		return nil, err
	}
	base.traits = hosts.Traits{Kind: "owncloud"}
	o := &OwnCloud{sabre{
		server: base, allow: nextcloudAllow + ", LOCK, UNLOCK", davHeader: "1, 3, extended-mkcol, 2",
		challenges:    []string{`Bearer realm="` + ownCloudName + `"`, `Basic realm="` + ownCloudName + `", charset="UTF-8"`},
		prefixes:      map[string]string{nsDAV: "d", nsOC: "oc"},
		declared:      ` xmlns:oc="` + nsOC + `"`,
		properties:    maps.Clone(sabreProperties),
		missingParent: http.StatusConflict,
		checksums:     true,
		searchFiles:   true,
		previews:      true,
	}}
	maps.Copy(o.properties, ownCloudProperties)
	o.reply = func(w http.ResponseWriter, _ *http.Request, entries []string) { o.multistatus(w, entries) }
	mux := http.NewServeMux()
	mux.HandleFunc("/", o.unknown)
	mux.HandleFunc("/status.php", o.status)
	mux.HandleFunc("/remote.php/dav/files/", o.dav)
	mux.HandleFunc("/remote.php/dav/meta/", o.dav)
	mux.HandleFunc("/ocs/v2.php/cloud/user", o.ocsUser)
	mux.HandleFunc("/ocs/v2.php/cloud/capabilities", o.ocsCapabilities)
	for _, path := range []string{ocsSharesPath, ocsSharesPath + "/"} {
		mux.HandleFunc(path, o.ocsShares)
	}
	for _, front := range []string{"", "/index.php"} {
		mux.HandleFunc(front+"/apps/oauth2/authorize", o.authorize)
		mux.HandleFunc(front+"/apps/oauth2/api/v1/token", o.token)
	}
	o.serve(literal(mux))
	return o, nil
}

func (o *OwnCloud) status(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"installed": true, "maintenance": false, "needsDbUpgrade": false, "version": "10.15.2.0",
		"versionstring": "10.15.2", "edition": "Community", "productname": ownCloudName, "product": ownCloudName,
	})
}

// caller signs in by token as Bearer, or by password as Basic.
func (o *OwnCloud) caller(r *http.Request) (string, bool) {
	if token, ok := bearer(r); ok {
		return o.grants.user(token)
	}
	name, password, ok := r.BasicAuth()
	return name, ok && o.passwordMatches(name, password)
}

func (o *OwnCloud) dav(w http.ResponseWriter, r *http.Request) {
	o.count(r)
	user, ok := o.caller(r)
	switch {
	case ok && isMeta(r):
		o.meta(w, r, user)
		return
	case ok:
		o.files(w, r, user)
		return
	}
	o.counters.Unauthorized.Add(1)
	for _, challenge := range o.challenges {
		w.Header().Add("WWW-Authenticate", challenge)
	}
	o.fail(w, http.StatusUnauthorized, "NotAuthenticated", "Cannot authenticate over ajax calls")
}

// ocs answers a call of the OCS API to who signs in.
func (o *OwnCloud) ocs(w http.ResponseWriter, r *http.Request, method string) (user string, ok bool) {
	if r.Method != method || !asksJSON(r) {
		o.unknown(w, r)
		return "", false
	}
	if user, ok = o.caller(r); !ok {
		writeOCS(w, http.StatusUnauthorized, 997, "Unauthorised", []any{})
	}
	return user, ok
}

//go:embed testdata/owncloud-capabilities.json
var ownCloudCapabilities []byte

func (o *OwnCloud) ocsCapabilities(w http.ResponseWriter, r *http.Request) {
	if _, ok := o.ocs(w, r, http.MethodGet); ok {
		o.capabilities(w, ownCloudCapabilities)
	}
}

func (o *OwnCloud) ocsShares(w http.ResponseWriter, r *http.Request) {
	if user, ok := o.ocs(w, r, r.Method); ok {
		ocsShares{o.server, false}.serve(w, r, user)
	}
}

func (o *OwnCloud) ocsUser(w http.ResponseWriter, r *http.Request) {
	user, ok := o.ocs(w, r, http.MethodGet)
	if !ok {
		return
	}
	writeOCS(w, http.StatusOK, 200, "OK", map[string]any{"id": user, "display-name": user, "email": nil, "language": "en"})
}

// authorize asks who signs in and sends a code back. The redirect URI must be the registered one.
func (o *OwnCloud) authorize(w http.ResponseWriter, r *http.Request) {
	query := r.URL.Query()
	switch {
	case query.Get("client_id") != o.config.ClientID, query.Get("response_type") != "code",
		query.Get("redirect_uri") != o.config.RedirectURIs[0]:
		o.surprise(r, "what is asked for is not what is registered: "+query.Encode())
		http.Error(w, "Request not valid", http.StatusBadRequest)
		return
	case query.Get("code_challenge") != "" && query.Get("code_challenge_method") != "S256":
		o.surprise(r, "code_challenge_method is "+query.Get("code_challenge_method"))
		http.Error(w, "Request not valid", http.StatusBadRequest)
		return
	}
	o.signIn(w, r, func(user string, asked url.Values) {
		code := token(64)
		o.grants.newCode(code, begun{user: user, redirectURI: asked.Get("redirect_uri"), challenge: asked.Get("code_challenge")})
		o.sendBack(w, url.Values{"code": {code}, "state": {asked.Get("state")}})
	})
}

// token is the token endpoint.
func (o *OwnCloud) token(w http.ResponseWriter, r *http.Request) {
	kind, ok := o.tokenRequest(w, r)
	if !ok {
		return
	}
	issued, user, problem := o.exchange(r, kind)
	if problem != nil {
		writeJSON(w, http.StatusBadRequest, problem)
		return
	}
	writeJSON(w, http.StatusOK, map[string]any{
		"access_token": issued.access, "token_type": "Bearer", "expires_in": int(issued.life.Seconds()),
		"refresh_token": issued.refresh, "user_id": user, "message_url": o.Origin() + "/apps/oauth2/authorization-successful",
	})
}

// tokenProblem is an error of the token endpoint (RFC 6749 5.2).
type tokenProblem struct {
	Error       string `json:"error"`
	Description string `json:"error_description,omitempty"`
}

func invalidGrant(description string) *tokenProblem {
	return &tokenProblem{"invalid_grant", description}
}

// exchange gives tokens for a code or a refresh token. The secret comes by Basic only; a client
// without one proves itself by the verifier of its code.
func (o *OwnCloud) exchange(r *http.Request, kind string) (issued tokens, user string, problem *tokenProblem) {
	id, secret, basic := r.BasicAuth()
	switch {
	case basic && (id != o.config.ClientID || !sameSecret(secret, o.config.ClientSecret)):
		return tokens{}, "", &tokenProblem{Error: "invalid_client"}
	case !basic && (r.PostFormValue("client_id") != o.config.ClientID || r.PostFormValue("code_verifier") == ""):
		return tokens{}, "", &tokenProblem{Error: "invalid_request"}
	}
	fresh := tokens{access: token(64), refresh: token(64), life: hour}
	switch kind {
	case "authorization_code":
		code := r.PostFormValue("code")
		from, found := o.grants.code(code)
		switch {
		case !found:
			return tokens{}, "", invalidGrant("auth code does not exist")
		case r.PostFormValue("redirect_uri") != from.redirectURI:
			return tokens{}, "", invalidGrant("auth grant redirect uri invalid")
		case from.challenge != "" && s256(r.PostFormValue("code_verifier")) != from.challenge:
			return tokens{}, "", invalidGrant("code verifier invalid")
		case !o.grants.spend(code):
			return tokens{}, "", invalidGrant("auth code does not exist")
		}
		return o.grants.open(from.user, fresh), from.user, nil
	case "refresh_token":
		user, issued, found := o.grants.renew(r.PostFormValue("refresh_token"), fresh, true)
		if !found {
			return tokens{}, "", invalidGrant("refresh token does not exist")
		}
		return issued, user, nil
	default:
		o.surprise(r, "grant_type is "+kind)
		return tokens{}, "", invalidGrant("unhandled grant type")
	}
}
