package remote

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// saves is how a kind of host takes a file.
type saves int

const (
	byMove        saves = iota // under another name beside it, which it then gets its own in the place of
	byPut                      // by PUT under conditions (RFC 9110 13.1); a file that breaks off leaves nothing
	byPutOrChunks              // the same; a large one in chunks, as Nextcloud has them
	byTUS                      // by TUS 1.0.0
)

const (
	cleanUpTime = 5 * time.Second        // of the removal of the rest of a file, whose own time may be over
	firstWait   = 100 * time.Millisecond // between two looks at what the host is still busy with; each is twice the one before
	longestWait = 5 * time.Second
)

// neverMatches is an ETag that no file has.
const neverMatches = `"filehost-attach: no file"`

// saving is one file on its way to the host.
type saving struct {
	*Client
	credential filehost.Credential
	tree       tree
	file       filehost.NewFile
	target     filehost.Path
	source     *source
}

// Write implements filehost.Writes. An answer that was lost is no failure if the file is there.
func (c *Client) Write(ctx context.Context, credential filehost.Credential, file filehost.NewFile) (filehost.Entry, error) {
	target, ok := file.Folder.Join(file.Name)
	if !ok || len(file.Name) > maxNameBytes {
		return filehost.Entry{}, filehost.Invalid("name", "No file can have this name.")
	}
	tree, err := c.tree(ctx, credential, target)
	if err != nil {
		return filehost.Entry{}, err
	}
	s := &saving{c, credential, tree, file, target, &source{reader: file.Content, left: file.Size}}
	if err = s.send(ctx); err == nil {
		return s.check(ctx)
	}
	if cause := s.source.failure(); cause != nil {
		return filehost.Entry{}, cause
	}
	if entry, arrived := s.arrived(ctx, err); arrived {
		return entry, nil
	}
	if answeredWith(err) == http.StatusInternalServerError { // nginx's answer where the folder is gone
		if _, statErr := s.Stat(ctx, s.credential, s.file.Folder); filehost.KindOf(statErr) == filehost.NotFound {
			return filehost.Entry{}, statErr
		}
	}
	return filehost.Entry{}, s.refused(err)
}

func (s *saving) send(ctx context.Context) error {
	switch {
	case s.profile.saves == byPutOrChunks && s.file.Size > chunkBytes:
		return s.inChunks(ctx)
	case s.profile.saves == byPut, s.profile.saves == byPutOrChunks:
		return s.put(ctx, s.tree.url(s.target, false), s.conditions())
	case s.profile.saves == byTUS:
		return s.byTUS(ctx)
	}
	return s.beside(ctx)
}

// conditions let a request only create a file, or only replace the one that was seen.
func (s *saving) conditions() map[string]string {
	if s.file.Replaces == nil {
		return map[string]string{"If-None-Match": "*"}
	}
	return map[string]string{"If-Match": cmp.Or(filehost.BareETag(s.file.Replaces.ETag), neverMatches)}
}

// put sends the whole file to an address.
func (s *saving) put(ctx context.Context, address string, header map[string]string) error {
	header["Content-Type"] = "application/octet-stream"
	if mediaType, _, err := mime.ParseMediaType(s.file.MIMEType); err == nil {
		header["Content-Type"] = mediaType
	}
	s.dated(header)
	return s.exchange(ctx, call{method: http.MethodPut, url: address, header: header, content: &part{source: s.source, size: s.file.Size}})
}

// dated says when the file was last modified; hosts that don't know the header ignore it.
func (s *saving) dated(header map[string]string) {
	if !s.file.ModifiedAt.IsZero() {
		header["X-OC-Mtime"] = strconv.FormatInt(s.file.ModifiedAt.Unix(), 10)
	}
}

// written are the statuses of what was done.
var written = []int{http.StatusOK, http.StatusCreated, http.StatusNoContent}

// exchange sends a call whose answer has nothing to read.
func (s *saving) exchange(ctx context.Context, call call) error {
	_, err := s.answer(ctx, call)
	return err
}

func (s *saving) answer(ctx context.Context, call call) (http.Header, error) {
	call.credential = &s.credential
	if call.accept == nil {
		call.accept = written
	}
	response, err := s.do(ctx, call)
	if err != nil {
		return nil, err
	}
	if err = response.Body.Close(); err == nil && call.content.unread() > 0 {
		err = s.nonsense(errors.New("it is content before it has had the whole"))
	}
	return response.Header, err
}

// beside saves on hosts of which nothing is known: some heed no condition, and some leave half a file behind when a request
// breaks off. The file is sent under another name, looked at, and moved, which fails if it must not take the place of one.
func (s *saving) beside(ctx context.Context) (err error) {
	name, ok := s.file.Folder.Join(temporaryName())
	if !ok {
		return errors.New("the name of a temporary file is none")
	}
	address := s.tree.url(name, false)
	defer func() {
		if err != nil {
			s.remove(ctx, address)
		}
	}()
	if err = s.put(ctx, address, map[string]string{}); err != nil {
		return err
	}
	there, err := s.Stat(ctx, s.credential, name)
	if err != nil {
		return err
	}
	if there.Size != s.file.Size {
		return s.wrongSize(there)
	}
	if err = s.stillThere(ctx); err != nil {
		return err
	}
	return s.moveFrom(ctx, address)
}

// moveFrom moves what lies beside to the file's own place. A host behind a proxy may not know its own origin, and says so
// (RFC 4918 9.9.4): it is given the place as a path, which Apache doesn't take.
func (s *saving) moveFrom(ctx context.Context, address string) error {
	header := map[string]string{"Destination": s.tree.origin + s.destination(), "Overwrite": s.overwrite()}
	move := call{method: "MOVE", url: address, header: header, patience: listPatience}
	err := s.exchange(ctx, move)
	if answeredWith(err) == http.StatusBadGateway {
		header["Destination"] = s.destination()
		err = s.exchange(ctx, move)
	}
	if answeredWith(err) != 0 && s.file.Replaces == nil { // for a folder in its way, hosts have any status
		if _, statErr := s.Stat(ctx, s.credential, s.target); statErr == nil {
			return s.taken(nil)
		}
	}
	return err
}

// stillThere fails unless what the file is to take the place of is what was seen.
func (s *saving) stillThere(ctx context.Context) error {
	if s.file.Replaces == nil {
		return nil
	}
	now, err := s.Stat(ctx, s.credential, s.target)
	if filehost.KindOf(err) == filehost.NotFound || err == nil && !filehost.SameContent(*s.file.Replaces, now) {
		return s.changed(errors.New("what it replaces is gone, or another"))
	}
	return err
}

// destination is the path of the file's own place (RFC 4918 10.3).
func (s *saving) destination() string { return s.tree.url(s.target, false)[len(s.tree.origin):] }

// overwrite is the header of that name (RFC 4918 10.6).
func (s *saving) overwrite() string {
	if s.file.Replaces == nil {
		return "F"
	}
	return "T"
}

// remove removes what is left of a file. A host may still be writing what it has got of a request that broke off: it is
// done when the host says twice that nothing is there.
func (s *saving) remove(ctx context.Context, address string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), cleanUpTime)
	defer cancel()
	gone := 0
	for wait := firstWait; ctx.Err() == nil; wait *= 2 {
		err := s.exchange(ctx, call{method: http.MethodDelete, url: address})
		if gone++; filehost.KindOf(err) != filehost.NotFound {
			gone = 0
		}
		if gone == 2 || filehost.KindOf(err) == filehost.Forbidden {
			return
		}
		s.pause(ctx, wait)
	}
}

func (s *saving) pause(ctx context.Context, wait time.Duration) {
	select {
	case <-s.clock.After(wait):
	case <-ctx.Done():
	}
}

// check looks at what was saved. A host that has taken fewer or more bytes than were sent keeps none of them.
func (s *saving) check(ctx context.Context) (filehost.Entry, error) {
	entry, err := s.Stat(ctx, s.credential, s.target)
	for wait := firstWait; answeredWith(err) == http.StatusTooEarly && wait < longestWait; wait *= 2 {
		s.pause(ctx, wait)
		entry, err = s.Stat(ctx, s.credential, s.target)
	}
	switch {
	case answeredWith(err) == http.StatusTooEarly: // it has the file, and tells more of it when it has looked into it
		return filehost.Entry{Path: s.target, Kind: filehost.File, Size: s.file.Size, MIMEType: s.file.MIMEType, ModifiedAt: s.file.ModifiedAt}, nil
	case err != nil:
		return filehost.Entry{}, err
	case entry.Kind == filehost.File && entry.Size == s.file.Size:
		return entry, nil
	case s.file.Replaces == nil && filehost.IsStrongETag(entry.ETag):
		match := map[string]string{"If-Match": filehost.BareETag(entry.ETag)}
		_ = s.exchange(ctx, call{method: http.MethodDelete, url: s.tree.url(s.target, false), header: match}) // the error is on its way
	}
	return filehost.Entry{}, s.wrongSize(entry)
}

func (s *saving) wrongSize(entry filehost.Entry) error {
	return filehost.E(filehost.HostUnavailable, s.host.Name+" did not take the whole file; try again.",
		fmt.Errorf("it has %d of %d bytes", entry.Size, s.file.Size))
}

// lost tells whether what has become of a request is open.
func lost(err error) bool {
	kind := filehost.KindOf(err)
	return kind == filehost.Timeout || kind == filehost.HostUnavailable && answeredWith(err) != http.StatusInsufficientStorage
}

// arrived tells whether the file is there although the host's answer was lost, which a large one takes a while to be.
func (s *saving) arrived(ctx context.Context, err error) (filehost.Entry, bool) {
	if !lost(err) || s.source.rest() > 0 {
		return filehost.Entry{}, false
	}
	entry, statErr := s.Stat(ctx, s.credential, s.target)
	same := s.file.Replaces != nil && filehost.SameContent(*s.file.Replaces, entry)
	return entry, statErr == nil && entry.Kind == filehost.File && entry.Size == s.file.Size && !same
}

// refused says what a host's refusal of a file means.
func (s *saving) refused(err error) error {
	name := s.host.Name
	switch answeredWith(err) {
	case http.StatusBadRequest:
		return &filehost.Error{Kind: filehost.InvalidRequest, Field: "name", Message: name + " takes no file of this name.", Err: err}
	case http.StatusForbidden:
		return filehost.E(filehost.Forbidden, name+" does not let your account save this file here.", err)
	case http.StatusNotFound, http.StatusConflict:
		return filehost.E(filehost.NotFound, name+" has no such folder any more.", err)
	case http.StatusPreconditionFailed:
		if s.file.Replaces == nil {
			return s.taken(err)
		}
		return s.changed(err)
	case http.StatusRequestEntityTooLarge:
		return s.tooLarge(name+" takes no file as large as this.", err)
	case http.StatusUnsupportedMediaType:
		return filehost.E(filehost.Forbidden, name+" takes no files like this one.", err)
	case http.StatusInsufficientStorage:
		return s.tooLarge("Your quota at "+name+" leaves no room for the file.", err)
	}
	return err
}

// taken is the error for a name that another entry has.
func (c *Client) taken(cause error) error {
	return filehost.E(filehost.Conflict, c.host.Name+" already has a file or folder of this name there.", cite(cause))
}

func (s *saving) tooLarge(message string, cause error) error {
	return &filehost.Error{Kind: filehost.TooLarge, LimitOwner: filehost.OwnerHost, Actual: s.file.Size, Message: message, Err: cause}
}

// MakeFolder implements filehost.Writes. It looks first: rclone says of a folder that is there that it has made it.
func (c *Client) MakeFolder(ctx context.Context, credential filehost.Credential, path filehost.Path) (filehost.Entry, error) {
	tree, err := c.tree(ctx, credential, path)
	if err != nil {
		return filehost.Entry{}, err
	}
	switch _, err = c.Stat(ctx, credential, path); {
	case err == nil:
		return filehost.Entry{}, c.taken(nil)
	case filehost.KindOf(err) != filehost.NotFound:
		return filehost.Entry{}, err
	}
	response, err := c.do(ctx, call{method: "MKCOL", url: tree.url(path, true), credential: &credential, accept: []int{http.StatusCreated}})
	switch status := answeredWith(err); {
	case status == http.StatusBadRequest, status == http.StatusInternalServerError: // Apache's and OpenCloud's answers below a file
		if parent, statErr := c.Stat(ctx, credential, path.Parent()); statErr == nil && parent.Kind != filehost.Folder {
			err = c.statusError(http.StatusConflict)
		}
	case slices.Contains(thereAlready, status):
		if _, statErr := c.Stat(ctx, credential, path); statErr == nil {
			return filehost.Entry{}, c.taken(err)
		}
	}
	if err != nil {
		return filehost.Entry{}, c.noFolderMade(err)
	}
	if err := response.Body.Close(); err != nil {
		return filehost.Entry{}, err
	}
	return c.Stat(ctx, credential, path)
}

// thereAlready are the statuses for a folder that there is (RFC 4918 9.3.1); Apache redirects to it.
var thereAlready = []int{http.StatusMethodNotAllowed, http.StatusMovedPermanently}

func (c *Client) noFolderMade(err error) error {
	status, name := answeredWith(err), c.host.Name
	switch {
	case status == http.StatusConflict, slices.Contains(thereAlready, status): // below a file, x/net/webdav has the latter
		return filehost.E(filehost.NotFound, name+" has no such folder to make it in.", err)
	case status == http.StatusBadRequest:
		return &filehost.Error{Kind: filehost.InvalidRequest, Field: "name", Message: name + " takes no folder of this name.", Err: err}
	case status == http.StatusForbidden:
		return filehost.E(filehost.Forbidden, name+" does not let your account make a folder here.", err)
	case status == http.StatusInsufficientStorage:
		return &filehost.Error{Kind: filehost.TooLarge, LimitOwner: filehost.OwnerHost, Message: "Your quota at " + name + " leaves no room for a folder.", Err: err}
	}
	return err
}
