package suite

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/api"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/stack"
)

// share gives the members of the team alice's account at the host for one test.
func share(t *testing.T, changed map[string]any) {
	t.Helper()
	settings := map[string]any{
		"signin": "service_account", "serviceaccountuser": "alice", "serviceaccountsecret": stack.HostPassword("alice"), "automaticfor": "team:" + teamName(t),
	}
	for name, value := range changed {
		settings[name] = value
	}
	configure(t, settings)
}

func teamName(t *testing.T) string {
	t.Helper()
	var team struct{ Name string }
	must(t, site.Admin.Get(t.Context(), "/api/v4/teams/"+site.TeamID, &team))
	return team.Name
}

// newOutsider makes a user who is in no team.
func newOutsider(t *testing.T) *stack.Account {
	t.Helper()
	account, err := stack.CreateAccount(t.Context(), rest.New(site.Mattermost.URL, ""), "o"+strings.ToLower(rand.Text()[:12]))
	must(t, err)
	return account
}

// auditLines are the lines of a server's log that are about a user's events.
func auditLines(t *testing.T, server *stack.Mattermost, userID string) []string {
	t.Helper()
	log, err := os.ReadFile(server.LogFile())
	must(t, err)
	var lines []string
	for line := range strings.Lines(string(log)) {
		if strings.Contains(line, "filehost_attach_") && strings.Contains(line, userID) {
			lines = append(lines, line)
		}
	}
	return lines
}

// wantLine wants a line that holds all parts.
func wantLine(t *testing.T, lines []string, parts ...string) {
	t.Helper()
	if !slices.ContainsFunc(lines, func(line string) bool {
		return !slices.ContainsFunc(parts, func(part string) bool { return !strings.Contains(line, part) })
	}) {
		t.Errorf("no line of %d holds all of %q:\n%s", len(lines), parts, strings.Join(lines, ""))
	}
}

// TestServiceAccountIsForMembersAndReadsOnly shows whom one account for many gives access, to what, and what is written
// down of it.
func TestServiceAccountIsForMembersAndReadsOnly(t *testing.T) {
	member, outsider := newAccount(t), newOutsider(t)
	share(t, nil)
	before := site.Host.Counts()
	page, err := site.Plugin(member).List(t.Context(), in("/"))
	must(t, err)
	for _, entry := range append(page.Entries, *page.Folder) {
		if !slices.Equal(entry.Permissions, []string{"read"}) {
			t.Errorf("%s may be changed: %v", entry.Path, entry.Permissions)
		}
	}
	attached, err := site.Plugin(member).Attach(t.Context(), copies("/Welcome.txt"))
	must(t, err)
	if owner := readInfo(t, attached.Items[0].FileID).UserID; owner != member.ID {
		t.Errorf("the file is %s's, not the member's", owner)
	}
	connection, err := site.Plugin(member).Connection(t.Context())
	must(t, err)
	if connection.State != "connected" || connection.Grant != "service_account" || connection.Account != "alice" {
		t.Errorf("a member's connection is %+v", connection)
	}

	_, err = site.Plugin(outsider).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	connection, err = site.Plugin(outsider).Connection(t.Context())
	must(t, err)
	if connection.State != "not_connected" || connection.Account != "" || connection.Refused == nil || connection.Refused.Method != "service_account" {
		t.Errorf("an outsider's connection is %+v", connection)
	}

	must(t, site.Admin.Delete(t.Context(), "/api/v4/teams/"+site.TeamID+"/members/"+member.ID))
	_, err = site.Plugin(member).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	must(t, site.Admin.JoinTeam(t.Context(), site.TeamID, member))
	_, err = site.Plugin(member).List(t.Context(), in("/nowhere"))
	wantProblem(t, err, "not_found", 404)

	if after := site.Host.Counts(); after.Revocations != before.Revocations || after.TokenRequests != before.TokenRequests {
		t.Errorf("the host was asked for more than to read: %+v, before %+v", after, before)
	}
	eventually(t, "what the member did is in the log", func() bool { return len(auditLines(t, site.Mattermost, member.ID)) >= 7 })
	lines := auditLines(t, site.Mattermost, member.ID)
	wantLine(t, lines, "filehost_attach_list_files", "attempt", "service_account", `[\"`+atHost("/")+`\"]`)
	wantLine(t, lines, "filehost_attach_list_files", "success", "service_account", `[\"`+atHost("/")+`\"]`, "request_id", "session_id", "ip_address")
	wantLine(t, lines, "filehost_attach_attach_files", "success", "/Welcome.txt")
	wantLine(t, lines, "filehost_attach_list_files", "fail", "/nowhere", "not_found")
	wantLine(t, lines, "filehost_attach_connect_automatically", "fail", "not_chosen")
	wantLine(t, auditLines(t, site.Mattermost, outsider.ID), "filehost_attach_connect_automatically", "fail", "not_chosen")
}

// TestServiceAccountCanBeDeclined shows that who disconnects is let alone, and nobody else is.
func TestServiceAccountCanBeDeclined(t *testing.T) {
	member, other := newAccount(t), newAccount(t)
	share(t, nil)
	_, err := site.Plugin(member).List(t.Context(), in("/"))
	must(t, err)
	before := site.Host.Counts().Revocations
	must(t, site.Plugin(member).Disconnect(t.Context()))
	_, err = site.Plugin(member).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	_, err = site.Plugin(other).List(t.Context(), in("/"))
	must(t, err)
	if site.Host.Counts().Revocations != before {
		t.Error("the account that everybody uses was ended")
	}
	must(t, site.Plugin(member).Post(t.Context(), "/connection", map[string]any{}, nil))
	_, err = site.Plugin(member).List(t.Context(), in("/"))
	must(t, err)
}

// TestRejectedServiceAccountIsNotSentAgain shows that no request, no check, no node and no later run of the plugin sends a
// credential again that the host has rejected, and that an admin is told.
func TestRejectedServiceAccountIsNotSentAgain(t *testing.T) {
	node, err := site.AddNode(t.Context(), stack.NodeConfig{})
	must(t, err)
	t.Cleanup(func() { must(t, site.StopNode(node)) })
	before := site.Host.Counts().WithCredential
	share(t, map[string]any{"serviceaccountsecret": "not the password"})
	eventually(t, "both nodes know", func() bool {
		_, err := node.Plugin(site.User).List(t.Context(), in("/"))
		_, here := site.Plugin(site.User).List(t.Context(), in("/"))
		return checkStatus(adminHealth(t), "service_account") == "fail" && isProblem(err, "not_connected") && isProblem(here, "not_connected")
	})
	sent := site.Host.Counts().WithCredential
	if sent < before+1 || sent > before+2 {
		t.Errorf("two nodes have sent the credential %d times", sent-before)
	}
	refuse := func(clients ...api.Client) {
		t.Helper()
		for _, client := range slices.Concat(clients, clients, clients) {
			_, err := client.List(t.Context(), in("/"))
			wantProblem(t, err, "not_connected", 424)
		}
	}
	refuse(site.Plugin(site.User), site.Plugin(site.User2), node.Plugin(site.User), node.Plugin(site.User2))
	restartPlugin(t)
	refuse(site.Plugin(site.User))
	eventually(t, "the plugin's new run knows as well", func() bool { return checkStatus(adminHealth(t), "service_account") == "fail" })
	if again := site.Host.Counts().WithCredential - sent; again != 0 {
		t.Errorf("the credential was sent %d times more", again)
	}
	if remedy := adminHealth(t).Checks["service_account"][0].Output; !strings.Contains(remedy, "Secret of the service account") {
		t.Errorf("the remedy is %q", remedy)
	}
}

func isProblem(err error, code string) bool {
	var problem *api.Problem
	return errors.As(err, &problem) && problem.Code == code
}

// TestUnknownAudienceIsNamed shows that a team that is not there gives nobody access, and that an admin is told its name.
func TestUnknownAudienceIsNamed(t *testing.T) {
	share(t, map[string]any{"automaticfor": "team:no-such-team, group:no-such-group"})
	_, err := site.Plugin(site.User).List(t.Context(), in("/"))
	wantProblem(t, err, "not_connected", 424)
	eventually(t, "an admin is told", func() bool { return checkStatus(adminHealth(t), "automatic_access") == "fail" })
	remedy := adminHealth(t).Checks["automatic_access"][0].Output
	for _, part := range []string{"“no-such-team”", "“no-such-group”", "“May connect without signing in”"} {
		if !strings.Contains(remedy, part) {
			t.Errorf("the remedy does not hold %s: %s", part, remedy)
		}
	}
}

// TestUsesAreInTheServersAuditLog shows that a use of the service account gets into the file of a server whose audit log
// plugins can write, and that on an older server its log has it.
func TestUsesAreInTheServersAuditLog(t *testing.T) {
	share(t, nil)
	file := filepath.Join(t.TempDir(), "audit.log")
	must(t, os.Chmod(filepath.Dir(file), 0o777)) //nolint:gosec // the server runs as another user
	node, err := site.AddNode(t.Context(), stack.NodeConfig{Settings: stack.Settings{
		"ExperimentalAuditSettings": {"FileEnabled": true, "FileName": file},
	}})
	must(t, err)
	t.Cleanup(func() { must(t, site.StopNode(node)) })
	_, err = node.Plugin(site.User2).List(t.Context(), in("/"))
	must(t, err)
	eventually(t, "the server's log has it", func() bool { return len(auditLines(t, node.Mattermost, site.User2.ID)) >= 2 })
	if !site.Newest {
		return // its audit log takes nothing of plugins
	}
	eventually(t, "the audit log has it", func() bool { return len(auditRecords(t, file, site.User2.ID)) >= 2 })
	for i, status := range []string{"attempt", "success"} {
		use := auditRecords(t, file, site.User2.ID)[i]
		got := use.Event.Parameters
		if use.Status != status || got.Grant != "service_account" || got.PluginID != stack.PluginID || got.RequestID == "" || !slices.Equal(got.Paths, []string{atHost("/")}) || use.Actor.SessionID == "" {
			t.Errorf("use %d is %+v", i, use)
		}
	}
}

// auditRecord is a record of a server's audit log.
type auditRecord struct {
	EventName string `json:"event_name"`
	Status    string
	Event     struct {
		Parameters struct {
			Grant     string
			Paths     []string
			PluginID  string `json:"plugin_id"`
			RequestID string `json:"request_id"`
		}
	}
	Actor struct {
		UserID    string `json:"user_id"`
		SessionID string `json:"session_id"`
	}
}

// auditRecords reads what a user has listed from a server's audit log, line by line.
func auditRecords(t *testing.T, file, userID string) []auditRecord {
	t.Helper()
	content, err := os.ReadFile(file) //nolint:gosec // the test's own
	if os.IsNotExist(err) {
		return nil
	}
	must(t, err)
	var found []auditRecord
	for line := range bytes.Lines(content) {
		var one auditRecord
		if json.Unmarshal(line, &one) == nil && one.EventName == "filehost_attach_list_files" && one.Actor.UserID == userID {
			found = append(found, one)
		}
	}
	return found
}
