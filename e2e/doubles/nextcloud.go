package doubles

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
)

const nextcloudAllow = "OPTIONS, GET, HEAD, DELETE, PROPFIND, PUT, PROPPATCH, COPY, MOVE, REPORT"

// Nextcloud is Nextcloud 31.
type Nextcloud struct {
	sabre
	logins, exchanges *throttle // of app passwords, and at the token endpoint
	pages             *pages

	flows    *loginFlows
	sessions *sessions

	mu           sync.Mutex
	maintenance  bool
	appPasswords map[string]appPassword // by what they are
}

// appPassword is good for one user, and as Basic under the name only that he had signed in by.
type appPassword struct {
	user, loginName string
	name            string // the User-Agent of the client that it was made for
}

var _ hosts.Host = (*Nextcloud)(nil)

// nextcloudProperties are those that ownCloud doesn't have, or has in another way.
var nextcloudProperties = map[xml.Name]func(*sabre, node) value{
	davName("displayname"):           func(_ *sabre, n node) value { return text(displayName(n)) },
	davName("creationdate"):          always(text("1970-01-01T00:00:00+00:00")),
	ocName("permissions"):            letters("RGDNVCK", "RGDNVW"),
	ncName("has-preview"):            func(_ *sabre, n node) value { return text(strconv.FormatBool(hasPreview(n))) },
	ncName("mount-type"):             always(text("")),
	ncName("hidden"):                 always(text("false")),
	ncName("creation_time"):          always(text("0")),
	ncName("upload_time"):            ofFile(func(_ *sabre, n node) value { return text(strconv.FormatInt(n.info.ModTime().Unix(), 10)) }),
	ncName("share-attributes"):       always(text("[]")),
	ncName("contained-folder-count"): ofFolder(func(s *sabre, n node) value { return text(strconv.Itoa(s.contained(n, true))) }),
	ncName("contained-file-count"):   ofFolder(func(s *sabre, n node) value { return text(strconv.Itoa(s.contained(n, false))) }),
}

func displayName(n node) string {
	if n.path == "/" {
		return n.user
	}
	return n.name()
}

func (s *sabre) contained(n node, folders bool) int {
	children, err := s.disk.children(n)
	if err != nil {
		return 0 // gone meanwhile
	}
	return len(slices.DeleteFunc(children, func(child node) bool { return child.isDir() != folders }))
}

// StartNextcloud listens on a free loopback port and serves until Close; ctx is for the start alone.
func StartNextcloud(ctx context.Context, cfg hosts.Config) (*Nextcloud, error) {
	base, err := newServer(ctx, cfg, sabreTakes(250))
	if err != nil {
		return nil, err
	}
	base.traits = hosts.Traits{Kind: "nextcloud", Revokes: true, Pages: true}
	n := &Nextcloud{
		sabre: sabre{
			server: base, allow: nextcloudAllow,
			davHeader: "1, 3, extended-mkcol, access-control, calendarserver-principal-property-search, nc-paginate, " +
				"nextcloud-checksum-update, nc-calendar-search, nc-enable-birthday-calendar",
			challenges:    []string{`Basic realm="Nextcloud", charset="UTF-8"`},
			prefixes:      map[string]string{nsDAV: "d", nsOC: "oc", nsNC: "nc"},
			declared:      ` xmlns:oc="` + nsOC + `" xmlns:nc="` + nsNC + `"`,
			properties:    maps.Clone(sabreProperties),
			missingParent: http.StatusNotFound,
			infinity:      true,
			othersHome:    true,
		},
		logins:       &throttle{clock: base.clock},
		exchanges:    &throttle{clock: base.clock},
		pages:        &pages{clock: base.clock, kept: map[string]page{}},
		flows:        &loginFlows{clock: base.clock},
		sessions:     &sessions{all: map[string]session{}},
		appPasswords: map[string]appPassword{},
	}
	maps.Copy(n.properties, nextcloudProperties)
	n.reply = n.replyPage
	n.serve(n.routes())
	return n, nil
}

// SetMaintenance begins or ends the maintenance mode.
func (n *Nextcloud) SetMaintenance(on bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.maintenance = on
}

// DropMemoryCache takes the host's memory cache away, which small installations never have: it hands out
// tokens of pages then and keeps none.
func (n *Nextcloud) DropMemoryCache() { n.pages.forget() }

// Delay is how long the host would keep the next sign-in by password, and the next token request,
// waiting.
func (n *Nextcloud) Delay() (login, exchange time.Duration) {
	return n.logins.delay(), n.exchanges.delay()
}

// FailedLogins is how many sign-ins by password have failed in the last half an hour.
func (n *Nextcloud) FailedLogins() int { return n.logins.since(throttleWindow) }

// AppPasswords is how many app passwords a user has.
func (n *Nextcloud) AppPasswords(user string) int { return len(n.AppPasswordNames(user)) }

// RevokeGrants implements hosts.Host: app passwords end with what OAuth clients have.
func (n *Nextcloud) RevokeGrants(user string) {
	n.server.RevokeGrants(user)
	n.mu.Lock()
	defer n.mu.Unlock()
	maps.DeleteFunc(n.appPasswords, func(_ string, each appPassword) bool { return each.user == user })
}

// AppPasswordNames are what a user sees of his app passwords: the clients that they were made for.
func (n *Nextcloud) AppPasswordNames(user string) []string {
	n.mu.Lock()
	defer n.mu.Unlock()
	var names []string
	for _, each := range n.appPasswords {
		if each.user == user {
			names = append(names, each.name)
		}
	}
	slices.Sort(names)
	return names
}

func (n *Nextcloud) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/", n.unknown)
	mux.HandleFunc("/status.php", n.status)
	mux.HandleFunc("/remote.php/dav/files/", n.whenOpen(n.dav))
	mux.HandleFunc("/remote.php/dav/uploads/", n.whenOpen(n.dav))
	mux.HandleFunc("/remote.php/dav/{$}", n.whenOpen(n.dav))
	for path, serve := range map[string]http.HandlerFunc{
		"/ocs/v2.php/cloud/user":          n.breakable(n.ocsUser),
		"/ocs/v2.php/cloud/capabilities":  n.ocsCapabilities,
		"/ocs/v2.php/core/apppassword":    n.breakable(n.endAppPassword),
		"/ocs/v2.php/core/getapppassword": n.newAppPassword,
	} {
		mux.HandleFunc(path, n.whenOpen(serve))
	}
	for _, path := range []string{ocsSharesPath, ocsSharesPath + "/"} {
		mux.HandleFunc(path, n.whenOpen(n.ocsShares))
	}
	for _, front := range []string{"", "/index.php"} {
		mux.HandleFunc(front+"/apps/oauth2/authorize", n.whenOpen(n.authorize))
		mux.HandleFunc(front+"/core/preview", n.whenOpen(n.corePreview))
		mux.HandleFunc(front+"/core/preview.png", n.whenOpen(n.corePreview))
		mux.HandleFunc(front+"/login/flow", n.whenOpen(n.loginFlow))
		mux.HandleFunc(front+"/apps/oauth2/api/v1/token", n.whenOpen(n.token))
		for route, serve := range n.loginFlowRoutes() {
			method, path, _ := strings.Cut(route, " ")
			mux.HandleFunc(method+" "+front+path, n.whenOpen(serve))
		}
	}
	return literal(mux)
}

// literal serves paths as they are. A ServeMux would redirect those that hold // or a dot segment,
// which the real hosts do not.
func literal(mux *http.ServeMux) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "//") {
			collapsed := new(http.Request)
			*collapsed = *r
			collapsed.URL = &url.URL{Path: strings.ReplaceAll(r.URL.Path, "//", "/")}
			handler, _ := mux.Handler(collapsed)
			handler.ServeHTTP(w, r)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// whenOpen serves unless the host is in maintenance.
func (n *Nextcloud) whenOpen(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if !n.inMaintenance() {
			serve(w, r)
			return
		}
		n.refuseAll(w, r)
	}
}

// refuseAll answers as each part of Nextcloud does in maintenance: its WebDAV has no header for it.
func (n *Nextcloud) refuseAll(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/remote.php/") {
		n.fail(w, http.StatusServiceUnavailable, `OCA\DAV\Exception\ServerMaintenanceMode`, "System is in maintenance mode.")
		return
	}
	w.Header().Set("X-Nextcloud-Maintenance-Mode", "1")
	if strings.HasPrefix(r.URL.Path, "/ocs/") {
		writeOCS(w, http.StatusServiceUnavailable, http.StatusServiceUnavailable, "Service unavailable", []any{})
		return
	}
	w.Header().Set("Retry-After", "120")
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(http.StatusServiceUnavailable)
	_, _ = io.WriteString(w, "<!DOCTYPE html>\n<html><body><h2>Maintenance mode</h2></body></html>\n")
}

// breakable serves what a fault can break by its path.
func (n *Nextcloud) breakable(serve http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		n.faults.Serve(w, r, "", strings.TrimPrefix(r.URL.Path, "/index.php"), serve)
	}
}

func (n *Nextcloud) inMaintenance() bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.maintenance
}

func (n *Nextcloud) status(w http.ResponseWriter, _ *http.Request) {
	writeJSON(w, http.StatusOK, map[string]any{
		"installed": true, "maintenance": n.inMaintenance(), "needsDbUpgrade": false, "version": "31.0.2.1",
		"versionstring": "31.0.2", "edition": "", "productname": "Nextcloud", "extendedSupport": false,
	})
}

// writeJSON writes as PHP does, slashes escaped.
func writeJSON(w http.ResponseWriter, status int, body any) {
	encoded, err := json.Marshal(body)
	if err != nil {
		panic(err) // nothing but maps and texts is written
	}
	encoded = []byte(strings.ReplaceAll(string(encoded), "/", `\/`))
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.Header().Set("Content-Length", strconv.Itoa(len(encoded)))
	w.WriteHeader(status)
	_, _ = w.Write(encoded)
}

// dav serves WebDAV to who signs in by app password or token, as Basic or as Bearer.
func (n *Nextcloud) dav(w http.ResponseWriter, r *http.Request) {
	n.count(r)
	user, outcome := n.caller(r)
	_, byToken := bearer(r)
	switch {
	case outcome == welcome && r.URL.Path == davPrefix+"/":
		n.arbiter(w, r, user)
	case outcome == welcome && strings.HasPrefix(r.URL.Path, davPrefix+"/uploads/"):
		n.uploads(w, r, user)
	case outcome == welcome:
		n.files(w, r, user)
	case outcome == accountDisabled && byToken:
		// Nothing catches the exception there, unlike with a password.
		n.fail(w, http.StatusInternalServerError, `OC\User\DisabledUserException`, "Account disabled")
	default:
		n.refuse(w, outcome)
	}
}

// refuse answers who may not come in.
func (n *Nextcloud) refuse(w http.ResponseWriter, why outcome) {
	switch why {
	case accountDisabled:
		n.fail(w, http.StatusServiceUnavailable, "ServiceUnavailable", `OC\User\DisabledUserException: Account disabled`)
		return
	case throttled:
		n.fail(w, http.StatusTooManyRequests, `OCA\DAV\Connector\Sabre\Exception\TooManyRequests`, "")
		return
	}
	const (
		noBasic  = "No 'Authorization: Basic' header found. Either the client didn't send one, or the server is misconfigured"
		noBearer = "No 'Authorization: Bearer' header found. Either the client didn't send one, or the server is mis-configured" //nolint:gosec // words
	)
	message := map[outcome][2]string{
		nobody:        {noBasic, noBearer},
		wrongPassword: {"Username or password was incorrect", noBearer},
		wrongToken:    {noBasic, "Bearer token was incorrect"},
	}[why]
	if why != nobody {
		n.counters.Unauthorized.Add(1)
	}
	for _, challenge := range n.challenges {
		w.Header().Add("WWW-Authenticate", challenge)
	}
	n.fail(w, http.StatusUnauthorized, "NotAuthenticated",
		"No public access to this resource., "+message[0]+", "+message[1]+", "+message[0])
}

// outcome is what becomes of a try to sign in.
type outcome int

const (
	welcome outcome = iota
	nobody
	wrongPassword
	wrongToken
	accountDisabled
	throttled
)

func (n *Nextcloud) caller(r *http.Request) (string, outcome) {
	if token, ok := bearer(r); ok {
		user, ok := n.grants.user(token)
		if !ok {
			user, ok = n.appPasswordOf(token)
		}
		return n.admit(user, ok, wrongToken)
	}
	name, password, ok := r.BasicAuth()
	if !ok {
		return "", nobody
	}
	if n.logins.closed() {
		return "", throttled
	}
	user, known := n.signsIn(name, password)
	if !known {
		n.logins.fail()
		return "", wrongPassword
	}
	return n.admit(user, true, wrongPassword)
}

// signsIn finds who signs in as Basic. An app password is good under its own name alone
// (validateTokenLoginName in lib/private/User/Session.php).
func (n *Nextcloud) signsIn(name, password string) (user string, ok bool) {
	n.mu.Lock()
	found, ok := n.appPasswords[password]
	n.mu.Unlock()
	if ok {
		return found.user, strings.EqualFold(found.loginName, name)
	}
	user, _, ok = n.account(name)
	return user, ok && n.passwordMatches(user, password)
}

// account finds the account that a name to sign in by means, and the name that the session has then. Who gives his
// address keeps it as that name, as in Nextcloud 32 (earlier ones had an EmailLoginCommand, which took the id in its
// place), and can't sign in where two have it.
func (n *Nextcloud) account(name string) (user, loginName string, ok bool) {
	var addressed []string
	for _, each := range n.users {
		switch {
		case name == each.Name, each.LoginName != "" && name == each.LoginName:
			return each.Name, name, true
		case strings.Contains(name, "@") && name == n.email(each.Name):
			addressed = append(addressed, each.Name)
		}
	}
	if len(addressed) != 1 {
		return "", "", false
	}
	return addressed[0], name, true
}

func (n *Nextcloud) admit(user string, known bool, otherwise outcome) (string, outcome) {
	switch {
	case !known:
		return "", otherwise
	case n.isDisabled(user):
		return "", accountDisabled
	}
	return user, welcome
}

func (n *Nextcloud) appPasswordOf(password string) (user string, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	found, ok := n.appPasswords[password]
	return found.user, ok
}
