package stack_test

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// postForm posts a form and reads the answer.
func postForm(t *testing.T, address string, form url.Values, into any) int {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := new(http.Client).Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	if err := json.NewDecoder(response.Body).Decode(into); err != nil {
		t.Fatal(err)
	}
	return response.StatusCode
}

// TestAPersonGrantsALoginFlow goes through Nextcloud's pages twice: logging in on the way, and logged in already.
func TestAPersonGrantsALoginFlow(t *testing.T) {
	host, err := doubles.StartNextcloud(t.Context(), hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: "alice", Password: stack.HostPassword("alice")}},
		ClientID: "client", ClientSecret: "secret", RedirectURIs: []string{"http://127.0.0.1/callback"},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = host.Close() })
	alice, err := stack.NewPerson("alice")
	if err != nil {
		t.Fatal(err)
	}
	for _, when := range []string{"logging in", "logged in"} {
		var flow struct {
			Poll  struct{ Token, Endpoint string }
			Login string
		}
		postForm(t, host.Origin()+"/index.php/login/v2", nil, &flow)
		if err := alice.GrantLoginFlow(t.Context(), flow.Login); err != nil {
			t.Fatalf("%s: %v", when, err)
		}
		var got struct{ LoginName, AppPassword string }
		if status := postForm(t, flow.Poll.Endpoint, url.Values{"token": {flow.Poll.Token}}, &got); status != http.StatusOK || got.LoginName != "alice" || got.AppPassword == "" {
			t.Errorf("%s: %d, as %q", when, status, got.LoginName)
		}
		if err := alice.GrantLoginFlow(t.Context(), flow.Login); err == nil {
			t.Errorf("%s: the end of a sign-in can be granted again", when)
		}
	}
	mallory, err := stack.NewPerson("mallory")
	if err != nil {
		t.Fatal(err)
	}
	if err := mallory.GrantLoginFlow(t.Context(), host.Origin()+"/login/v2/flow/none"); err == nil {
		t.Error("a sign-in that nobody has begun can be granted")
	}
}
