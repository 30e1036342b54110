package main

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/tokens"
)

const (
	firstKey  = "0123456789abcdef0123456789abcdef" // that of good
	secondKey = "fedcba9876543210fedcba9876543210"
	thirdKey  = "the third key, of forty characters in all"
)

// keyed are good settings with that key.
func keyed(key string) map[string]any {
	settings := good()
	settings["encryptionkey"] = key
	return settings
}

// seal encrypts a text with the key in force.
func (h *host) seal(t *testing.T) string {
	t.Helper()
	sealed, err := h.current.Load().Service.Sealer.Seal("test", []byte("text"))
	require.NoError(t, err)
	return sealed
}

// opens tells whether what seal returned still opens.
func (h *host) opens(sealed string) bool {
	_, err := h.current.Load().Service.Sealer.Open("test", sealed)
	return err == nil
}

// restart ends the plugin and starts it anew on the same store, as another process would.
func restart(t *testing.T, before *host, settings map[string]any) *host {
	t.Helper()
	next := newHost(t, nil)
	before.mu.Lock()
	for key, value := range before.kv {
		next.kv[key] = value
	}
	before.mu.Unlock()
	next.change(t, settings)
	return next
}

// keyCheck is what an admin reads of the check of the key, once it has run.
func (h *host) keyCheck(t *testing.T) (output string) {
	t.Helper()
	require.Eventually(t, func() bool {
		_, body := h.get(t, "/health")
		checks, _ := body["checks"].(map[string]any)
		list, ok := checks["key"].([]any)
		if !ok {
			return false
		}
		check := list[0].(map[string]any)
		require.Equal(t, "pass", check["status"])
		output, _ = check["output"].(string)
		return true
	}, 10*time.Second, time.Millisecond)
	return output
}

func TestAReplacedKeyStillOpensEvenAcrossAWrongConfigurationAndARestart(t *testing.T) {
	h := newHost(t, good())
	sealed := h.seal(t)
	h.change(t, map[string]any{})
	h.change(t, keyed(secondKey))
	assert.True(t, h.opens(sealed), "at once")
	second := h.seal(t)
	h.change(t, keyed(thirdKey))

	again := restart(t, h, keyed(thirdKey))
	assert.True(t, again.opens(sealed))
	assert.True(t, again.opens(second))
	assert.False(t, restart(t, h, keyed("none of those, of forty characters or so")).opens(sealed))
	for key, value := range again.kv {
		assert.NotContains(t, string(value), firstKey, key)
		assert.NotContains(t, string(value), secondKey, key)
	}
}

func TestAPreviousKeyThatIsRemovedTooEarlyStillOpens(t *testing.T) {
	settings := keyed(secondKey)
	settings["previousencryptionkey"] = thirdKey
	h := newHost(t, keyed(thirdKey))
	sealed := h.seal(t)
	next := restart(t, h, settings)
	require.True(t, next.opens(sealed))
	next.change(t, keyed(secondKey))
	assert.True(t, next.opens(sealed))
	assert.True(t, restart(t, next, keyed(secondKey)).opens(sealed))
}

func TestAKeyIsNotReplacedWhileTheFormerOneCannotBeKept(t *testing.T) {
	h := newHost(t, good())
	sealed := h.seal(t)
	h.mu.Lock()
	h.kvDown = true
	h.mu.Unlock()
	h.change(t, keyed(secondKey))
	status, _ := h.get(t, "/connection")
	require.Equal(t, http.StatusServiceUnavailable, status)

	h.mu.Lock()
	h.kvDown = false
	h.mu.Unlock()
	h.change(t, keyed(secondKey))
	assert.True(t, h.opens(sealed))
	assert.True(t, restart(t, h, keyed(secondKey)).opens(sealed))
}

func TestTheFormerKeyIsKeptBeforeTheNewOneEncryptsAnything(t *testing.T) {
	h := newHost(t, good())
	before := h.current.Load()
	h.writes = func(key string) {
		if strings.HasPrefix(key, "former_") {
			assert.Same(t, before, h.current.Load())
			before = nil
		}
	}
	h.change(t, keyed(secondKey))
	assert.Nil(t, before, "it was kept")
}

func TestAKeyOfTheEnvironmentIsInForceAndItsReplacementToo(t *testing.T) {
	h := newHost(t, good())
	ofSettings := h.seal(t)
	file := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(file, []byte(secondKey+"\n"), 0o600))
	h.mu.Lock()
	h.environ["FILEHOST_ATTACH_KEY_FILE"] = file
	h.mu.Unlock()
	require.NoError(t, h.OnConfigurationChange())
	assert.True(t, h.opens(ofSettings))
	ofFile := h.seal(t)
	assert.True(t, restart(t, h, keyed(secondKey)).opens(ofFile))

	require.NoError(t, os.WriteFile(file, []byte(thirdKey), 0o600))
	require.NoError(t, h.OnConfigurationChange(), "the file is read again although the settings are the same")
	assert.True(t, h.opens(ofFile))
	raw, err := json.Marshal(h.settings)
	require.NoError(t, err)
	assert.NotContains(t, string(raw), secondKey, "nothing of the environment gets into the settings")
}

func TestAKeyOfTheEnvironmentThatCannotBeUsedStopsNothingButIsNamed(t *testing.T) {
	h := newHost(t, good())
	h.mu.Lock()
	h.environ["FILEHOST_ATTACH_KEY"] = "short"
	h.mu.Unlock()
	require.NoError(t, h.OnConfigurationChange())
	status, body := h.get(t, "/connection")
	assert.Equal(t, http.StatusServiceUnavailable, status)
	assert.Equal(t, "not_configured", body["code"])
	_, body = h.get(t, "/health")
	check := body["checks"].(map[string]any)["configuration"].([]any)[0].(map[string]any)
	assert.Contains(t, check["output"], "FILEHOST_ATTACH_KEY")
}

func TestNoKeyIsMadeBesideTheAdmins(t *testing.T) {
	assert.NotContains(t, newHost(t, good()).kv, "master_key")
	assert.Contains(t, newHost(t, keyed("")).kv, "master_key")
}

func TestWhatTheMadeKeyHasEncryptedStillOpensWithAKeyOfOnesOwn(t *testing.T) {
	h := newHost(t, keyed(""))
	sealed := h.seal(t)
	started := restart(t, h, keyed(firstKey))
	assert.True(t, started.opens(sealed), "a key that comes with a start")

	h.change(t, keyed(firstKey))
	assert.True(t, h.opens(sealed), "a key that comes while it runs")
	assert.True(t, restart(t, h, keyed(firstKey)).opens(sealed))
	own := h.seal(t)
	h.change(t, keyed(""))
	assert.True(t, h.opens(own), "and back")
	made := h.seal(t)
	h.change(t, keyed(firstKey))
	assert.True(t, h.opens(made), "and forth")
}

// TestAKeyThatIsPutIntoTheStoreOpensNothing is of somebody who can write to the database and brings what he has encrypted
// himself, such as keys to sign with.
func TestAKeyThatIsPutIntoTheStoreOpensNothing(t *testing.T) {
	forger, err := tokens.NewCipher(filehost.NewSecret(thirdKey))
	require.NoError(t, err)
	forged, err := forger.Seal("test", []byte("forged"))
	require.NoError(t, err)
	put := func(h *host) *host {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.kv["master_key"] = []byte(thirdKey)
		return h
	}
	h := put(newHost(t, good()))
	assert.False(t, h.opens(forged))
	assert.False(t, restart(t, h, good()).opens(forged), "after the next start")
	h.change(t, keyed(secondKey))
	assert.False(t, h.opens(forged), "with another key")
	assert.False(t, restart(t, h, keyed(secondKey)).opens(forged), "after a start with another key")

	settings := keyed(thirdKey[:32] + "!")
	settings["previousencryptionkey"] = secondKey
	assert.False(t, restart(t, h, settings).opens(forged), "with another key that comes with a start")
}

func TestAnAdminIsToldWhereTheKeyLies(t *testing.T) {
	note := func(settings map[string]any) string {
		return newHostAt(t, settings, clockwork.NewRealClock()).keyCheck(t)
	}
	assert.Contains(t, note(good()), "The encryption key is that of “Encryption key” in the plugin's settings.")
	settings := good()
	delete(settings, "encryptionkey")
	assert.Contains(t, note(settings), "keeps it in Mattermost's database")
}
