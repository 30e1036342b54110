// Package remotetest is what a file host must do for the plugin: one suite that every kind of host passes through
// filehost.Remote, whatever it is asked through.
package remotetest

import (
	"context"
	"errors"
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ErrRefused is in the error of Files for what the host doesn't take, such as a name.
var ErrRefused = errors.New("the host refuses it")

// Files changes what a host has, beside the client that is tested.
type Files interface {
	// MakeFolder makes a folder in one that exists.
	MakeFolder(ctx context.Context, path filehost.Path) error
	// Write makes a file in a folder that exists, or replaces its content.
	Write(ctx context.Context, path filehost.Path, content []byte) error
	// Remove removes a file, or a folder with all that is in it.
	Remove(ctx context.Context, path filehost.Path) error
}

// Transport is what a client's requests go through.
type Transport = func(next http.RoundTripper) http.RoundTripper

// Host is a running file host.
type Host struct {
	// Client makes a client of the host, whose requests go through a transport of the test's; nil = through none.
	Client     func(through Transport) filehost.Remote
	Credential filehost.Credential // of the user whose files these are; scheme Basic
	Stranger   string              // another user's account; "" = no path names a user
	Guest      string              // an account that shares can be made with; "" = none
	Files      Files
	Folder     filehost.Path // is there, empty, and the suite's own
	Many       int           // entries of the largest folder, at least 10
	Big        int           // bytes of the largest file
	// Forbid takes a folder away from the server itself; nil = it can't be done here.
	Forbid func(path filehost.Path) error
	// Lend has another user share a file of this name and content with the suite's, to be looked at; nil = it can't be done
	// here. The function that it returns takes it back.
	Lend   func(name, content string) (back func(), err error)
	Limits Limits
	// Known = the Limits are all that the host has. Else what it can't do is taken as a limit of its own, and told.
	Known bool
}

// Limits are what a host can't do, or does in its own way.
type Limits struct {
	RefusedNames []string              // of Names, those that nothing can have
	Hidden       []string              // of Names, those that no listing has, though they are there
	Unreadable   []string              // of Names, those of which a file is listed but can't be had
	Composed     bool                  // names come back in NFC
	Pages        bool                  // listings come in parts
	NoETags      bool                  // listings tell no ETag: a change is told by size and time
	Tracks       bool                  // a folder's ETag tells of all changes below it
	NoParts      bool                  // nothing tells that the rest of a file is of the same file, or it gives none
	File, Folder []filehost.Permission // what a user may do with his own
	Foreign      filehost.Kind         // what a stranger's files answer
	Forbidden    filehost.Kind         // what a folder answers that the server itself may not read
	LinkPassword bool                  // a public link needs one
	NoFileEdits  bool                  // no public link lets people edit a file
	Unsavable    []string              // of Names, those that no file is saved under
	Dates        bool                  // a file that is saved keeps its time
	Capabilities filehost.Capabilities
}
