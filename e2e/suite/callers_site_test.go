package suite

import (
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// newSite brings up a site of the test's own.
func newSite(t *testing.T, cfg stack.Config) *stack.Stack {
	t.Helper()
	cfg.Dir, cfg.Bundle, cfg.Tree = t.TempDir(), os.Getenv("FILEHOST_ATTACH_BUNDLE"), sample.Write
	s, err := stack.Up(t.Context(), cfg)
	must(t, err)
	t.Cleanup(func() {
		if err := s.Down(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestASiteBelowASubpath signs in, lists, attaches and disconnects where Mattermost is not at the root of its host.
func TestASiteBelowASubpath(t *testing.T) {
	s := newSite(t, stack.Config{Subpath: "/team/chat"})
	client, base := s.Plugin(s.User), s.Mattermost.URL+"/plugins/filehost-attach/api"
	if !strings.HasSuffix(s.Mattermost.URL, "/team/chat") || s.BaseURL() != base {
		t.Fatalf("the site is %s, its API %s", s.Mattermost.URL, s.BaseURL())
	}
	_, err := client.List(t.Context(), in("/"))
	if problem := wantProblem(t, err, "not_connected", 424); problem.Details["connect_url"] != base+"/connection" {
		t.Errorf("details are %v", problem.Details)
	}
	authorizeURL, err := client.Authorize(t.Context())
	must(t, err)
	authorize, err := url.Parse(authorizeURL)
	must(t, err)
	if got := authorize.Query().Get("redirect_uri"); got != base+"/connection/callback/default" {
		t.Errorf("the sign-in comes back to %s", got)
	}
	must(t, s.Connect(t.Context(), s.User, "alice")) // follows each Location
	page, err := client.List(t.Context(), in("/"))
	must(t, err)
	if len(page.Entries) == 0 {
		t.Error("nothing is listed")
	}
	attached, err := client.Attach(t.Context(), api.Attachment{ChannelID: s.ChannelID, Items: []api.Item{{Path: "/Welcome.txt"}}})
	must(t, err)
	if attached.PostID == "" {
		t.Errorf("attached %+v", attached)
	}
	health, err := s.Plugin(s.Admin).Health(t.Context())
	must(t, err)
	if health.Status != "pass" {
		t.Errorf("health is %+v", health)
	}
	wantProblem(t, api.AsProblem(client.Get(t.Context(), "/nothing", nil)), "not_found", 404)
	location := failedCallback(t, s)
	if !strings.HasPrefix(location, base+"/connection/failed?") {
		t.Errorf("a failed sign-in ends at %s", location)
	}
	servesWebapp(t, s)
	must(t, client.Disconnect(t.Context()))
}

// failedCallback comes back from a sign-in that never was, as a browser does, and gives where it is sent on to.
func failedCallback(t *testing.T, s *stack.Stack) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.BaseURL()+"/connection/callback/default?code=c&state=s", nil)
	must(t, err)
	request.Header.Set("Accept", "text/html")
	browser := &http.Client{Transport: s.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	response, err := browser.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	if response.StatusCode != http.StatusSeeOther {
		t.Errorf("it answers %s", response.Status)
	}
	return response.Header.Get("Location")
}

// servesWebapp loads the plugin's webapp bundle from where web clients do.
func servesWebapp(t *testing.T, s *stack.Stack) {
	t.Helper()
	var plugins []struct {
		ID     string
		Webapp struct {
			Path string `json:"bundle_path"`
		}
	}
	must(t, s.User.Get(t.Context(), "/api/v4/plugins/webapp", &plugins))
	for _, plugin := range plugins {
		if plugin.ID != stack.PluginID {
			continue
		}
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, s.Mattermost.URL+strings.Replace(plugin.Webapp.Path, "/static/", "/static/plugins/", 1), nil)
		must(t, err)
		response, err := s.User.Send(request)
		must(t, err)
		defer func() { _ = response.Body.Close() }()
		if bundle, err := io.ReadAll(response.Body); err != nil || len(bundle) < 10_000 {
			t.Errorf("the bundle has %d bytes: %v", len(bundle), err)
		}
		return
	}
	t.Error("the server serves no webapp part")
}

// TestASiteWithoutAnAddress shows that without Mattermost's Site URL nothing fails but what needs it: a sign-in at the host.
func TestASiteWithoutAnAddress(t *testing.T) {
	s := newSite(t, stack.Config{NoSiteURL: true})
	health, err := s.Plugin(s.Admin).Health(t.Context())
	must(t, err)
	if check := health.Checks["configuration"]; len(check) != 1 || check[0].Status != "warn" || !strings.Contains(check[0].Output, "Site URL") {
		t.Errorf("health is %+v", health)
	}
	_, err = s.Plugin(s.User).Authorize(t.Context())
	if problem := wantProblem(t, err, "not_configured", 503); !strings.Contains(problem.Message, "Site URL") {
		t.Errorf("it says %q", problem.Message)
	}
	_, err = s.Plugin(s.User).List(t.Context(), in("/"))
	if problem := wantProblem(t, err, "not_connected", 424); problem.Details["connect_url"] != "/plugins/filehost-attach/api/connection" {
		t.Errorf("details are %v", problem.Details)
	}

	var bot struct {
		ID string `json:"user_id"`
	}
	must(t, s.Admin.Post(t.Context(), "/api/v4/bots", map[string]string{"username": "bot"}, &bot))
	var token struct{ Token string }
	must(t, s.Admin.Post(t.Context(), "/api/v4/users/"+bot.ID+"/tokens", map[string]string{"description": "test"}, &token))
	account := &stack.Account{Client: rest.New(s.Mattermost.URL, token.Token), ID: bot.ID}
	must(t, s.Admin.JoinTeam(t.Context(), s.TeamID, account))
	must(t, s.Admin.JoinChannel(t.Context(), s.ChannelID, account))
	_, err = s.Plugin(account).ConnectWithPassword(t.Context(), "alice", stack.HostPassword("alice"))
	must(t, err)
	worksFor(t, s, account)

	// With app passwords for everybody there is nothing to warn of.
	must(t, s.Configure(t.Context(), map[string]any{"signin": "password"}))
	_, err = s.Plugin(s.User).ConnectWithPassword(t.Context(), "alice", stack.HostPassword("alice"))
	must(t, err)
	worksFor(t, s, s.User)
	eventually(t, "health passes", func() bool {
		health, err := s.Plugin(s.Admin).Health(t.Context())
		return err == nil && health.Status == "pass"
	})
}

func worksFor(t *testing.T, s *stack.Stack, account *stack.Account) {
	t.Helper()
	page, err := s.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
	attached, err := s.Plugin(account).Attach(t.Context(), api.Attachment{ChannelID: s.ChannelID, Items: []api.Item{{Path: "/Welcome.txt"}}})
	must(t, err)
	if len(page.Entries) == 0 || attached.PostID == "" {
		t.Errorf("listed %d entries, attached %+v", len(page.Entries), attached)
	}
}
