package main

import (
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
)

// serverConfig has the server give this configuration from now on, and counts how often it is asked.
func (h *host) serverConfig(t *testing.T, changed *model.Config) *atomic.Int64 {
	t.Helper()
	asked := new(atomic.Int64)
	api, ok := h.API.(*plugintest.API)
	require.True(t, ok)
	for _, call := range api.ExpectedCalls {
		if call.Method == "GetConfig" {
			call.Return(func() *model.Config { asked.Add(1); return changed })
		}
	}
	return asked
}

func siteAt(url string) *model.Config {
	return &model.Config{ServiceSettings: model.ServiceSettings{SiteURL: &url}}
}

// connectURL is where a user without a connection is sent.
func (h *host) connectURL(t *testing.T) any {
	t.Helper()
	status, body := h.get(t, "/files")
	require.Equal(t, http.StatusFailedDependency, status, body)
	return body["details"].(map[string]any)["connect_url"]
}

func TestAChangeOfTheServersConfigurationCountsAtOnceAndIsAskedForOnce(t *testing.T) {
	h := newHost(t, good())
	asked := h.serverConfig(t, siteAt("https://127.0.0.1:2"))
	require.NoError(t, h.OnConfigurationChange())
	for range 3 {
		assert.Equal(t, "https://127.0.0.1:2/plugins/filehost-attach/api/connection", h.connectURL(t))
	}
	assert.EqualValues(t, 1, asked.Load())
}

// TestEachHostHasARedirectURIOfItsOwnBelowTheSiteURL: an answer for one host must not be taken for one of another (RFC 9700
// 2.1), and no header of a request has a say in where codes go.
func TestEachHostHasARedirectURIOfItsOwnBelowTheSiteURL(t *testing.T) {
	for site, want := range map[string]string{
		"https://chat.example.com":       "https://chat.example.com/plugins/filehost-attach/api/connection/callback/",
		"https://example.com/team/chat/": "https://example.com/team/chat/plugins/filehost-attach/api/connection/callback/",
	} {
		parsed, err := config.New(good(), site, kinds())
		require.NoError(t, err)
		for _, id := range []string{"default", "second"} {
			parsed.Host.ID = id
			assert.Equal(t, want+id, redirectURI(parsed))
		}
	}
}
