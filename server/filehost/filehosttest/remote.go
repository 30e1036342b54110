package filehosttest

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Remote is a file host in memory. It accepts one credential at a time, whoever the user is.
type Remote struct {
	filehost.Thumbnails // a test's own; nil = the test asks for none
	filehost.Shares

	mu      sync.Mutex
	order   []filehost.Path
	entries map[filehost.Path]filehost.Entry
	content map[filehost.Path]*File
	accepts string // a credential's generation; "" = any
	calls   int
	paged   bool
	kept    map[string][]filehost.Entry // listings that are given in parts, by name
	parted  func()
	offers  filehost.Capabilities
	parts   bool                   // it gives parts of files
	written func(filehost.NewFile) // happens before a file is saved
	lists   int
	open    int // readings of files that are not closed
}

// File is the content of a file and how reading it goes.
type File struct {
	Bytes   []byte
	Opened  func()    // called when a copy begins
	Read    func()    // called when all bytes have been read
	Failure error     // ends the stream instead of its end
	Gate    chan bool // a read waits until it is closed
	Breaks  []int     // at how many bytes of the file one reading after the other breaks off
	Broke   func()    // called when one has
	Break   error     // what it has; nil = the host is away
	Tag     string    // of the answers by which it is opened; "" = the entry's
	Resumed func()    // called when the rest of it is opened
}

// broken is where the next reading breaks off; the length of the file if it doesn't.
func (f *File) broken() int {
	if len(f.Breaks) == 0 {
		return len(f.Bytes)
	}
	at := f.Breaks[0]
	f.Breaks = f.Breaks[1:]
	return at
}

// NewRemote returns a host with an empty root.
func NewRemote() *Remote {
	r := &Remote{entries: map[filehost.Path]filehost.Entry{}, content: map[filehost.Path]*File{}, kept: map[string][]filehost.Entry{}}
	r.entries[filehost.Root] = filehost.Entry{Kind: filehost.Folder, ETag: `"root"`, Permissions: []filehost.Permission{filehost.Read}}
	return r
}

// MustPath is the path of a test's literal.
func MustPath(raw string) filehost.Path {
	path, err := filehost.ParsePath("path", raw)
	if err != nil {
		panic(err)
	}
	return path
}

// AddFolder adds a folder. Its parent isn't asked for.
func (r *Remote) AddFolder(raw string) {
	r.add(filehost.Entry{Path: MustPath(raw), Kind: filehost.Folder})
}

// AddFile adds or replaces a file whose ETag follows from its content and time.
func (r *Remote) AddFile(raw string, content []byte, modified time.Time) *File {
	file := &File{Bytes: content}
	path := MustPath(raw)
	r.add(filehost.Entry{Path: path, Kind: filehost.File, Size: int64(len(content)), MIMEType: "text/plain", ModifiedAt: modified,
		ETag: fmt.Sprintf(`"%d-%d"`, len(content), modified.Unix()), Permissions: []filehost.Permission{filehost.Read}})
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content[path] = file
	return file
}

// File is the content of the file at a path.
func (r *Remote) File(raw string) *File {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.content[MustPath(raw)]
}

// Change changes the entry at a path.
func (r *Remote) Change(raw string, change func(*filehost.Entry)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	entry := r.entries[MustPath(raw)]
	change(&entry)
	r.entries[entry.Path] = entry
}

// Remove removes the entry at a path.
func (r *Remote) Remove(raw string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	path := MustPath(raw)
	delete(r.entries, path)
	r.order = slices.DeleteFunc(r.order, func(each filehost.Path) bool { return each == path })
}

// Accept makes the host reject every credential but that of a generation.
func (r *Remote) Accept(generation string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accepts = generation
}

// Calls is the number of calls that carried a credential.
func (r *Remote) Calls() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.calls
}

func (r *Remote) add(entry filehost.Entry) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, known := r.entries[entry.Path]; !known {
		r.order = append(r.order, entry.Path)
	}
	r.entries[entry.Path] = entry
}

func (r *Remote) entry(credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.calls++
	if r.accepts != "" && credential.Generation != r.accepts {
		return filehost.Entry{}, filehost.E(filehost.CredentialRejected, "The host rejected the credential.", nil)
	}
	entry, ok := r.entries[path]
	if !ok {
		return filehost.Entry{}, filehost.E(filehost.NotFound, "There is no such file.", nil)
	}
	return entry, nil
}

// Stat implements filehost.Remote.
func (r *Remote) Stat(ctx context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	if ctx.Err() != nil {
		return filehost.Entry{}, filehost.E(filehost.Timeout, "The host took too long.", ctx.Err())
	}
	return r.entry(credential, path)
}

// StatID implements filehost.Remote. The entries with ids are those that Change has given one.
func (r *Remote) StatID(ctx context.Context, credential filehost.Credential, hostID string) (filehost.Entry, error) {
	return r.Stat(ctx, credential, r.pathOf(hostID))
}

func (r *Remote) pathOf(hostID string) filehost.Path {
	r.mu.Lock()
	defer r.mu.Unlock()
	for path, entry := range r.entries {
		if entry.HostID == hostID {
			return path
		}
	}
	return MustPath("/no such id")
}

// Move gives an entry another path, and leaves it its id.
func (r *Remote) Move(from, to string) {
	r.mu.Lock()
	entry, content := r.entries[MustPath(from)], r.content[MustPath(from)]
	r.mu.Unlock()
	r.Remove(from)
	entry.Path = MustPath(to)
	r.add(entry)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.content[entry.Path] = content
}

// Lists is how many folders were listed.
func (r *Remote) Lists() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.lists
}

// List implements filehost.Remote.
func (r *Remote) List(_ context.Context, credential filehost.Credential, folder filehost.Path, each func(filehost.Entry) error) (filehost.Entry, error) {
	r.mu.Lock()
	r.lists++
	r.mu.Unlock()
	self, err := r.entry(credential, folder)
	if err != nil || self.Kind != filehost.Folder {
		return self, firstError(err, filehost.Invalid("path", "This is no folder."))
	}
	for _, entry := range r.children(folder) {
		if err := each(entry); err != nil {
			return filehost.Entry{}, err
		}
	}
	return self, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

func (r *Remote) children(folder filehost.Path) []filehost.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var children []filehost.Entry
	for _, path := range r.order {
		entry, ok := r.entries[path]
		if child, valid := folder.Join(path.Name()); ok && valid && child == path {
			children = append(children, entry)
		}
	}
	return children
}

// Offer says what the host can do.
func (r *Remote) Offer(capabilities filehost.Capabilities) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.offers = capabilities
}

// Find implements filehost.Remote: by name, recent files, or the favorites.
func (r *Remote) Find(ctx context.Context, credential filehost.Credential, query filehost.Query, each func(filehost.Entry) error) (bool, error) {
	if _, err := r.Stat(ctx, credential, query.Folder); err != nil {
		return false, err
	}
	found := r.below(query)
	for _, entry := range found[:min(len(found), query.Most)] {
		if err := each(entry); err != nil {
			return false, err
		}
	}
	return len(found) > query.Most, nil
}

func (r *Remote) below(query filehost.Query) []filehost.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	var found []filehost.Entry
	for _, path := range r.order {
		entry := r.entries[path]
		named := strings.Contains(strings.ToLower(path.Name()), strings.ToLower(query.Text))
		marked := query.View != filehost.Favorites || entry.Favorite != nil && *entry.Favorite
		viewed := query.View != filehost.Recent || entry.Kind == filehost.File
		if path.IsBelow(query.Folder) && named && marked && viewed {
			found = append(found, entry)
		}
	}
	return found
}

// Page makes the host give listings in parts, in the order in which the entries were added.
func (r *Remote) Page() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.paged = true
}

// ForgetListings makes the host drop the listings that it keeps.
func (r *Remote) ForgetListings() {
	r.mu.Lock()
	defer r.mu.Unlock()
	clear(r.kept)
}

// AfterPart sets what happens after each part.
func (r *Remote) AfterPart(happens func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parted = happens
}

// ListPart implements filehost.Remote.
func (r *Remote) ListPart(ctx context.Context, credential filehost.Credential, folder filehost.Path, part filehost.Part, begin filehost.Begin) (filehost.Entry, error) {
	if !r.paged {
		each, err := begin(filehost.Parts{})
		if err != nil {
			return filehost.Entry{}, err
		}
		return r.List(ctx, credential, folder, func(entry filehost.Entry) error { return each(entry, 0) })
	}
	self, err := r.entry(credential, folder)
	if err != nil || self.Kind != filehost.Folder {
		return self, firstError(err, filehost.Invalid("path", "This is no folder."))
	}
	parts, rows, err := r.rows(self, part)
	if err != nil {
		return filehost.Entry{}, err
	}
	each, err := begin(parts)
	for i := part.Offset; err == nil && i < min(part.Offset+part.Rows, len(rows)); i++ {
		if i > 0 { // the folder itself is the first row
			err = each(rows[i], i+1)
		}
	}
	if r.parted != nil {
		r.parted()
	}
	if err != nil || part.Listing != "" {
		return filehost.Entry{}, err
	}
	return self, nil
}

func (r *Remote) rows(folder filehost.Entry, part filehost.Part) (filehost.Parts, []filehost.Entry, error) {
	children := r.children(folder.Path)
	r.mu.Lock()
	defer r.mu.Unlock()
	if part.Listing != "" {
		rows, ok := r.kept[part.Listing]
		if !ok || len(rows) != part.Total {
			return filehost.Parts{}, nil, filehost.E(filehost.Changed, "The listing is not kept.", nil)
		}
		return filehost.Parts{Paged: true, Listing: part.Listing, Total: len(rows)}, rows, nil
	}
	rows := append([]filehost.Entry{folder}, children...)
	if len(rows) <= part.Rows {
		return filehost.Parts{Paged: true}, rows, nil
	}
	name := fmt.Sprintf("listing %d", r.calls)
	r.kept[name] = rows
	return filehost.Parts{Paged: true, Listing: name, Total: len(rows)}, rows, nil
}

// Open implements filehost.Remote.
func (r *Remote) Open(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (filehost.Content, error) {
	now, err := r.entry(credential, entry.Path)
	if err != nil {
		return filehost.Content{}, err
	}
	if now.ETag != entry.ETag {
		return filehost.Content{}, filehost.E(filehost.Changed, "The file changed.", nil)
	}
	r.mu.Lock()
	file := r.content[entry.Path]
	r.mu.Unlock()
	if file.Opened != nil {
		file.Opened()
	}
	return r.stream(ctx, file, now, 0), nil
}

func (r *Remote) stream(ctx context.Context, file *File, now filehost.Entry, offset int64) filehost.Content {
	r.mu.Lock()
	defer r.mu.Unlock()
	end := max(file.broken(), int(offset))
	left := &stream{remote: r, ctx: ctx, file: file, left: bytes.NewReader(file.Bytes[offset:end]), whole: end == len(file.Bytes)}
	r.open++
	return filehost.Content{ReadCloser: left, Size: now.Size - offset, ETag: cmp.Or(file.Tag, now.ETag)}
}

// OpenFiles is how many readings of files were not closed.
func (r *Remote) OpenFiles() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.open
}

// stream is one reading of a File.
type stream struct {
	remote *Remote
	ctx    context.Context //nolint:containedctx // io.Reader has no other way to be cancelled
	file   *File
	left   *bytes.Reader
	whole  bool // it doesn't break off
	closed bool
}

// Close implements io.Closer.
func (s *stream) Close() error {
	s.remote.mu.Lock()
	defer s.remote.mu.Unlock()
	if !s.closed {
		s.closed = true
		s.remote.open--
	}
	return nil
}

func (s *stream) Read(buffer []byte) (int, error) {
	if s.file.Gate != nil {
		select {
		case <-s.file.Gate:
		case <-s.ctx.Done():
			return 0, filehost.E(filehost.Timeout, "The request was cancelled.", s.ctx.Err())
		}
	}
	n, err := s.left.Read(buffer)
	if err != nil && !s.whole {
		if s.file.Broke != nil {
			s.file.Broke()
		}
		if s.file.Break != nil {
			return n, s.file.Break
		}
		return n, filehost.E(filehost.HostUnavailable, "The host ended the file early.", io.ErrUnexpectedEOF)
	}
	if err != nil && s.file.Failure != nil {
		return n, s.file.Failure
	}
	if err != nil && s.file.Read != nil {
		s.file.Read()
	}
	return n, err
}

// GiveParts makes the host give parts of files.
func (r *Remote) GiveParts() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = true
}

// OpenFrom implements filehost.Remote.
func (r *Remote) OpenFrom(ctx context.Context, credential filehost.Credential, entry filehost.Entry, offset int64) (filehost.Content, error) {
	now, err := r.entry(credential, entry.Path)
	r.mu.Lock()
	parts, file := r.parts, r.content[entry.Path]
	r.mu.Unlock()
	switch {
	case err != nil:
		return filehost.Content{}, err
	case !parts || !filehost.IsStrongETag(entry.ETag):
		return filehost.Content{}, filehost.E(filehost.Unsupported, "The host gives no parts of files.", nil)
	case offset < 1 || offset >= now.Size:
		return filehost.Content{}, filehost.E(filehost.Internal, "There is no such part.", nil)
	case cmp.Or(file.Tag, now.ETag) != entry.ETag:
		return filehost.Content{}, filehost.E(filehost.Changed, "The file changed.", nil)
	}
	if file.Resumed != nil {
		file.Resumed()
	}
	return r.stream(ctx, file, now, offset), nil
}

// Account implements filehost.Remote.
func (r *Remote) Account(context.Context, filehost.Credential) (string, error) { return "account", nil }

// Capabilities implements filehost.Remote.
func (r *Remote) Capabilities(context.Context, filehost.Credential) filehost.Capabilities {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.offers
}

// Check implements filehost.Remote.
func (r *Remote) Check(context.Context) error { return nil }
