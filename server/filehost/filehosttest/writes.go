package filehosttest

import (
	"context"
	"io"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// owned is what a user may do with what he has made.
var owned = []filehost.Permission{filehost.Read, filehost.Write, filehost.Delete, filehost.Rename, filehost.Create}

// BeforeWrite sets what happens before each file is saved.
func (r *Remote) BeforeWrite(happens func(filehost.NewFile)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.written = happens
}

// Write implements filehost.Writes.
func (r *Remote) Write(_ context.Context, credential filehost.Credential, file filehost.NewFile) (filehost.Entry, error) {
	if _, err := r.entry(credential, file.Folder); err != nil {
		return filehost.Entry{}, err
	}
	r.mu.Lock()
	happens := r.written
	r.mu.Unlock()
	if happens != nil {
		happens(file)
	}
	content, err := io.ReadAll(file.Content)
	if err != nil {
		return filehost.Entry{}, err
	}
	path, _ := file.Folder.Join(file.Name)
	there, err := r.entry(credential, path)
	switch {
	case filehost.KindOf(err) == filehost.CredentialRejected:
		return filehost.Entry{}, err
	case err == nil && file.Replaces == nil:
		return filehost.Entry{}, filehost.E(filehost.Conflict, "The name is taken.", nil)
	case file.Replaces != nil && (err != nil || there.ETag != file.Replaces.ETag):
		return filehost.Entry{}, filehost.E(filehost.Changed, "The file changed.", err)
	case int64(len(content)) != file.Size:
		return filehost.Entry{}, filehost.E(filehost.Internal, "The file has another size.", nil)
	}
	r.AddFile(path.String(), content, file.ModifiedAt)
	r.Change(path.String(), func(entry *filehost.Entry) { entry.Permissions, entry.MIMEType = owned, file.MIMEType })
	return r.entry(credential, path)
}

// MakeFolder implements filehost.Writes.
func (r *Remote) MakeFolder(_ context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	if _, err := r.entry(credential, path.Parent()); err != nil {
		return filehost.Entry{}, err
	}
	if _, err := r.entry(credential, path); err == nil {
		return filehost.Entry{}, filehost.E(filehost.Conflict, "The name is taken.", nil)
	}
	r.add(filehost.Entry{Path: path, Kind: filehost.Folder, Permissions: owned, ModifiedAt: time.Unix(1_700_000_000, 0).UTC()})
	return r.entry(credential, path)
}

// Content returns what the host has of a file; nil = nothing.
func (r *Remote) Content(raw string) []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	if file := r.content[MustPath(raw)]; file != nil {
		return file.Bytes
	}
	return nil
}
