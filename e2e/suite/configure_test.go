package suite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// configure changes settings of the plugin for one test and waits until they hold. The host's name
// tells which settings the plugin runs with. At the address of a host of the test's own, paths are sent as they are.
func configure(t *testing.T, changed map[string]any) {
	t.Helper()
	apply := func(changed map[string]any) {
		settings := map[string]any{"hostname": "Files " + rand.Text()[:8]}
		maps.Copy(settings, changed)
		ctx := context.WithoutCancel(t.Context())
		if err := site.Configure(ctx, settings); err != nil {
			t.Error(err)
			return
		}
		eventually(t, "the plugin runs with its new settings", func() bool {
			connection, err := site.Plugin(site.User).Connection(ctx)
			return err == nil && connection.Host.Name == settings["hostname"]
		})
	}
	// What a test sets and the host's settings leave out goes back to its default.
	before := defaultSettings(t)
	maps.Copy(before, site.HostSettings())
	delete(before, "hostname")
	t.Cleanup(func() { apply(before) })
	apply(changed)
	if address, other := changed["hosturl"]; other && address != before["hosturl"] {
		t.Cleanup(site.Elsewhere())
	}
}

// defaultSettings are those of plugin.json, with keys in lower case as Mattermost keeps them.
func defaultSettings(t *testing.T) map[string]any {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("..", "..", "plugin.json"))
	must(t, err)
	var manifest struct {
		Schema struct {
			Settings []struct {
				Key     string
				Default any
			}
		} `json:"settings_schema"`
	}
	must(t, json.Unmarshal(raw, &manifest))
	settings := map[string]any{}
	for _, setting := range manifest.Schema.Settings {
		settings[strings.ToLower(setting.Key)] = setting.Default
	}
	return settings
}

// configureBroken gives the plugin settings for one test that it can't work with.
func configureBroken(t *testing.T, changed map[string]any) {
	t.Helper()
	must(t, site.Configure(t.Context(), changed))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := site.Configure(ctx, site.HostSettings()); err != nil {
			t.Error(err)
		}
		eventually(t, "the plugin works again", func() bool {
			_, err := site.Plugin(site.User).Connection(ctx)
			return err == nil
		})
	})
	eventually(t, "the plugin refuses its settings", func() bool {
		_, err := site.Plugin(site.User).Connection(t.Context())
		return err != nil
	})
}

// adminHealth reads the health as an admin sees it, which comes with status 503 if it is bad.
func adminHealth(t *testing.T) api.Health {
	t.Helper()
	// Tests look also when they are over.
	health, err := site.Plugin(site.Admin).Health(context.WithoutCancel(t.Context()))
	var status *rest.StatusError
	failed := errors.As(err, &status) && status.Status == http.StatusServiceUnavailable
	if failed {
		err = json.Unmarshal([]byte(status.Body), &health)
	}
	must(t, err)
	if failed != (health.Status == "fail") {
		t.Errorf("health is %+v, with 503 = %v", health, failed)
	}
	return health
}

// checkStatus gives the status of a check as the admin's health has it; empty if it isn't there yet.
func checkStatus(health api.Health, name string) string {
	if check := health.Checks[name]; len(check) != 0 {
		return check[0].Status
	}
	return ""
}
