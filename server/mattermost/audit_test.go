package mattermost

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// keeper is a server that keeps what it is told to keep.
type keeper struct {
	plugin.API
	version string
	config  *model.Config
	records []*model.AuditRecord
	lines   []string
}

func newKeeper(version string) *keeper {
	on, level := true, "INFO"
	return &keeper{version: version, config: &model.Config{LogSettings: model.LogSettings{EnableConsole: &on, ConsoleLevel: &level}}}
}

func (k *keeper) GetServerVersion() string           { return k.version }
func (k *keeper) GetConfig() *model.Config           { return k.config }
func (k *keeper) LogAuditRec(rec *model.AuditRecord) { k.records = append(k.records, rec) }
func (k *keeper) LogInfo(message string, fields ...any) {
	k.lines = append(k.lines, message+" "+fmt.Sprint(fields...))
}
func (k *keeper) set(change func(*model.Config)) *keeper { change(k.config); return k }
func (k *keeper) record(ctx context.Context, t *testing.T) error {
	t.Helper()
	return NewAudit(k).Record(ctx, event(t))
}

func event(t *testing.T) filehost.AuditEvent {
	t.Helper()
	good, err := filehost.ParsePath("path", "/Sales/Q3 \n plan.pdf")
	require.NoError(t, err)
	bad, err := filehost.ParsePath("path", "/b")
	require.NoError(t, err)
	return filehost.AuditEvent{
		Action: filehost.AuditAttach, Outcome: filehost.AuditFail, ActingUserID: user, HostID: "default", Grant: "service_account", Account: "shared\n",
		TargetUserID: "target", Paths: []filehost.Path{good, bad}, Failed: []filehost.Path{bad}, HostIDs: []string{"7", "8"}, FailedIDs: []string{"8"}, Code: "host_unavailable",
	}
}

func TestAnEventIsInTheAuditLogAndInTheServersLog(t *testing.T) {
	server := newKeeper("11.1.0")
	ctx := filehost.WithRequest(t.Context(), filehost.Request{ID: "request", SessionID: "session", IPAddress: "192.0.2.1"})
	require.NoError(t, server.record(ctx, t))
	require.Len(t, server.records, 1)
	got, err := json.Marshal(server.records[0])
	require.NoError(t, err)
	assert.JSONEq(t, `{"event_name": "filehost_attach_attach_files", "status": "fail",
		"event": {"parameters": {"host": "default", "grant": "service_account", "account": "shared\n", "target_user_id": "target", "request_id": "request",
			"paths": ["/Sales/Q3 \n plan.pdf", "/b"], "failed": ["/b"], "host_ids": ["7", "8"], "failed_host_ids": ["8"]}, "prior_state": {}, "resulting_state": {}, "object_type": ""},
		"actor": {"user_id": "`+user+`", "session_id": "session", "client": "", "ip_address": "192.0.2.1", "x_forwarded_for": ""},
		"meta": {}, "error": {"description": "host_unavailable"}}`, string(got))
	require.Len(t, server.lines, 1)
	for _, part := range []string{auditMessage, "filehost_attach_attach_files", "fail", user, "target", "service_account", `"shared\n"`, `["/Sales/Q3 \n plan.pdf" "/b"]`, "7 8", "request", "session", "192.0.2.1"} {
		assert.Contains(t, server.lines[0], part)
	}
	assert.NotContains(t, server.lines[0], "\n", "an event is one line")
}

func TestAnOlderServerHasOnlyItsLog(t *testing.T) {
	for version, records := range map[string]int{"9.9.0": 0, "10.9.2": 0, "10.10.0": 1, "11.1.0": 1, "": 0} {
		server := newKeeper(version)
		require.NoError(t, server.record(t.Context(), t))
		assert.Len(t, server.records, records, version)
		assert.Len(t, server.lines, 1, version)
	}
}

func TestAnEventThatWouldBeKeptNowhereIsAnError(t *testing.T) {
	on, off, debug, warn := true, false, "debug", "WARN"
	quiet := func(c *model.Config) { c.LogSettings.ConsoleLevel = &warn }
	for name, test := range map[string]struct {
		server *keeper
		want   filehost.Kind
	}{
		"console":                          {newKeeper("9.9.0"), ok},
		"file":                             {newKeeper("9.9.0").set(quiet).set(func(c *model.Config) { c.LogSettings.EnableFile, c.LogSettings.FileLevel = &on, &debug }), ok},
		"audit log":                        {newKeeper("11.1.0").set(quiet).set(func(c *model.Config) { c.ExperimentalAuditSettings.FileEnabled = &on }), ok},
		"audit log that plugins can't use": {newKeeper("9.9.0").set(quiet).set(func(c *model.Config) { c.ExperimentalAuditSettings.FileEnabled = &on }), filehost.NotConfigured},
		"level too high":                   {newKeeper("11.1.0").set(quiet), filehost.NotConfigured},
		"no console":                       {newKeeper("11.1.0").set(func(c *model.Config) { c.LogSettings.EnableConsole = &off }), filehost.NotConfigured},
		"no settings, as false arrives":    {newKeeper("11.1.0").set(func(c *model.Config) { *c = model.Config{} }), filehost.NotConfigured},
		"file of a level that is too high": {newKeeper("11.1.0").set(quiet).set(func(c *model.Config) { c.LogSettings.EnableFile, c.LogSettings.FileLevel = &on, &warn }), filehost.NotConfigured},
		"a server that gives no settings":  {&keeper{version: "11.1.0"}, filehost.Internal},
	} {
		t.Run(name, func(t *testing.T) {
			err := test.server.record(t.Context(), t)
			if test.want == ok {
				require.NoError(t, err)
				return
			}
			require.Error(t, err)
			assert.Equal(t, test.want, filehost.KindOf(err))
			assert.Empty(t, test.server.lines)
			assert.Empty(t, test.server.records)
		})
	}
	ended, end := context.WithCancel(t.Context())
	end()
	assert.Equal(t, filehost.Timeout, filehost.KindOf(newKeeper("11.1.0").record(ended, t)))
}
