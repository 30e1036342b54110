package tokens

import (
	"context"
	"crypto/rand"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// flowHost is a Nextcloud as far as login flows go: it gives an app password once, forgets a flow after 20 minutes, and
// names what it gives after the User-Agent of who began.
type flowHost struct {
	*httptest.Server

	mu        sync.Mutex
	clock     func() time.Time
	flows     map[string]*hostFlow         // by poll token
	passwords map[string]filehost.HostUser // app passwords that work
	logins    map[string]string            // their login names

	foreignPoll, foreignLogin, foreignServer string // an origin in place of the host's own
	fault                                    http.HandlerFunc
	hostUser                                 error  // what the user API fails with
	revoke                                   error  // what the end of an app password fails with
	onGrant                                  func() // runs after a flow is over here and before its answer is sent
	polls, granted                           int
	basic, bearer                            int // look-ups of the files by each scheme
	noBearer                                 bool
	closed                                   bool // to passwords: too many of Mattermost's address were wrong
	rejected                                 int  // by Basic, which are those that count
	ended                                    []string
	requests                                 []string
}

type hostFlow struct {
	login     string // token of the page
	begun     time.Time
	loginName string // "" until the user has allowed it
	password  string
}

const flowPath = "/cloud/index.php/login/v2"

func newFlowHost(t *testing.T, clock func() time.Time) *flowHost {
	t.Helper()
	host := &flowHost{clock: clock, flows: map[string]*hostFlow{}, passwords: map[string]filehost.HostUser{}, logins: map[string]string{}}
	host.Server = httptest.NewServer(http.HandlerFunc(host.serve))
	t.Cleanup(host.Close)
	return host
}

func (h *flowHost) serve(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.requests = append(h.requests, r.Method+" "+r.URL.Path)
	fault := h.fault
	h.mu.Unlock()
	if fault != nil {
		fault(w, r)
		return
	}
	switch {
	case r.Method != http.MethodPost:
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.URL.Path == flowPath:
		h.serveBegin(w)
	case r.URL.Path == flowPath+"/poll":
		h.servePoll(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (h *flowHost) origin(foreign string) string {
	if foreign != "" {
		return foreign
	}
	return h.URL
}

func (h *flowHost) serveBegin(w http.ResponseWriter) {
	h.mu.Lock()
	defer h.mu.Unlock()
	token, login := "canary-poll-"+rand.Text(), rand.Text()
	h.flows[token] = &hostFlow{login: login, begun: h.clock()}
	writeJSON(w, http.StatusOK, map[string]any{
		"poll":  map[string]any{"token": token, "endpoint": h.origin(h.foreignPoll) + flowPath + "/poll"},
		"login": h.origin(h.foreignLogin) + flowPath + "/flow/" + login,
	})
}

func (h *flowHost) servePoll(w http.ResponseWriter, r *http.Request) {
	h.mu.Lock()
	h.polls++
	token := r.PostFormValue("token")
	flow := h.flows[token]
	if flow == nil || flow.loginName == "" || h.clock().Sub(flow.begun) > flowTime {
		h.mu.Unlock()
		writeJSON(w, http.StatusNotFound, []string{})
		return
	}
	delete(h.flows, token)
	h.granted++
	after, server := h.onGrant, h.origin(h.foreignServer)+"/cloud"
	h.mu.Unlock()
	if after != nil {
		after()
	}
	writeJSON(w, http.StatusOK, map[string]any{"server": server, "loginName": flow.loginName, "appPassword": flow.password})
}

// allow is a user of the host who opens a sign-in link, signs in with a name and allows what is asked.
func (h *flowHost) allow(t *testing.T, loginURL, loginName string, user filehost.HostUser) (password string) {
	t.Helper()
	parsed, err := url.Parse(loginURL)
	require.NoError(t, err)
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, flow := range h.flows {
		if strings.HasSuffix(parsed.Path, "/"+flow.login) {
			flow.loginName, flow.password = loginName, "canary-app-password-"+rand.Text()
			h.passwords[flow.password], h.logins[flow.password] = user, loginName
			return flow.password
		}
	}
	t.Fatal("no such login page: " + parsed.Path)
	return ""
}

// check tells whose a credential is. As Nextcloud, it wants the login name beside the password, not the user's id, and
// lets only who comes by Basic wait for what others have got wrong.
func (h *flowHost) check(credential filehost.Credential) (filehost.HostUser, error) {
	user, ok := h.passwords[credential.Secret.Reveal()]
	no := filehost.E(filehost.CredentialRejected, "no", nil)
	switch {
	case credential.Scheme == filehost.Bearer:
		if !ok || h.noBearer {
			return filehost.HostUser{}, no
		}
	case h.closed:
		return filehost.HostUser{}, filehost.E(filehost.RateLimited, "later", nil)
	case !ok || credential.Username != h.logins[credential.Secret.Reveal()]:
		h.rejected++
		return filehost.HostUser{}, no
	}
	return user, nil
}

// lookUp is Config.HostUser.
func (h *flowHost) lookUp(_ context.Context, credential filehost.Credential) (filehost.HostUser, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.hostUser != nil {
		return filehost.HostUser{}, h.hostUser
	}
	return h.check(credential)
}

// probe is Config.Probe.
func (h *flowHost) probe(_ context.Context, credential filehost.Credential) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if credential.Scheme == filehost.Bearer {
		h.bearer++
	} else {
		h.basic++
	}
	user, err := h.check(credential)
	if err == nil && credential.Account != user.ID {
		return filehost.E(filehost.NotFound, "no such folder", nil)
	}
	return err
}

// end is Config.Revoke.
func (h *flowHost) end(_ context.Context, credential filehost.Credential) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.revoke != nil {
		return h.revoke
	}
	if _, err := h.check(credential); err != nil {
		return err
	}
	delete(h.passwords, credential.Secret.Reveal())
	h.ended = append(h.ended, credential.Secret.Reveal())
	return nil
}

// set changes how the host behaves.
func (h *flowHost) set(change func(*flowHost)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	change(h)
}

// working are the app passwords that the host still accepts.
func (h *flowHost) working() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.passwords))
}

func (h *flowHost) counts() (polls, granted int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.polls, h.granted
}

// The accounts of the tests at the host. Ann signs in there by her email address.
var (
	annThere = filehost.HostUser{ID: "ann.e", DisplayName: "Ann Example", Email: "Ann@Example.com"}
	bobThere = filehost.HostUser{ID: "bob", DisplayName: "Bob", Email: "bob@example.com"}
)

// flowWorld is a world whose host knows login flows.
type flowWorld struct {
	*world
	flow   *flowHost
	people map[string]filehost.Identity
	mu     sync.Mutex
	told   []string // users whose clients were told
}

func newFlowWorld(t *testing.T) *flowWorld {
	t.Helper()
	w := &flowWorld{world: newWorld(t)}
	w.flow = newFlowHost(t, w.clock.Now)
	base, err := url.Parse(w.flow.URL + "/cloud")
	require.NoError(t, err)
	w.host.BaseURL = base
	w.people = map[string]filehost.Identity{
		ann: {UserID: ann, Email: "ann@example.com", EmailVerified: true, Active: true},
		bob: {UserID: bob, Email: "bob@example.com", EmailVerified: true, AuthService: "saml", Active: true},
	}
	return w
}

// flowNode is a node on which people connect by login flow. Its watch is the test's to call.
func (w *flowWorld) flowNode(name string, edits ...func(*Config)) *Store {
	w.t.Helper()
	return w.node(append([]func(*Config){func(c *Config) {
		c.Node = name
		c.Methods, c.OAuth = []filehost.Method{filehost.MethodLoginFlow}, OAuth{}
		c.HostUser, c.Probe, c.Revoke = w.flow.lookUp, w.flow.probe, w.flow.end
		c.Identify = w.identify
		c.Notify = func(userID string) {
			w.mu.Lock()
			defer w.mu.Unlock()
			w.told = append(w.told, userID)
		}
	}}, edits...)...)
}

func (w *flowWorld) identify(_ context.Context, userID string) (filehost.Identity, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	who, ok := w.people[userID]
	if !ok {
		return who, filehost.E(filehost.NotFound, "no such user", nil)
	}
	return who, nil
}

func (w *flowWorld) setPerson(userID string, change func(*filehost.Identity)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	who := w.people[userID]
	change(&who)
	w.people[userID] = who
}

func (w *flowWorld) beginFlow(node *Store, userID string) (loginURL string) {
	w.t.Helper()
	begun, err := node.BeginLoginFlow(w.t.Context(), userID)
	require.NoError(w.t, err)
	require.Equal(w.t, w.clock.Now().Add(20*time.Minute).UTC(), begun.ExpiresAt)
	return begun.LoginURL
}

// tend lets nodes look after the flows once, in turn, after the time that the longest poll takes.
func (w *flowWorld) tend(nodes ...*Store) {
	w.t.Helper()
	w.clock.Advance(8 * time.Second)
	for _, node := range nodes {
		node.tendFlows(w.t.Context())
	}
}

// offer brings a user's flow as far as the account that waits for his word.
func (w *flowWorld) offer(node *Store, userID string, user filehost.HostUser) (password string) {
	w.t.Helper()
	password = w.flow.allow(w.t, w.beginFlow(node, userID), user.Email, user)
	w.tend(node)
	w.tend(node)
	pending := w.connection(node, userID).Pending
	require.NotNil(w.t, pending)
	require.Equal(w.t, user.ID, pending.Account)
	return password
}

func (w *flowWorld) connection(node *Store, userID string) filehost.Connection {
	w.t.Helper()
	connection, err := node.Connection(w.t.Context(), userID)
	require.NoError(w.t, err)
	return connection
}

// requireNothingLeft fails when the store holds anything of a flow.
func (w *flowWorld) requireNothingLeft() {
	w.t.Helper()
	for _, key := range w.kv.Keys() {
		require.False(w.t, strings.HasPrefix(key, "flow"), "%s is left", key)
	}
}

func (w *flowWorld) notified(userID string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Contains(w.told, userID)
}

var errDatabase = fmt.Errorf("database is down")
