package suite

import (
	"fmt"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/doubles"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/hosts"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/sample"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// useNextcloud has the plugin work with a Nextcloud of the test's own, whatever the suite's host is, and
// gives a user who is connected there as nora, by this method of signing in.
func useNextcloud(t *testing.T, signIn string) (*doubles.Nextcloud, api.Client) {
	t.Helper()
	const user, secret = "nora", "the secret of nora's Nextcloud"
	host, err := doubles.StartNextcloud(t.Context(), hosts.Config{
		Root: t.TempDir(), Users: []hosts.User{{Name: user, Password: stack.HostPassword(user)}},
		ClientID: "mattermost", ClientSecret: secret, RedirectURIs: []string{site.BaseURL() + "/connection/callback/default"},
	})
	must(t, err)
	t.Cleanup(func() {
		if surprises := host.Surprises(); len(surprises) > 0 {
			t.Errorf("Nextcloud is surprised by %q", surprises)
		}
		if err := host.Close(); err != nil {
			t.Error(err)
		}
	})
	must(t, sample.WriteSmall(host.Dir(user)))
	settings := host.Settings()
	settings["signin"], settings["oauthclientsecret"] = signIn, secret
	configure(t, settings)
	account := newAccount(t)
	if signIn == "oauth" {
		must(t, site.Connect(t.Context(), account, user))
	} else {
		_, err := site.Plugin(account).ConnectWithPassword(t.Context(), user, host.NewAppPassword(user))
		must(t, err)
	}
	return host, site.Plugin(account)
}

// TestDisabledAccount shows that an account that Nextcloud keeps out, with an answer that looks like a
// broken host, is told so however often it tries, and goes on when it is let in again.
func TestDisabledAccount(t *testing.T) {
	for _, signIn := range []string{"password", "oauth"} {
		t.Run(signIn, func(t *testing.T) {
			host, client := useNextcloud(t, signIn)
			host.Disable("nora", true)
			for range 10 {
				_, err := client.List(t.Context(), in("/"))
				if problem := wantProblem(t, err, "forbidden", http.StatusForbidden); !strings.Contains(problem.Message, "disabled your account") {
					t.Errorf("the message doesn't say why: %s", problem.Message)
				}
			}
			_, err := client.Attach(t.Context(), copies("/Welcome.txt"))
			wantProblem(t, err, "forbidden", http.StatusForbidden)
			host.Disable("nora", false)
			_, err = client.List(t.Context(), in("/"))
			must(t, err)
		})
	}
}

// TestHostInMaintenance shows that who waits is told how long, although the host does not say so, and stays connected.
func TestHostInMaintenance(t *testing.T) {
	host, client := useNextcloud(t, "password")
	host.SetMaintenance(true)
	_, err := client.List(t.Context(), in("/"))
	if problem := wantProblem(t, err, "maintenance", http.StatusServiceUnavailable); problem.Details["retry_after_s"] != float64(60) {
		t.Errorf("details are %v", problem.Details)
	}
	_, err = client.Attach(t.Context(), copies("/Welcome.txt"))
	wantProblem(t, err, "maintenance", http.StatusServiceUnavailable)
	host.SetMaintenance(false)
	attached, err := client.Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if attached.Items[0].Error != nil {
		t.Errorf("after it: %+v", attached.Items[0])
	}
}

// TestDisconnectEndsTheAppPassword shows that nothing is left at the host that somebody could use.
func TestDisconnectEndsTheAppPassword(t *testing.T) {
	host, client := useNextcloud(t, "password")
	must(t, client.Disconnect(t.Context()))
	if got := host.Counts().Revocations; got != 1 {
		t.Errorf("%d requests to end the app password, want 1", got)
	}
	if left := host.AppPasswords("nora"); left != 0 {
		t.Errorf("%d app passwords are left", left)
	}
}

// TestWrongPasswordsAreFew shows that one user can't make Nextcloud turn Mattermost's address away, with
// which all others come.
func TestWrongPasswordsAreFew(t *testing.T) {
	host, client := useNextcloud(t, "password")
	stranger := site.Plugin(newAccount(t))
	const own, tries = 5, 12 // the budget of one user, see the admin guide
	for i := range tries {
		_, err := stranger.ConnectWithPassword(t.Context(), "nora", fmt.Sprint("wrong ", i))
		if i < own {
			wantProblem(t, err, "invalid_request", http.StatusBadRequest)
		} else {
			wantProblem(t, err, "rate_limited", http.StatusTooManyRequests)
		}
	}
	if got := host.FailedLogins(); got != own {
		t.Errorf("the host has seen %d wrong passwords, want %d", got, own)
	}
	_, err := client.List(t.Context(), in("/"))
	must(t, err)
}

// TestAWrongPasswordIsSentOnce shows that who types the same again and again doesn't use up anybody's tries.
func TestAWrongPasswordIsSentOnce(t *testing.T) {
	host, _ := useNextcloud(t, "password")
	account := newAccount(t)
	for _, client := range []api.Client{site.Plugin(account), secondNode(t).Plugin(account), site.Plugin(account)} {
		_, err := client.ConnectWithPassword(t.Context(), "nora", "wrong")
		wantProblem(t, err, "invalid_request", http.StatusBadRequest)
	}
	if got := host.FailedLogins(); got != 1 {
		t.Errorf("the host has seen it %d times, want once", got)
	}
	_, err := site.Plugin(account).ConnectWithPassword(t.Context(), "nora", host.NewAppPassword("nora"))
	must(t, err)
}

// TestHostPages walks a folder in the host's own order while files come and go: the host keeps its
// listing as it was. Where it keeps none, the plugin orders the folder by name.
func TestHostPages(t *testing.T) {
	const files, limit = 250, 100
	for name, keeps := range map[string]bool{"kept": true, "not kept": false} {
		t.Run(name, func(t *testing.T) {
			host, client := useNextcloud(t, "password")
			if !keeps {
				host.DropMemoryCache()
			}
			folder := host.Dir("nora") + "/Pages"
			must(t, os.Mkdir(folder, 0o755))
			var want []string
			for i := range files {
				want = append(want, fmt.Sprintf("%03d.txt", i))
				must(t, os.WriteFile(folder+"/"+want[i], []byte("x"), 0o600))
			}
			query := in("/Pages", "sort", "host", "limit", strconv.Itoa(limit))
			var listed []string
			for pages := 1; pages == 1 || query.Get("cursor") != ""; pages++ {
				page, err := client.List(t.Context(), query)
				must(t, err)
				listed = append(listed, names(page.Entries)...)
				query.Set("cursor", page.NextCursor)
				if keeps {
					must(t, os.Remove(folder+"/"+want[limit+pages]))
					must(t, os.WriteFile(fmt.Sprintf("%s/%03d and a half.txt", folder, limit+pages), nil, 0o600))
				}
			}
			if !slices.Equal(listed, want) {
				t.Errorf("%d entries are listed, want %d: %q", len(listed), len(want), listed)
			}
		})
	}
}
