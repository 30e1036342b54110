package mattermost

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// auditPrefix begins the names of our events among those of the server and of other plugins.
const auditPrefix = "filehost_attach_"

// auditMessage is how the line of an event in the server's log begins.
const auditMessage = "Audit"

// Audit implements filehost.Audit. It is safe for concurrent use.
type Audit struct {
	api     plugin.API
	records bool // the server has an audit log for plugins
}

// NewAudit returns the audit log of the server behind api.
func NewAudit(api plugin.API) *Audit {
	major, minor, _ := model.SplitVersion(api.GetServerVersion())
	return &Audit{api: api, records: major > 10 || major == 10 && minor >= 10}
}

// Record implements filehost.Audit. Every event goes to the server's log as well: the server makes its audit log when it
// starts, so that the settings of the moment don't tell whether there is one.
func (a *Audit) Record(ctx context.Context, event filehost.AuditEvent) error {
	if err := a.CheckAudit(ctx); err != nil {
		return err
	}
	request := filehost.RequestOf(ctx)
	if a.records {
		a.api.LogAuditRec(auditRecord(event, request))
	}
	a.api.LogInfo(auditMessage, auditFields(event, request)...)
	return nil
}

// CheckAudit implements filehost.Audit.
func (a *Audit) CheckAudit(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return filehost.E(filehost.Timeout, "There was no time left to write the audit log.", err)
	}
	config := a.api.GetConfig()
	switch {
	case config == nil:
		return filehost.E(filehost.Internal, "Mattermost's audit log can't be written.", errNoAnswer)
	case a.records && value(config.ExperimentalAuditSettings.FileEnabled),
		value(config.LogSettings.EnableConsole) && takesInfo(value(config.LogSettings.ConsoleLevel)),
		value(config.LogSettings.EnableFile) && takesInfo(value(config.LogSettings.FileLevel)):
		return nil
	}
	return filehost.E(filehost.NotConfigured, "Access that users have not signed in for is written down, and Mattermost would keep that nowhere: "+a.remedy(), errors.New("no log takes audit events"))
}

func (a *Audit) remedy() string {
	level := "let its log take the level INFO (System Console, Environment, Logging)."
	if !a.records {
		return level
	}
	return "switch its audit log on (ExperimentalAuditSettings.FileEnabled), or " + level
}

// takesInfo tells whether a log of a level takes what is logged as information.
func takesInfo(level string) bool {
	switch strings.ToLower(level) {
	case "info", "debug", "trace":
		return true
	}
	return false
}

func auditRecord(event filehost.AuditEvent, request filehost.Request) *model.AuditRecord {
	record := plugin.MakeAuditRecord(auditPrefix+string(event.Action), string(event.Outcome))
	record.Actor.UserId, record.Actor.SessionId, record.Actor.IpAddress = event.ActingUserID, request.SessionID, request.IPAddress
	for name, text := range map[string]string{
		"host": event.HostID, "grant": event.Grant, "account": event.Account, "target_user_id": event.TargetUserID, "request_id": request.ID,
	} {
		if text != "" {
			model.AddEventParameterToAuditRec(record, name, text)
		}
	}
	for name, paths := range map[string][]filehost.Path{"paths": event.Paths, "failed": event.Failed} {
		if len(paths) > 0 {
			model.AddEventParameterToAuditRec(record, name, texts(paths))
		}
	}
	for name, ids := range map[string][]string{"host_ids": event.HostIDs, "failed_host_ids": event.FailedIDs} {
		if len(ids) > 0 {
			model.AddEventParameterToAuditRec(record, name, ids)
		}
	}
	record.AddErrorDesc(event.Code)
	return record
}

func auditFields(event filehost.AuditEvent, request filehost.Request) []any {
	fields := []any{"event", auditPrefix + string(event.Action), "status", string(event.Outcome)}
	for _, field := range []struct{ name, text string }{
		{"acting_user_id", event.ActingUserID}, {"target_user_id", event.TargetUserID}, {"host", event.HostID}, {"grant", event.Grant},
		{"account", quotedName(event.Account)}, {"paths", quoted(event.Paths)}, {"failed", quoted(event.Failed)},
		{"host_ids", strings.Join(event.HostIDs, " ")}, {"failed_host_ids", strings.Join(event.FailedIDs, " ")}, {"code", event.Code},
		{"request_id", request.ID}, {"session_id", request.SessionID}, {"ip_address", request.IPAddress},
	} {
		if field.text != "" {
			fields = append(fields, field.name, field.text)
		}
	}
	return fields
}

func texts(paths []filehost.Path) []string {
	list := make([]string, len(paths))
	for i, path := range paths {
		list[i] = path.String()
	}
	return list
}

// quotedName is a name that the host has chosen.
func quotedName(name string) string {
	if name == "" {
		return ""
	}
	return strconv.Quote(name)
}

// quoted are paths in one text. A name with a line break doesn't make a line of its own.
func quoted(paths []filehost.Path) string {
	if len(paths) == 0 {
		return ""
	}
	return fmt.Sprintf("%q", texts(paths))
}
