package doubles

import (
	"html/template"
	"net/http"
	"net/url"
	"strings"
	"sync"
)

// session is what a browser's cookie stands for.
type session struct {
	user, loginName string // empty = nobody is logged in
	request         string // the token that each form must carry
	problem         string // what the login page says next
	flow, state     string // of a sign-in by Login Flow v2
}

// holds tells whether a form comes from a page of the session.
func (s session) holds(requestToken string) bool {
	return s.request != "" && sameSecret(requestToken, s.request)
}

// sessions are those of a host, by cookie.
type sessions struct {
	mu  sync.Mutex
	all map[string]session
}

// of gives the session of a request; who has none gets an empty one.
func (s *sessions) of(r *http.Request) session {
	cookie, err := r.Cookie(instance)
	if err != nil {
		return session{}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all[cookie.Value]
}

// change changes the session of a request, and begins one where there is none. It wants nothing written to w before.
func (s *sessions) change(w http.ResponseWriter, r *http.Request, to func(*session)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := ""
	if cookie, err := r.Cookie(instance); err == nil {
		id = cookie.Value
	}
	own, known := s.all[id]
	if !known {
		id = token(32)
		own.request = token(44)
		//nolint:gosec // over plain HTTP there can be no Secure
		http.SetCookie(w, &http.Cookie{Name: instance, Value: id, Path: "/", HttpOnly: true, SameSite: http.SameSiteLaxMode})
	}
	to(&own)
	s.all[id] = own
}

func newPage(title, body string) *template.Template {
	return template.Must(template.New(title).Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>` + title + ` - Nextcloud</title></head><body>
<h2>` + title + `</h2>
` + body + `
</body></html>
`))
}

var (
	pickPage = newPage("Connect to your account",
		`<p>Please log in before granting <strong>{{.Client}}</strong> access to your Nextcloud account.</p>
<p id="redirect-link"><a href="{{.Next}}">Log in</a></p>`)
	grantPage = newPage("Account access",
		`<p>Currently logged in as {{.Name}} ({{.User}}).</p>
<p>You are about to grant <strong>{{.Client}}</strong> access to your Nextcloud account.</p>
<form method="post" action="{{.Action}}">
<input type="hidden" name="requesttoken" value="{{.Request}}">
<input type="hidden" name="stateToken" value="{{.State}}">
<button>Grant access</button>
</form>`)
	donePage      = newPage("Account connected", `<p>Your client should now be connected! You can close this window.</p>`)
	refusedPage   = newPage("Access forbidden", `<p role="alert">{{.}}</p>`)
	dashboardPage = newPage("Dashboard", `<p>Logged in as {{.}}.</p>`)
	loginPage     = newPage("Log in to Nextcloud", `{{with .Problem}}<p role="alert">{{.}}</p>{{end}}
<form method="post" action="{{.Action}}">
<p><label>Account name or email <input name="user" autocomplete="username"></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<input type="hidden" name="redirect_url" value="{{.Next}}">
<input type="hidden" name="requesttoken" value="{{.Request}}">
<p><button>Log in</button></p>
</form>`)
)

func writePage(w http.ResponseWriter, page *template.Template, data any) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.Header().Set("Cache-Control", "no-cache, no-store, must-revalidate")
	_ = page.Execute(w, data)
}

func refusePage(w http.ResponseWriter, why string) {
	w.Header().Set("Content-Type", "text/html; charset=UTF-8")
	w.WriteHeader(http.StatusForbidden)
	_ = refusedPage.Execute(w, why)
}

func redirectTo(next string) string { return url.Values{"redirect_url": {next}}.Encode() }

func (n *Nextcloud) loginPage(w http.ResponseWriter, r *http.Request) {
	if n.sessions.of(r).user != "" {
		redirect(w, http.StatusSeeOther, n.Origin()+"/apps/dashboard/")
		return
	}
	var own session
	n.sessions.change(w, r, func(s *session) {
		own = *s
		s.problem = ""
	})
	writePage(w, loginPage, map[string]string{
		"Problem": own.problem, "Action": n.Origin() + "/login", "Next": r.URL.Query().Get("redirect_url"), "Request": own.request,
	})
}

// login logs in who fills the page (core/Controller/LoginController.php). What fails counts as a try to guess.
func (n *Nextcloud) login(w http.ResponseWriter, r *http.Request) {
	if n.logins.closed() {
		http.Error(w, "Too many requests", http.StatusTooManyRequests)
		return
	}
	next := r.PostFormValue("redirect_url")
	user, loginName, known := n.account(strings.TrimSpace(r.PostFormValue("user")))
	problem := ""
	switch {
	case !n.sessions.of(r).holds(r.PostFormValue("requesttoken")):
		problem = "Please try again"
	case !known, !n.passwordMatches(user, r.PostFormValue("password")):
		problem = "Wrong login or password."
	case n.isDisabled(user):
		problem = "This account is disabled"
	}
	if problem != "" {
		n.logins.fail()
		n.sessions.change(w, r, func(s *session) { s.problem = problem })
		redirect(w, http.StatusSeeOther, n.Origin()+"/login?"+redirectTo(next))
		return
	}
	n.sessions.change(w, r, func(s *session) { s.user, s.loginName, s.request = user, loginName, token(44) })
	if next == "" || strings.Contains(next, "@") {
		next = "/apps/dashboard/"
	}
	redirect(w, http.StatusSeeOther, n.Origin()+"/"+strings.TrimPrefix(next, "/"))
}

func (n *Nextcloud) dashboard(w http.ResponseWriter, r *http.Request) {
	s := n.sessions.of(r)
	if s.user == "" {
		n.toLogin(w, r)
		return
	}
	writePage(w, dashboardPage, n.users[s.user].DisplayName)
}
