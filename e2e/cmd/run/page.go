package main

import (
	"cmp"
	"crypto/rand"
	"crypto/subtle"
	_ "embed"
	"html/template"
	"net/http"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

//go:embed page.html
var pageHTML string

var pageTemplate = template.Must(template.New("page").Parse(pageHTML))

// page is a page with a channel, its editor and the plugin in it, for who has no web client at hand. It signs in who has its
// key as the stack's user: others on this machine, and pages of theirs, have no part in what that user's host holds.
type page struct {
	key   string
	files http.Handler

	mu    sync.RWMutex
	stack *stack.Stack // nil until it is up
}

// newPage gives the page whose scripts are in the folder dir.
func newPage(dir string) *page {
	return &page{key: rand.Text(), files: http.FileServer(http.Dir(dir))}
}

// show lets people in to the stack and gives the address to open.
func (p *page) show(s *stack.Stack) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stack = s
	return s.Mattermost.URL + stack.PagePath + "?key=" + p.key
}

// ServeHTTP answers below stack.PagePath.
func (p *page) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.mu.RLock()
	s := p.stack
	p.mu.RUnlock()
	switch {
	case r.URL.Path != "":
		p.files.ServeHTTP(w, r)
	case s == nil:
		http.Error(w, "The server is not up yet.", http.StatusServiceUnavailable)
	case subtle.ConstantTimeCompare([]byte(r.URL.Query().Get("key")), []byte(p.key)) != 1:
		http.Error(w, "The address of this page ends with a key, which `make run` has printed.", http.StatusForbidden)
	default:
		p.signIn(w, s)
		p.write(w, r, s)
	}
}

// signIn gives the browser the session of the stack's user, as the server's own sign-in does.
func (p *page) signIn(w http.ResponseWriter, s *stack.Stack) {
	for name, value := range map[string]string{"MMAUTHTOKEN": s.User.Token, "MMUSERID": s.User.ID, "MMCSRF": s.User.CSRF()} {
		http.SetCookie(w, &http.Cookie{ //nolint:gosec // G124: the site is plain HTTP on loopback, and its scripts read MMCSRF
			Name: name, Value: value, Path: "/", HttpOnly: name == "MMAUTHTOKEN", SameSite: http.SameSiteLaxMode,
		})
	}
}

func (p *page) write(w http.ResponseWriter, r *http.Request, s *stack.Stack) {
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Cache-Control", "no-store")
	header.Set("Content-Security-Policy", "script-src 'self'")
	header.Set("Referrer-Policy", "no-referrer")
	query := r.URL.Query()
	_ = pageTemplate.Execute(w, map[string]string{
		"Site": s.Mattermost.URL, "Channel": s.ChannelID,
		"Theme": cmp.Or(query.Get("theme"), "light"), "Locale": cmp.Or(query.Get("locale"), "en"), "Toolbar": cmp.Or(query.Get("toolbar"), "wide"),
	})
}
