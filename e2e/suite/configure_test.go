package suite

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// configure changes settings of the plugin for one test and waits until they hold. The host's name
// tells which settings the plugin runs with.
func configure(t *testing.T, changed map[string]any) {
	t.Helper()
	apply := func(settings map[string]any) {
		settings = maps.Clone(settings)
		settings["hostname"] = "Files " + rand.Text()[:8]
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
	before := site.EmbeddedSettings()
	// What a test sets and the embedded host's settings leave out goes back to its default.
	for name, value := range map[string]any{"copiesperuser": 2, "encryptionkey": ""} {
		before[name] = value
	}
	t.Cleanup(func() { apply(before) })
	apply(changed)
}

// configureBroken gives the plugin settings for one test that it can't work with.
func configureBroken(t *testing.T, changed map[string]any) {
	t.Helper()
	must(t, site.Configure(t.Context(), changed))
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		if err := site.Configure(ctx, site.EmbeddedSettings()); err != nil {
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

// brokenHealth reads the health of a plugin that isn't well, which comes with status 503.
func brokenHealth(t *testing.T) api.Health {
	t.Helper()
	_, err := as(t, site.Admin).Health(t.Context())
	var status *rest.StatusError
	if !errors.As(err, &status) || status.Status != http.StatusServiceUnavailable {
		t.Fatalf("health is %v", err)
	}
	var health api.Health
	must(t, json.Unmarshal([]byte(status.Body), &health))
	return health
}
