package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"sync"
	"testing"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/mattermost/mattermost/server/public/plugin/plugintest"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/mock"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
)

const user = "useraaaaaaaaaaaaaaaaaaaaaa"

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// host is a Mattermost server that runs the plugin with the settings that a test gives it.
type host struct {
	*Plugin
	mu       sync.Mutex
	settings map[string]any
	kv       map[string][]byte
	kvDown   bool
	writes   func(key string) // called before each write
	environ  map[string]string
	inForce  func()               // called when a configuration has taken its place
	warned   func(message string) // called with each line of the log
}

func newHost(t *testing.T, settings map[string]any) *host {
	t.Helper()
	return newHostAt(t, settings, clockwork.NewFakeClock())
}

func newHostAt(t *testing.T, settings map[string]any, clock clockwork.Clock) *host {
	t.Helper()
	h := &host{Plugin: &Plugin{clock: clock, lockDir: t.TempDir()}, settings: settings, kv: map[string][]byte{}, environ: map[string]string{}}
	h.variable = h.lookup
	api := &plugintest.API{}
	for _, log := range []string{"LogDebug", "LogInfo", "LogWarn", "LogError"} {
		for pairs := range 9 {
			arguments := []any{mock.Anything}
			for range 2 * pairs {
				arguments = append(arguments, mock.Anything)
			}
			api.On(log, arguments...).Run(h.logged).Maybe()
		}
	}
	api.On("LoadPluginConfiguration", mock.Anything).Return(func(into any) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		*into.(*map[string]any) = maps.Clone(h.settings)
		return nil
	})
	api.On("GetConfig").Return(&model.Config{ServiceSettings: model.ServiceSettings{SiteURL: model.NewPointer("https://127.0.0.1:1/")}})
	api.On("GetServerVersion").Return("11.1.0")
	api.On("EnsureBotUser", mock.Anything).Return("bot", nil).Maybe()
	api.On("GetBot", "bot", true).Return(&model.Bot{UserId: "bot", OwnerId: pluginID}, nil).Maybe()
	api.On("GetDiagnosticId").Return("diagnostic").Maybe()
	api.On("GetUser", user).Return(&model.User{Id: user}, nil).Maybe()
	api.On("GetSession", "session1").Return(&model.Session{Id: "session1", UserId: user}, nil).Maybe()
	api.On("HasPermissionTo", user, model.PermissionManageSystem).Return(true).Maybe()
	api.On("KVGet", mock.Anything).Return(func(key string) ([]byte, *model.AppError) {
		h.mu.Lock()
		defer h.mu.Unlock()
		if h.kvDown {
			return nil, model.NewAppError("KVGet", "down", nil, "", http.StatusInternalServerError)
		}
		return h.kv[key], nil
	})
	api.On("KVSetWithOptions", mock.Anything, mock.Anything, mock.Anything).Return(h.compareAndSet)
	api.On("RegisterCommand", mock.Anything).Return(nil).Maybe()
	api.On("KVCompareAndDelete", mock.Anything, mock.Anything).Return(h.compareAndDelete).Maybe()
	api.On("KVList", mock.Anything, mock.Anything).Return(func(int, int) ([]string, *model.AppError) {
		h.mu.Lock()
		defer h.mu.Unlock()
		return slices.Sorted(maps.Keys(h.kv)), nil
	}).Maybe()
	h.SetAPI(api)
	require.NoError(t, h.OnConfigurationChange(), "Mattermost calls it before OnActivate")
	require.NoError(t, h.OnActivate())
	t.Cleanup(func() { require.NoError(t, h.OnDeactivate()) })
	return h
}

func (h *host) compareAndSet(key string, value []byte, options model.PluginKVSetOptions) (bool, *model.AppError) {
	if h.writes != nil {
		h.writes(key)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kvDown {
		return false, model.NewAppError("KVSetWithOptions", "down", nil, "", http.StatusInternalServerError)
	}
	if !bytes.Equal(h.kv[key], options.OldValue) {
		return false, nil
	}
	h.kv[key] = value
	return true, nil
}

func (h *host) compareAndDelete(key string, old []byte) (bool, *model.AppError) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.kvDown {
		return false, model.NewAppError("KVCompareAndDelete", "down", nil, "", http.StatusInternalServerError)
	}
	if old == nil || !bytes.Equal(h.kv[key], old) {
		return false, nil
	}
	delete(h.kv, key)
	return true, nil
}

// lookup is the environment of the server.
func (h *host) lookup(name string) (string, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	value, ok := h.environ[name]
	return value, ok
}

// logged hears from the log what shows nowhere else.
func (h *host) logged(line mock.Arguments) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.inForce != nil && line.String(0) == "The configuration is in force." {
		h.inForce()
	}
	if h.warned != nil {
		h.warned(line.String(0))
	}
}

func (h *host) change(t *testing.T, settings map[string]any) {
	t.Helper()
	h.mu.Lock()
	h.settings = settings
	h.mu.Unlock()
	require.NoError(t, h.OnConfigurationChange())
}

// get returns the status and the body's code or state.
func (h *host) get(t *testing.T, path string) (int, map[string]any) {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/api"+path, nil)
	r.Header.Set("Mattermost-User-Id", user)
	recorder := httptest.NewRecorder()
	h.ServeHTTP(&plugin.Context{RequestId: "request1", SessionId: "session1"}, recorder, r)
	var body map[string]any
	require.NoError(t, json.Unmarshal(recorder.Body.Bytes(), &body), recorder.Body.String())
	return recorder.Code, body
}

// good are settings of a host that is not there: its address is blocked before it is dialled.
func good() map[string]any {
	return map[string]any{"hosturl": "https://127.0.0.1:1", "oauthclientid": "mattermost", "encryptionkey": "0123456789abcdef0123456789abcdef"}
}

func TestAWrongConfigurationIsNamedAndAGoodOneTakesItsPlace(t *testing.T) {
	h := newHost(t, map[string]any{"maxfiles": 99})
	status, body := h.get(t, "/connection")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "not_configured", body["code"])
	status, body = h.get(t, "/health")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	output := body["checks"].(map[string]any)["configuration"].([]any)[0].(map[string]any)["output"]
	assert.Contains(t, output, "“Address of the file host”: enter the address")
	assert.Contains(t, output, "“Files per post”: enter a number from 1 to 10.")

	h.change(t, good())
	status, body = h.get(t, "/connection")
	assert.Equal(t, http.StatusOK, status)
	assert.Equal(t, "not_connected", body["state"])

	h.change(t, map[string]any{"hosturl": "nonsense"})
	status, _ = h.get(t, "/connection")
	assert.Equal(t, http.StatusServiceUnavailable, status, "not half of the old one")
}

func TestTheMadeKeyIsKeptInTheStoreWhenTheAdminSetsNone(t *testing.T) {
	settings := good()
	delete(settings, "encryptionkey")
	h := newHost(t, settings)
	h.mu.Lock()
	defer h.mu.Unlock()
	assert.Len(t, h.kv, 1)
}

func TestAChangeOfAnotherPartOfTheServerChangesNothing(t *testing.T) {
	h := newHost(t, good())
	before := h.current.Load()
	require.NoError(t, h.OnConfigurationChange())
	assert.Same(t, before, h.current.Load())
}

func TestAStoreThatIsDownAtTheStartIsTriedAgain(t *testing.T) {
	h := newHost(t, nil)
	h.mu.Lock()
	h.settings, h.kvDown = good(), true
	h.mu.Unlock()
	require.NoError(t, h.OnConfigurationChange())
	status, _ := h.get(t, "/connection")
	require.Equal(t, http.StatusServiceUnavailable, status)
	_, body := h.get(t, "/health")
	check := body["checks"].(map[string]any)["kv_store"].([]any)[0].(map[string]any)
	assert.Equal(t, "fail", check["status"])
	assert.Contains(t, check["output"], "Mattermost's database", "it is not the settings that are wrong")

	clock := h.clock.(*clockwork.FakeClock)
	require.NoError(t, clock.BlockUntilContext(t.Context(), 1))
	again := make(chan struct{})
	h.mu.Lock()
	h.kvDown, h.inForce = false, func() { close(again) }
	h.mu.Unlock()
	clock.Advance(checkInterval)
	<-again
	status, _ = h.get(t, "/connection")
	assert.Equal(t, http.StatusOK, status)
}

func TestThePluginIsCalledAsTheManifestSays(t *testing.T) {
	raw, err := os.ReadFile("../plugin.json")
	require.NoError(t, err)
	var manifest model.Manifest
	require.NoError(t, json.Unmarshal(raw, &manifest))
	assert.Equal(t, pluginID, manifest.Id)
	assert.Equal(t, pluginName, manifest.Name)
}

func TestTheSystemConsoleOffersTheKindsThatThePackagesKnow(t *testing.T) {
	raw, err := os.ReadFile("../plugin.json")
	require.NoError(t, err)
	var manifest model.Manifest
	require.NoError(t, json.Unmarshal(raw, &manifest))
	offered := map[string]bool{}
	for _, setting := range manifest.SettingsSchema.Settings {
		if setting.Key == "HostKind" {
			for _, option := range setting.Options {
				offered[option.Value] = true
			}
		}
	}
	known := kinds()
	assert.Len(t, known, len(offered))
	for kind := range known {
		assert.True(t, offered[kind], kind)
	}
	assert.Equal(t, config.Kinds{"nextcloud": true, "owncloud": true, "opencloud": false, "webdav": false}, known)
}
