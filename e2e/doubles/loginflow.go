package doubles

import (
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	// loginFlowLife is how long a sign-in by Login Flow v2 can go on (core/Db/LoginFlowV2Mapper.php).
	loginFlowLife = 20 * time.Minute
	// loginFlowToken is the length of its tokens.
	loginFlowToken = 128
)

// flowCredentials are what a client gets at the end, once.
type flowCredentials struct {
	Server      string `json:"server"`
	LoginName   string `json:"loginName"`
	AppPassword string `json:"appPassword"`
}

// loginFlow is a sign-in by Login Flow v2 that a client has begun.
type loginFlow struct {
	client      string // its User-Agent
	poll, login string // tokens: who has the one gets the credentials, who opens the other may give them
	begun       time.Time
	granted     *flowCredentials
}

// loginFlows are those of a host.
type loginFlows struct {
	clock clockwork.Clock

	mu                       sync.Mutex
	all                      []*loginFlow
	pollOrigin, serverOrigin string // empty = the host's own
}

func (l *loginFlows) begin(client string) *loginFlow {
	l.mu.Lock()
	defer l.mu.Unlock()
	begun := &loginFlow{client: client, poll: token(loginFlowToken), login: token(loginFlowToken), begun: l.clock.Now()}
	l.all = append(l.all, begun)
	return begun
}

// client tells on whose behalf the sign-in is that a login token belongs to.
func (l *loginFlows) client(login string) (string, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	flow, ok := l.find(func(each *loginFlow) bool { return each.login == login })
	if !ok {
		return "", false
	}
	return flow.client, true
}

// grant keeps the credentials for the client.
func (l *loginFlows) grant(login string, credentials flowCredentials) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	flow, ok := l.find(func(each *loginFlow) bool { return each.login == login })
	if ok {
		flow.granted = &credentials
	}
	return ok
}

// collect gives the credentials away and forgets the sign-in.
func (l *loginFlows) collect(poll string) (flowCredentials, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	flow, ok := l.find(func(each *loginFlow) bool { return each.poll == poll })
	if !ok || flow.granted == nil {
		return flowCredentials{}, false
	}
	flow.begun = time.Time{}
	return *flow.granted, true
}

// find wants the lock held.
func (l *loginFlows) find(is func(*loginFlow) bool) (*loginFlow, bool) {
	for _, each := range l.all {
		if is(each) && l.clock.Since(each.begun) <= loginFlowLife {
			return each, true
		}
	}
	return nil, false
}

// SetLoginFlowOrigins has the host send clients that sign in by Login Flow v2 elsewhere, as a wrong overwritehost or
// somebody in between does: to poll at another origin, and to find the files at another. Empty means the host's own.
func (n *Nextcloud) SetLoginFlowOrigins(poll, server string) {
	n.flows.mu.Lock()
	defer n.flows.mu.Unlock()
	n.flows.pollOrigin, n.flows.serverOrigin = poll, server
}

func (n *Nextcloud) loginFlowOrigins() (poll, server string) {
	n.flows.mu.Lock()
	defer n.flows.mu.Unlock()
	poll, server = n.Origin(), n.Origin()
	if n.flows.pollOrigin != "" {
		poll = n.flows.pollOrigin
	}
	if n.flows.serverOrigin != "" {
		server = n.flows.serverOrigin
	}
	return poll, server
}

// loginFlowRoutes are those of core/Controller/ClientFlowLoginV2Controller.php, and of the login page.
func (n *Nextcloud) loginFlowRoutes() map[string]http.HandlerFunc {
	return map[string]http.HandlerFunc{
		"POST /login/v2":             n.breakable(n.beginLoginFlow),
		"POST /login/v2/poll":        n.breakable(n.pollLoginFlow),
		"GET /login/v2/flow/{token}": n.openLoginFlow,
		"GET /login/v2/flow":         n.pickAccount,
		"GET /login/v2/grant":        n.askGrant,
		"POST /login/v2/grant":       n.grantLoginFlow,
		"GET /login":                 n.loginPage,
		"POST /login":                n.login,
		"GET /apps/dashboard/":       n.dashboard,
	}
}

func (n *Nextcloud) beginLoginFlow(w http.ResponseWriter, r *http.Request) {
	type poll struct {
		Token    string `json:"token"`
		Endpoint string `json:"endpoint"`
	}
	flow := n.flows.begin(r.UserAgent())
	n.grants.keep(flow.poll, flow.login)
	origin, _ := n.loginFlowOrigins()
	writeJSON(w, http.StatusOK, struct {
		Poll  poll   `json:"poll"`
		Login string `json:"login"`
	}{poll{flow.poll, origin + "/login/v2/poll"}, n.Origin() + "/login/v2/flow/" + flow.login})
}

func (n *Nextcloud) pollLoginFlow(w http.ResponseWriter, r *http.Request) {
	n.counters.Polls.Add(1)
	if r.PostFormValue("token") == "" {
		n.unknown(w, r)
		return
	}
	credentials, ok := n.flows.collect(r.PostFormValue("token"))
	if !ok {
		writeJSON(w, http.StatusNotFound, []any{})
		return
	}
	writeJSON(w, http.StatusOK, credentials)
}

// openLoginFlow is what the person's browser opens first. The session remembers what for.
func (n *Nextcloud) openLoginFlow(w http.ResponseWriter, r *http.Request) {
	login := r.PathValue("token")
	if _, ok := n.flows.client(login); !ok {
		refusePage(w, "Your login token is invalid or has expired")
		return
	}
	n.sessions.change(w, r, func(s *session) { s.flow = login })
	redirect(w, http.StatusSeeOther, n.Origin()+"/login/v2/flow?user=&direct=0")
}

func (n *Nextcloud) pickAccount(w http.ResponseWriter, r *http.Request) {
	s := n.sessions.of(r)
	client, ok := n.flows.client(s.flow)
	if !ok {
		refusePage(w, "Your login token is invalid or has expired")
		return
	}
	state := token(64)
	n.sessions.change(w, r, func(s *session) { s.state = state })
	writePage(w, pickPage, map[string]string{"Client": client, "Next": n.Origin() + "/login/v2/grant?stateToken=" + state})
}

// askGrant asks who is logged in whether the client may come in.
func (n *Nextcloud) askGrant(w http.ResponseWriter, r *http.Request) {
	s := n.sessions.of(r)
	if s.user == "" {
		n.toLogin(w, r)
		return
	}
	client, ok := n.flowInState(w, s, r.URL.Query().Get("stateToken"))
	if !ok {
		return
	}
	writePage(w, grantPage, map[string]string{
		"Name": n.users[s.user].DisplayName, "User": s.user, "Client": client,
		"Action": n.Origin() + "/login/v2/grant", "Request": s.request, "State": s.state,
	})
}

// flowInState finds the client that the session's sign-in is for, or answers why there is none.
func (n *Nextcloud) flowInState(w http.ResponseWriter, s session, state string) (client string, ok bool) {
	if state == "" {
		refusePage(w, "State token missing")
		return "", false
	}
	if s.state == "" || !sameSecret(state, s.state) {
		refusePage(w, "State token does not match")
		return "", false
	}
	if client, ok = n.flows.client(s.flow); !ok {
		refusePage(w, "Your login token is invalid or has expired")
	}
	return client, ok
}

// grantLoginFlow makes the app password.
func (n *Nextcloud) grantLoginFlow(w http.ResponseWriter, r *http.Request) {
	s := n.sessions.of(r)
	if s.user == "" {
		n.toLogin(w, r)
		return
	}
	if !s.holds(r.PostFormValue("requesttoken")) {
		writeJSON(w, http.StatusPreconditionFailed, map[string]string{"message": "CSRF check failed"})
		return
	}
	client, ok := n.flowInState(w, s, r.PostFormValue("stateToken"))
	if !ok {
		return
	}
	flow := s.flow
	n.sessions.change(w, r, func(s *session) { s.flow, s.state = "", "" })
	_, server := n.loginFlowOrigins()
	password := n.makeAppPassword(appPassword{user: s.user, loginName: s.loginName, name: client})
	if !n.flows.grant(flow, flowCredentials{Server: server, LoginName: s.loginName, AppPassword: password}) {
		refusePage(w, "Could not complete login")
		return
	}
	writePage(w, donePage, nil)
}

// toLogin has who isn't logged in log in first.
func (n *Nextcloud) toLogin(w http.ResponseWriter, r *http.Request) {
	redirect(w, http.StatusSeeOther, n.Origin()+"/login?"+redirectTo(strings.TrimPrefix(r.URL.RequestURI(), "/index.php")))
}
