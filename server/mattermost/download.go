package mattermost

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	maxBuffered  = 50 << 20         // bytes of a file that is read at once, and not as a stream
	stalledAfter = 30 * time.Second // without a byte of the server's own
)

// OpenFile implements filehost.Mattermost: through the server's own route under a short session of the user, so that the
// server's checks and the plugins that guard downloads all have their say. When that route can't be reached and the admin
// allows it, through the plugin API, which gives the whole file at once: one at a time on this node.
func (s *Server) OpenFile(ctx context.Context, userID, fileID string) (filehost.StoredFile, error) {
	if !model.IsValidId(fileID) {
		return filehost.StoredFile{}, filehost.Invalid("file_id", "file_id must be the id of a file.")
	}
	route, err := s.route(ctx)
	switch {
	case err == nil:
		return s.openByREST(ctx, route, userID, fileID)
	case s.AllowUnscanned:
		return s.openBuffered(ctx, userID, fileID)
	default:
		return filehost.StoredFile{}, filehost.E(filehost.NotConfigured, "The plugin can't reach Mattermost's own routes; tell your system admin, whose health page has the remedy.", err)
	}
}

// openByREST asks the server for the content first: what it refuses, nobody is told the size of.
func (s *Server) openByREST(ctx context.Context, route *uploadRoute, userID, fileID string) (file filehost.StoredFile, err error) {
	session, err := s.openSession(ctx, userID)
	if err != nil {
		return file, err
	}
	body := &download{server: s, session: session}
	defer func() {
		if err != nil {
			_ = body.Close()
		}
	}()
	if err = body.open(ctx, route, fileID); err != nil {
		return file, err
	}
	info, err := s.readable(userID, fileID)
	if err != nil {
		return file, err
	}
	if length := body.response.ContentLength; length != info.Size {
		return file, errors.Errorf("download: the server gives %d bytes of a file of %d", length, info.Size)
	}
	return storedFile(info, body), nil
}

// download is the content of a file on its way from the server's own route.
type download struct {
	server   *Server
	session  *model.Session
	response *http.Response
	timer    clockwork.Timer
	cancel   context.CancelFunc
	once     sync.Once
}

func (d *download) open(ctx context.Context, route *uploadRoute, fileID string) error {
	ctx, d.cancel = context.WithCancel(ctx)
	d.timer = d.server.Clock.AfterFunc(stalledAfter, d.cancel)
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, route.base+"/api/v4/files/"+fileID, nil)
	if err != nil {
		return errors.Wrap(err, "download")
	}
	request.Header.Set("Authorization", model.HeaderBearer+" "+d.session.Token)
	request.Header.Set("Accept-Encoding", "identity")
	response, err := route.client.Do(request) //nolint:bodyclose // Close does it
	d.timer.Stop()
	if err != nil {
		return errors.Wrap(err, "download")
	}
	d.response = response
	if response.StatusCode == http.StatusOK {
		return nil
	}
	answer, _ := io.ReadAll(io.LimitReader(response.Body, 1<<20)) // a part of it says less, and that is all
	return d.server.denied(response.StatusCode, answer)
}

// denied turns the server's refusal to give a file into an error.
func (s *Server) denied(status int, answer []byte) error {
	var appErr model.AppError
	if json.Unmarshal(answer, &appErr) != nil {
		appErr = model.AppError{}
	}
	cause := errors.Errorf("download: the server answered %d %s", status, appErr.Id)
	switch status {
	case http.StatusNotFound:
		return filehost.E(filehost.NotFound, "Mattermost has no such file.", cause)
	case http.StatusForbidden:
		return filehost.E(filehost.Forbidden, "You may not read this file in Mattermost.", cause)
	case http.StatusTooManyRequests:
		return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: busyRetry, Message: "Mattermost takes no more requests at the moment; try again in a few seconds.", Err: cause}
	}
	return cause
}

// Read implements io.Reader.
func (d *download) Read(buffer []byte) (int, error) {
	d.timer.Reset(stalledAfter)
	n, err := d.response.Body.Read(buffer)
	d.timer.Stop()
	if err != nil && !errors.Is(err, io.EOF) {
		err = filehost.E(filehost.Internal, "Mattermost did not give the whole file; try again.", errors.Wrap(err, "download"))
	}
	return n, err
}

// Close implements io.Closer: it ends the session, too.
func (d *download) Close() error {
	d.once.Do(func() {
		if d.timer != nil {
			d.timer.Stop()
			d.cancel()
		}
		if d.response != nil {
			_ = d.response.Body.Close() // what is left of it is of no use
		}
		d.server.closeSession(d.session)
	})
	return nil
}

// readable returns what the server knows of a file that the user may be given: one of his own, or one that a post has. The
// server itself gives members of a channel also what others have uploaded there and not posted, and for a moment what a
// post had that is deleted.
func (s *Server) readable(userID, fileID string) (*model.FileInfo, error) {
	gone := func(cause error) error { return filehost.E(filehost.NotFound, "Mattermost has no such file.", cause) }
	info, appErr := s.API.GetFileInfo(fileID)
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusNotFound:
		return nil, gone(appErr)
	case appErr != nil:
		return nil, errors.Wrap(appErr, "read a file info")
	case info == nil:
		return nil, errNoAnswer
	case info.DeleteAt != 0:
		return nil, gone(nil)
	case info.PostId == "" && info.CreatorId != userID && info.CreatorId != model.BookmarkFileOwner:
		return nil, gone(errors.New("another user has not posted it yet"))
	case info.PostId == "":
		return info, nil
	}
	post, appErr := s.API.GetPost(info.PostId)
	switch {
	case appErr != nil && appErr.StatusCode == http.StatusNotFound:
		return nil, gone(appErr)
	case appErr != nil:
		return nil, errors.Wrap(appErr, "read the post of a file")
	case post == nil:
		return nil, errNoAnswer
	case post.DeleteAt != 0:
		return nil, gone(errors.New("its post is deleted"))
	}
	return info, nil
}

// openBuffered reads a whole file. The plugin API asks for no permission.
func (s *Server) openBuffered(ctx context.Context, userID, fileID string) (filehost.StoredFile, error) {
	info, err := s.readable(userID, fileID)
	if err != nil {
		return filehost.StoredFile{}, err
	}
	if err = s.mayRead(userID, info); err != nil {
		return filehost.StoredFile{}, err
	}
	if info.Size > maxBuffered {
		return filehost.StoredFile{}, &filehost.Error{Kind: filehost.TooLarge, Field: "file_id", Limit: maxBuffered, LimitOwner: filehost.OwnerPlugin, Actual: info.Size,
			Message: "The file is larger than the 50 MiB that can be saved while the plugin can't reach Mattermost's own routes; tell your system admin."}
	}
	select {
	case s.buffer <- struct{}{}:
	case <-ctx.Done():
		return filehost.StoredFile{}, errors.Wrap(ctx.Err(), "wait for the other files that are saved")
	}
	leave := sync.OnceFunc(func() { <-s.buffer })
	content, appErr := s.API.GetFile(fileID)
	if appErr != nil {
		leave()
		return filehost.StoredFile{}, classify(appErr, "Mattermost could not give the file; try again.")
	}
	if int64(len(content)) != info.Size {
		leave()
		return filehost.StoredFile{}, errors.Errorf("download: the plugin API gives %d bytes of a file of %d", len(content), info.Size)
	}
	return storedFile(info, &buffered{bytes.NewReader(content), leave}), nil
}

// mayRead fails unless the user has uploaded the file or is a member of its channel who may read it.
func (s *Server) mayRead(userID string, info *model.FileInfo) error {
	if info.CreatorId == userID {
		return nil
	}
	refused := func(cause error) error {
		return filehost.E(filehost.Forbidden, "You may not read this file in Mattermost.", cause)
	}
	if _, appErr := s.API.GetChannelMember(info.ChannelId, userID); appErr != nil {
		return refused(appErr)
	}
	if !s.API.HasPermissionToChannel(userID, info.ChannelId, model.PermissionReadChannelContent) {
		return refused(errors.New("lacks " + model.PermissionReadChannelContent.Id))
	}
	return nil
}

// buffered is a file in memory.
type buffered struct {
	*bytes.Reader
	leave func()
}

// Close implements io.Closer.
func (b *buffered) Close() error {
	b.Reader = bytes.NewReader(nil)
	b.leave()
	return nil
}

func storedFile(info *model.FileInfo, content io.ReadCloser) filehost.StoredFile {
	return filehost.StoredFile{ReadCloser: content, Name: info.Name, Size: info.Size, MIMEType: info.MimeType, CreatedAt: time.UnixMilli(info.CreateAt)}
}
