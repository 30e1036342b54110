package suite

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// record is a connection as the database has it.
type record struct {
	raw   []byte
	KeyID string `json:"kid"`
	User  string `json:"user"`
}

// records are the connections of the database that have no end of their own, by their users.
func records(t *testing.T) map[string]record {
	t.Helper()
	database, err := site.Database(t.Context())
	must(t, err)
	defer func() { must(t, database.Close(context.WithoutCancel(t.Context()))) }()
	rows, err := database.Query(t.Context(), "SELECT pvalue FROM pluginkeyvaluestore WHERE pluginid = $1 AND pkey LIKE 'conn_%' AND expireat = 0", stack.PluginID)
	must(t, err)
	defer rows.Close()
	found := map[string]record{}
	for rows.Next() {
		var one record
		must(t, rows.Scan(&one.raw))
		must(t, json.Unmarshal(one.raw, &one))
		found[one.User] = one
	}
	must(t, rows.Err())
	return found
}

// uses counts the connections that are encrypted with a key.
func uses(t *testing.T, keyID string) (count int) {
	t.Helper()
	for _, one := range records(t) {
		if one.KeyID == keyID {
			count++
		}
	}
	return count
}

// useOneKey tells whether the connections of users are encrypted with the same key.
func useOneKey(t *testing.T, users []string) bool {
	t.Helper()
	found := records(t)
	return !slices.ContainsFunc(users, func(id string) bool { return found[id].KeyID != found[users[0]].KeyID })
}

func freshKey() string { return rand.Text() + rand.Text() }

// replaceKeys gives the plugin other keys while it is off, so that it doesn't keep the former one itself.
func replaceKeys(t *testing.T, current, previous string) {
	t.Helper()
	switchPlugin(t, "disable")
	eventually(t, "the plugin is off", func() bool { return !runs(t) })
	must(t, site.Configure(t.Context(), map[string]any{"encryptionkey": current, "previousencryptionkey": previous}))
	switchPlugin(t, "enable")
	eventually(t, "the plugin runs again", func() bool {
		_, err := site.Plugin(site.User).Connection(t.Context())
		return err == nil
	})
}

// TestALostKeyAsksToReconnectAndDeletesNothing loses the key, and finds it again.
func TestALostKeyAsksToReconnectAndDeletesNothing(t *testing.T) {
	first, second := freshKey(), freshKey()
	configure(t, map[string]any{"encryptionkey": first})
	account, other := newConnected(t, "bob"), newConnected(t, "carol")
	users := []string{account.ID, other.ID, site.User.ID}
	eventually(t, "the users' connections use the key", func() bool { return useOneKey(t, users) })
	before := records(t)

	replaceKeys(t, second, "")
	for range 2 {
		if got := state(t, account); got != "reconnect" {
			t.Errorf("the connection is %s", got)
		}
		_, err := site.Plugin(account).List(t.Context(), in("/"))
		problem := wantProblem(t, err, "not_connected", 424)
		if !strings.Contains(problem.Message, "encryption key has changed") {
			t.Errorf("the user is told: %s", problem.Message)
		}
	}
	wantCheck(t, "key", "warn", "enter the former key as “Previous encryption key”", "values were encrypted with a key that is not here")
	after := records(t)
	for _, user := range users { // others' may be of a host that was configured before, which opens them alone
		if !bytes.Equal(after[user].raw, before[user].raw) {
			t.Errorf("the record of %s has changed", user)
		}
	}
	if len(after) != len(before) {
		t.Errorf("%d records are left of %d", len(after), len(before))
	}
	must(t, site.Connect(t.Context(), other, "carol")) // who doesn't wait for the key

	must(t, site.Configure(t.Context(), map[string]any{"previousencryptionkey": first}))
	wantCheck(t, "key", "pass")
	for _, user := range []*stack.Account{account, other} {
		_, err := site.Plugin(user).List(t.Context(), in("/"))
		must(t, err)
	}
	eventually(t, "the job has put the users' connections under the present key", func() bool {
		return useOneKey(t, users) && records(t)[account.ID].KeyID != before[account.ID].KeyID
	})
}

// TestTheJobPutsConnectionsUnderANewKey changes the key and lets the users do nothing.
func TestTheJobPutsConnectionsUnderANewKey(t *testing.T) {
	configure(t, map[string]any{"encryptionkey": freshKey()})
	account := newConnected(t, "bob")
	former := records(t)[account.ID].KeyID
	previous := freshKey()
	configure(t, map[string]any{"encryptionkey": freshKey(), "previousencryptionkey": previous})
	eventually(t, "no connection uses the former key", func() bool { return uses(t, former) == 0 })
	wantCheck(t, "key", "pass", "None uses the key of “Previous encryption key” in the plugin's settings any more")
	_, err := site.Plugin(account).List(t.Context(), in("/"))
	must(t, err)
}

// TestAKeyOfTheServersEnvironment starts a node whose environment names a file with the key, as all nodes of a cluster
// would, while the first still has that of its settings: the order of docs/admin-guide.md.
func TestAKeyOfTheServersEnvironment(t *testing.T) {
	old, next := freshKey(), freshKey()
	configure(t, map[string]any{"encryptionkey": old, "previousencryptionkey": next})
	before := newConnected(t, "bob")

	file := filepath.Join(t.TempDir(), "key")
	must(t, os.Chmod(filepath.Dir(file), 0o755))
	must(t, os.WriteFile(file, []byte(next+"\n"), 0o600))
	t.Setenv("FILEHOST_ATTACH_KEY_FILE", file)
	node, err := site.AddNode(t.Context(), stack.NodeConfig{})
	must(t, err)
	t.Cleanup(func() {
		if err := site.StopNode(node); err != nil {
			t.Error(err)
		}
	})
	eventually(t, "the node tells where its key comes from", func() bool {
		health, err := node.Plugin(site.Admin).Health(t.Context())
		must(t, err)
		check := health.Checks["key"]
		return len(check) == 1 && check[0].Status == "pass" && strings.Contains(check[0].Output, "The encryption key is that of the environment variable FILEHOST_ATTACH_KEY_FILE.")
	})
	_, err = node.Plugin(before).List(t.Context(), in("/"))
	must(t, err)
	_, err = site.Plugin(before).List(t.Context(), in("/"))
	must(t, err)
	after := newAccount(t)
	connection, err := node.Plugin(after).Connection(t.Context())
	must(t, err)
	if connection.State != "not_connected" {
		t.Errorf("a new user is %s", connection.State)
	}
	for _, log := range []string{site.Mattermost.LogFile(), node.LogFile()} {
		content, err := os.ReadFile(log)
		must(t, err)
		for _, key := range []string{old, next} {
			if bytes.Contains(content, []byte(key)) {
				t.Errorf("the log %s holds a key", log)
			}
		}
	}
	settings, err := site.Mattermost.SavedSettings(stack.PluginID)
	must(t, err)
	if settings["encryptionkey"] != old {
		t.Error("the settings' key has changed")
	}
}
