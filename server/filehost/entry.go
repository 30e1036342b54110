package filehost

import (
	"strings"
	"time"
)

// EntryKind tells files from folders.
type EntryKind string

// The kinds of entry.
const (
	File   EntryKind = "file"
	Folder EntryKind = "folder"
)

// Permission is something that the caller may do with an entry at the host.
type Permission string

// The permissions.
const (
	Read   Permission = "read"
	Write  Permission = "write"
	Delete Permission = "delete"
	Rename Permission = "rename"
	Create Permission = "create" // folders: add files to it
	Share  Permission = "share"
)

// SpaceKind is what kind of space a top-level folder is, at a host that has spaces.
type SpaceKind string

// The kinds of space.
const (
	PersonalSpace SpaceKind = "personal" // the user's own
	ProjectSpace  SpaceKind = "project"  // of several users, and nobody's own
	SharesSpace   SpaceKind = "shares"   // holds what others share with the user
)

// Entry is a file or a folder of the host, as the caller sees it. What it points to is not to be changed.
type Entry struct {
	Path        Path
	HostID      string // the host's own id, which survives rename and move; "" where it has none
	Kind        EntryKind
	Size        int64     // bytes; for a folder what the host counts in it; 0 when it doesn't say
	MIMEType    string    // lower case, no parameters; "" for a folder
	ModifiedAt  time.Time // UTC; zero when the host doesn't say
	ETag        string    // opaque, with its quotes (RFC 9110 8.8.3); "" when the host has none
	Permissions []Permission
	Favorite    *bool // nil when the host doesn't say
	Shared      *bool // nil when the host doesn't say
	Thumbnail   bool
	Tracked     bool      // whatever changes in it, or with it, changes the ETags of the folders that it is in
	Space       SpaceKind // of a top-level folder that is one; "" = it is none
	WebURL      string    // opens the entry in the host's own web interface; "" when there is none
}

// compact frees the texts of an entry from the memory that they share with the rest of the host's answer.
func (e Entry) compact() Entry {
	e.HostID, e.MIMEType, e.ETag, e.WebURL = strings.Clone(e.HostID), strings.Clone(e.MIMEType), strings.Clone(e.ETag), strings.Clone(e.WebURL)
	return e
}

// ID is the opaque id of the entry, which ParseRef reads.
func (e Entry) ID() string { return Ref{e.Path, e.HostID}.ID() }

// Links says what kinds of links the host gives out.
type Links struct {
	Internal    bool `json:"internal"`
	Public      bool `json:"public"`
	Password    bool `json:"password"`
	Expiry      bool `json:"expiry"`
	Permissions bool `json:"permissions"`
}

// Capabilities says what the host can do for the caller; a client hides the rest.
type Capabilities struct {
	Search          bool  `json:"search"`
	Recent          bool  `json:"recent"`
	Favorites       bool  `json:"favorites"`
	Shared          bool  `json:"shared"`
	Thumbnails      bool  `json:"thumbnails"`
	Links           Links `json:"links"`
	Save            bool  `json:"save"`
	StableIDs       bool  `json:"stable_ids"`
	ChangeDetection bool  `json:"change_detection"`
	Spaces          bool  `json:"spaces"` // the top-level folders are spaces: nothing else can be there
}
