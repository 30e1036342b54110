package filehost

import (
	"context"
	"io"
	"time"
)

// NewFile is a file on its way to the host.
type NewFile struct {
	Folder     Path
	Name       string
	Size       int64 // bytes, exact
	MIMEType   string
	ModifiedAt time.Time // zero = now
	Content    io.Reader
	// Replaces is the entry that it takes the place of, as it was seen; nil = there must be none of that name.
	Replaces *Entry
}

// Writes changes what the host has.
type Writes interface {
	// Write saves a file and returns it as the host has it then. It holds a constant amount of memory. It fails with
	// Conflict when there is an entry of that name and it replaces none, with Changed when the one that it replaces is
	// another by now, and leaves no part of a file behind under that name.
	Write(ctx context.Context, credential Credential, file NewFile) (Entry, error)
	// MakeFolder makes a folder in one that exists. It fails with Conflict when there is an entry of that name.
	MakeFolder(ctx context.Context, credential Credential, path Path) (Entry, error)
}
