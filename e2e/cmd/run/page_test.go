package main

import (
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestPage shows that only who has the key is signed in, and that what the address says is text in the page.
func TestPage(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "host.css"), []byte("/* style */"), 0o600); err != nil {
		t.Fatal(err)
	}
	page := newPage(dir)
	if early := get(t, page, "?key="+page.key); early.Code != http.StatusServiceUnavailable {
		t.Errorf("before the stack is up: %d", early.Code)
	}
	address, err := url.Parse(page.show(sampleStack(t)))
	if err != nil {
		t.Fatal(err)
	}
	if address.Path != stack.PagePath || address.Query().Get("key") != page.key {
		t.Errorf("it is shown at %s", address)
	}
	for query, want := range map[string]int{"": http.StatusForbidden, "?key=": http.StatusForbidden, "?key=other": http.StatusForbidden} {
		if answer := get(t, page, query); answer.Code != want || len(answer.Result().Cookies()) > 0 {
			t.Errorf("%q: %d with %v", query, answer.Code, answer.Result().Cookies())
		}
	}
	if style := get(t, page, "host.css"); style.Body.String() != "/* style */" || len(style.Result().Cookies()) > 0 {
		t.Errorf("host.css: %d %s", style.Code, style.Body)
	}

	shown := get(t, page, "?key="+page.key+"&theme=dark&locale="+url.QueryEscape(`"><script>`))
	cookies := map[string]*http.Cookie{}
	for _, cookie := range shown.Result().Cookies() {
		cookies[cookie.Name] = cookie
	}
	if len(cookies) != 3 || cookies["MMAUTHTOKEN"].Value != "token" || !cookies["MMAUTHTOKEN"].HttpOnly || cookies["MMCSRF"].Value != "csrf" {
		t.Errorf("cookies: %v", cookies)
	}
	body := shown.Body.String()
	for _, want := range []string{`data-site="https://chat.example.com"`, `data-channel="channel"`, `data-theme="dark"`, `data-toolbar="wide"`} {
		if !strings.Contains(body, want) {
			t.Errorf("no %s in %s", want, body)
		}
	}
	if strings.Contains(body, `"><script>`) || shown.Header().Get("Content-Security-Policy") == "" {
		t.Errorf("a script gets in: %s", body)
	}
}

func get(t *testing.T, page *page, path string) *httptest.ResponseRecorder {
	answer := httptest.NewRecorder()
	request := httptest.NewRequestWithContext(t.Context(), http.MethodGet, stack.PagePath+path, nil)
	http.StripPrefix(stack.PagePath, page).ServeHTTP(answer, request)
	return answer
}

// sampleStack is as much of a stack as the page needs.
func sampleStack(t *testing.T) *stack.Stack {
	const site = "https://chat.example.com"
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	at, err := url.Parse(site)
	if err != nil {
		t.Fatal(err)
	}
	jar.SetCookies(at, []*http.Cookie{{Name: "MMCSRF", Value: "csrf", HttpOnly: true, Secure: true, SameSite: http.SameSiteLaxMode}})
	return &stack.Stack{
		Mattermost: &stack.Mattermost{URL: site}, ChannelID: "channel",
		User: &stack.Account{Client: rest.New(site, "token"), ID: "ursula", Browser: &http.Client{Jar: jar}},
	}
}
