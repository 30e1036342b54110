package doubles

import (
	"cmp"
	"context"
	"crypto/md5" //nolint:gosec // ids that look like the real ones
	"crypto/rand"
	"crypto/rsa"
	"fmt"
	"net/http"
	"strings"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

// OpenCloud is OpenCloud of February 2025, with the sign-in server that it brings along.
type OpenCloud struct {
	*server
	key       *rsa.PrivateKey
	appTokens *appTokens
	resumable resumable

	projects []*project // guarded by the server's mu
}

var _ hosts.Host = (*OpenCloud)(nil)

// openCloudStorage is the id of the storage that holds all spaces.
const openCloudStorage = "07302767-15ee-4f0c-9237-19615a2d2d30"

// StartOpenCloud listens on a free loopback port and serves until Close; ctx is for the start alone.
func StartOpenCloud(ctx context.Context, cfg hosts.Config) (*OpenCloud, error) {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return nil, err
	}
	base, err := newServer(ctx, cfg, openCloudTakes)
	if err != nil {
		return nil, err
	}
	base.traits = hosts.Traits{Kind: "opencloud", Home: cfg.PersonalSpace}
	o := &OpenCloud{server: base, key: key, appTokens: &appTokens{clock: base.clock}}
	mux := http.NewServeMux()
	mux.HandleFunc("/", o.unknown)
	for path, serve := range map[string]http.HandlerFunc{
		"/status.php":                       o.status,
		"/remote.php/dav/files/":            o.dav,
		"/remote.php/dav/spaces/":           o.dav,
		"/remote.php/dav/spaces":            o.dav,
		"/remote.php/dav/meta/":             o.dav,
		"/dav/spaces/":                      o.dav,
		"/ocs/v2.php/cloud/user":            o.ocsUser,
		"/ocs/v2.php/cloud/capabilities":    o.ocsCapabilities,
		"/data/{token}":                     o.data,
		"/auth-app/tokens":                  o.authApp,
		"/graph/v1.0/me/drives":             o.drives,
		"/graph/v1.0/users/{user}":          o.graphUser,
		"/.well-known/openid-configuration": o.discovery,
		"/konnect/v1/jwks.json":             o.keys,
		"/konnect/v1/userinfo":              o.userInfo,
		"/konnect/v1/token":                 o.token,
		"/signin/v1/identifier/_/authorize": o.authorize,
		"/signin/v1/identifier":             o.identifier,
	} {
		mux.HandleFunc(path, serve)
	}
	o.graphShareRoutes(mux)
	base.SetLinkRules(LinkRules{Password: true})
	o.serve(hardened(literal(mux)))
	return o, nil
}

// Issuer implements hosts.Host.
func (o *OpenCloud) Issuer() string { return o.Origin() }

// Settings implements hosts.Host.
func (o *OpenCloud) Settings() map[string]any {
	settings := o.server.Settings()
	settings["oauthissuer"], settings["oauthscopes"] = o.Issuer(), "openid profile email offline_access"
	return settings
}

// openCloudTakes tells which names the host has (reva's ocdav, validation.go, with the defaults).
func openCloudTakes(name string) bool {
	return strings.TrimSpace(name) != "" && name != "." && name != ".." && len(name) <= 255 &&
		utf8.ValidString(name) && !strings.ContainsAny(name, "\f\r\n\\/\x00")
}

// hardened sets the headers that the host's proxy adds to every answer.
func hardened(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for name, value := range map[string]string{
			"Strict-Transport-Security": "max-age=315360000; preload", "X-Content-Type-Options": "nosniff",
			"X-Frame-Options": "SAMEORIGIN", "X-Permitted-Cross-Domain-Policies": "none", "X-Robots-Tag": "none",
			"X-Xss-Protection": "1; mode=block",
		} {
			w.Header().Set(name, value)
		}
		next.ServeHTTP(w, r)
	})
}

func (o *OpenCloud) status(w http.ResponseWriter, _ *http.Request) {
	writePlainJSON(w, http.StatusOK, map[string]any{
		"installed": true, "maintenance": false, "needsDbUpgrade": false, "version": "0.1.0.0", "versionstring": "0.1.0",
		"edition": "Community", "productname": "OpenCloud", "product": "OpenCloud", "productversion": "0.1.0+ebba86148",
	})
}

// uuid is an id that is always the same for the same seed.
func uuid(seed string) string {
	sum := md5.Sum([]byte(seed)) //nolint:gosec // see above
	return fmt.Sprintf("%x-%x-%x-%x-%x", sum[:4], sum[4:6], sum[6:8], sum[8:10], sum[10:])
}

// userID is what the host calls a user; his own space has the same id.
func userID(user string) string { return uuid("user " + user) }

func spaceID(user string) string { return openCloudStorage + "$" + userID(user) }

func resourceID(n node) string {
	if n.path == "/" {
		return spaceID(n.user) + "!" + userID(n.user)
	}
	return spaceID(n.user) + "!" + uuid(fmt.Sprintf("node %d", n.id()))
}

// caller signs in by token as Bearer, or by password or app token as Basic.
func (o *OpenCloud) caller(r *http.Request) (string, bool) {
	if token, ok := bearer(r); ok {
		return o.grants.user(token)
	}
	name, password, ok := r.BasicAuth()
	return name, ok && (o.passwordMatches(name, password) || o.appTokens.good(name, password))
}

// come lets in who signs in.
func (o *OpenCloud) come(w http.ResponseWriter, r *http.Request) (user string, ok bool) {
	if user, ok = o.caller(r); ok {
		return user, true
	}
	w.Header().Add("WWW-Authenticate", `Bearer realm="`+o.listener.Addr().String()+`", charset="UTF-8"`)
	w.WriteHeader(http.StatusUnauthorized)
	return "", false
}

func (o *OpenCloud) ocsUser(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !asksJSON(r) {
		o.unknown(w, r)
		return
	}
	user, ok := o.come(w, r)
	if !ok {
		return
	}
	w.Header().Set("Ocs-Api-Version", "2")
	writePlainJSON(w, http.StatusOK, map[string]any{"ocs": map[string]any{
		"meta": map[string]any{"status": "ok", "statuscode": 200, "message": "OK"},
		"data": map[string]any{"id": user, "display-name": o.users[user].DisplayName, "email": o.mail(user), "user-type": "primary"},
	}})
}

// mail is the address of an account, which each has.
func (o *OpenCloud) mail(user string) string { return cmp.Or(o.email(user), user+"@example.org") }
