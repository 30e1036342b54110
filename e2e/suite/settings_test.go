package suite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// TestWrongSettings shows that a wrong setting is named to the admin and leaves the plugin standing.
func TestWrongSettings(t *testing.T) {
	configureBroken(t, map[string]any{"hosturl": "ftp://files.example.com"})
	_, err := site.Plugin(site.User).List(t.Context(), in("/"))
	wantProblem(t, err, "not_configured", 503)
	_, err = site.Plugin(site.User).Attach(t.Context(), copies("/Welcome.txt"))
	wantProblem(t, err, "not_configured", 503)
	health := adminHealth(t)
	if check := health.Checks["configuration"]; health.Status != "fail" || len(check) == 0 || check[0].Status != "fail" || check[0].Output == "" {
		t.Errorf("an admin sees %+v", health)
	}
}

// TestPrivateAddressesAreRefused shows that the plugin calls into the server's own network only
// where the admin says so.
func TestPrivateAddressesAreRefused(t *testing.T) {
	configure(t, map[string]any{"allowedaddresses": ""})
	before := site.Host.Counts().Propfinds
	_, err := site.Plugin(site.User).List(t.Context(), in("/"))
	wantProblem(t, err, "host_unavailable", 502)
	if site.Host.Counts().Propfinds != before {
		t.Error("the host was asked")
	}
}

// TestKeyChange shows that connections outlive changes of the encryption key: at once, and still
// after the next start, since the plugin keeps the former keys, and not in the settings.
func TestKeyChange(t *testing.T) {
	// Whatever becomes of the key, the other tests need a connection.
	t.Cleanup(func() {
		if err := site.Connect(context.WithoutCancel(t.Context()), site.User, "alice"); err != nil {
			t.Error(err)
		}
	})
	first, second, third := rand.Text()+rand.Text(), rand.Text()+rand.Text(), rand.Text()+rand.Text()
	configure(t, map[string]any{"encryptionkey": first})
	now, later := newConnected(t, "bob"), newConnected(t, "bob")
	for _, next := range []string{second, third} {
		configure(t, map[string]any{"encryptionkey": next})
		_, err := site.Plugin(now).List(t.Context(), in("/"))
		must(t, err)
	}
	wantCheck(t, "key", "pass", "The encryption key is that of “Encryption key” in the plugin's settings.")
	settings, err := site.Mattermost.SavedSettings(stack.PluginID)
	must(t, err)
	if settings["encryptionkey"] != third || settings["previousencryptionkey"] == first || settings["previousencryptionkey"] == second {
		t.Errorf("the plugin has changed the keys in the settings to %v", settings)
	}
	restartPlugin(t)
	_, err = site.Plugin(later).List(t.Context(), in("/"))
	must(t, err)
}

// restartPlugin starts the plugin anew, with nothing but what it has stored.
func restartPlugin(t *testing.T) {
	t.Helper()
	for _, action := range []string{"disable", "enable"} {
		must(t, site.Admin.Post(t.Context(), "/api/v4/plugins/"+stack.PluginID+"/"+action, nil, nil))
	}
	eventually(t, "the plugin runs again", func() bool {
		_, err := site.Plugin(site.User).Connection(t.Context())
		return err == nil
	})
}

// masksSecrets says which versions of Mattermost know that a plugin's setting can be a secret.
var masksSecrets = map[string]bool{"9.9": false, "11.1": true}

// TestSecretsAreMasked shows that the server knows which settings to hide from admins and from
// support packets, and that the admin guide is right about servers that don't.
func TestSecretsAreMasked(t *testing.T) {
	configure(t, map[string]any{
		"encryptionkey":         "an encryption key that nobody may see",
		"previousencryptionkey": "a former key that nobody may see either",
		"exchangeactortoken":    "an actor token",
		"serviceaccountsecret":  "the password of everybody's account",
		"proxycredentials":      "user:password",
	})
	var config struct {
		PluginSettings struct{ Plugins map[string]map[string]any }
	}
	must(t, site.Admin.Get(t.Context(), "/api/v4/config", &config))
	settings := config.PluginSettings.Plugins["filehost-attach"]
	for _, name := range []string{"oauthclientsecret", "encryptionkey", "previousencryptionkey", "exchangeactortoken", "serviceaccountsecret", "proxycredentials"} {
		value, _ := settings[name].(string)
		if masked := strings.Trim(value, "*") == ""; value == "" || masked != masksSecrets[site.Mattermost.Version] {
			t.Errorf("%s is shown as %q by Mattermost %s", name, value, site.Mattermost.Version)
		}
	}
}

// TestDocument shows that the plugin serves the contract that these tests hold it to.
func TestDocument(t *testing.T) {
	want, err := os.ReadFile(filepath.Join("..", "..", "assets", "openapi.yaml"))
	must(t, err)
	response, got := open(t, stranger(t), site.BaseURL()+"/openapi.yaml")
	if response.StatusCode != http.StatusOK || got != string(want) {
		t.Errorf("got %d and %d bytes, want the %d of assets/openapi.yaml", response.StatusCode, len(got), len(want))
	}
}

// TestErrorsLeakNothing shows an error as a client of Mattermost's gets it.
func TestErrorsLeakNothing(t *testing.T) {
	_, err := site.Plugin(site.User).List(t.Context(), in("/nowhere"))
	problem := wantProblem(t, err, "not_found", 404)
	encoded, err := json.Marshal(problem)
	must(t, err)
	for _, secret := range slices.Concat(site.Host.Secrets(), []string{site.Host.Origin(), "goroutine", site.User.Token}) {
		if strings.Contains(string(encoded), secret) {
			t.Errorf("the error holds %q: %s", secret, encoded)
		}
	}
	if problem.ID != "filehost.not_found" || problem.RequestID == "" || problem.Message == "" {
		t.Errorf("the error is %+v", problem)
	}
}
