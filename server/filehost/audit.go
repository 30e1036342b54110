package filehost

import "context"

// AuditAction is what was done.
type AuditAction string

// The actions.
const (
	AuditList        AuditAction = "list_files"
	AuditThumbnail   AuditAction = "show_thumbnail"
	AuditAttach      AuditAction = "attach_files"
	AuditRefresh     AuditAction = "refresh_files"
	AuditLink        AuditAction = "link_files"
	AuditChangeLink  AuditAction = "change_link"
	AuditUnlink      AuditAction = "remove_link"
	AuditGrant       AuditAction = "grant_access" // at the host, to another user of it
	AuditSave        AuditAction = "save_file"    // at the host
	AuditMakeFolder  AuditAction = "make_folder"
	AuditConnect     AuditAction = "connect"               // a user, by an act of his own
	AuditAutoConnect AuditAction = "connect_automatically" // a user, by none
	AuditDisconnect  AuditAction = "disconnect"            // by the user himself
	AuditRevoke      AuditAction = "revoke"                // by an admin, or because the user was deactivated
	AuditKeyRotation AuditAction = "rotate_key"            // nothing is encrypted with the previous key any more
	AuditReplaceKeys AuditAction = "replace_signing_keys"  // by an admin
)

// AuditOutcome says how far an action got.
type AuditOutcome string

// The outcomes.
const (
	AuditAttempt AuditOutcome = "attempt" // what follows has not begun
	AuditSuccess AuditOutcome = "success"
	AuditFail    AuditOutcome = "fail"
)

// AuditEvent is a line of the audit log. It holds no secret and nothing of a file's content.
type AuditEvent struct {
	Action       AuditAction
	Outcome      AuditOutcome
	ActingUserID string // who did it; "" = the plugin itself
	HostID       string
	Grant        string   // by which access; "" = it is about none
	Account      string   // at the host; "" = unknown
	TargetUserID string   // whose access it is about, where that isn't the acting user's
	Paths        []Path   // what was asked for...
	HostIDs      []string // ...and what of it by ids of the host's
	Failed       []Path   // of these, what was not done although the outcome is a success...
	FailedIDs    []string // ...and what of the ids
	Code         string   // AuditFail: the error's code, as the API has it
}

// Audit is the audit log.
type Audit interface {
	// Record hands an event of the request in ctx to the log. When it returns nil, the log's keeper, which is the
	// Mattermost server, has the event. It fails with NotConfigured, and a remedy for the admin, when the server would
	// keep it nowhere.
	Record(ctx context.Context, event AuditEvent) error
	// CheckAudit fails as Record would, and records nothing.
	CheckAudit(ctx context.Context) error
}

// name adds an entry to what was asked for.
func (e *AuditEvent) name(ref Ref) { appendRef(ref, &e.Paths, &e.HostIDs) }

func (e *AuditEvent) fail(ref Ref) { appendRef(ref, &e.Failed, &e.FailedIDs) }

// appendRef adds an entry to those that are named as it is.
func appendRef(ref Ref, paths *[]Path, hostIDs *[]string) {
	if ref.HostID != "" {
		*hostIDs = append(*hostIDs, ref.HostID)
		return
	}
	*paths = append(*paths, ref.Path)
}
