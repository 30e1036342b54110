package mattermost

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// sessionMargin is how long an upload's session outlives its deadline, for clocks that differ between nodes.
const sessionMargin = time.Minute

// Upload implements filehost.Mattermost: through the server's own upload route under a short session of the user, so that
// the server's checks, previews and scanning plugins all see the file. When that route can't be reached and the admin
// allows it, through the plugin API's upload session.
func (s *Server) Upload(ctx context.Context, upload filehost.Upload) (string, error) {
	route, err := s.route(ctx)
	switch {
	case err == nil:
		return s.uploadByREST(ctx, route, upload)
	case s.AllowUnscanned:
		return s.uploadBySession(ctx, upload)
	default:
		return "", filehost.E(filehost.Internal, "The plugin can't reach Mattermost's upload route; tell your system admin, whose health page has the remedy.", err)
	}
}

// CheckUploads implements filehost.Mattermost. It also finds the route again when the one in use is gone.
func (s *Server) CheckUploads(ctx context.Context) error {
	s.routes.mu.Lock()
	s.routes.known = nil
	s.routes.mu.Unlock()
	if _, err := s.route(ctx); err != nil {
		return filehost.E(filehost.Internal, "The plugin can't reach Mattermost's own upload route, neither at ServiceSettings.ListenAddress nor at SiteURL. "+
			"Make one of the two reachable from the machine that runs Mattermost (address, certificate, proxy), or allow copies that no plugin scans.", err)
	}
	return nil
}

func (s *Server) uploadByREST(ctx context.Context, route *uploadRoute, upload filehost.Upload) (string, error) {
	session, err := s.openSession(ctx, upload.UserID)
	if err != nil {
		return "", err
	}
	defer s.closeSession(session)
	target := route.base + "/api/v4/files?" + url.Values{"channel_id": {upload.ChannelID}, "filename": {upload.Name}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, io.NopCloser(upload.Content))
	if err != nil {
		return "", errors.Wrap(err, "upload")
	}
	request.ContentLength = upload.Size
	request.Header.Set("Authorization", model.HeaderBearer+" "+session.Token)
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := route.client.Do(request)
	if err != nil {
		return "", errors.Wrap(err, "upload")
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return "", errors.Wrap(err, "upload: read the answer")
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return "", refused(response.StatusCode, answer)
	}
	var uploaded model.FileUploadResponse
	if err = json.Unmarshal(answer, &uploaded); err != nil || len(uploaded.FileInfos) != 1 {
		return "", errors.Errorf("upload: %d answered with %d file infos", response.StatusCode, len(uploaded.FileInfos))
	}
	return s.whole(uploaded.FileInfos[0], upload)
}

// whole returns the id of an uploaded file whose size is right; a scanning plugin may have replaced the content, which
// is its right, but an empty one was not accepted.
func (s *Server) whole(info *model.FileInfo, upload filehost.Upload) (string, error) {
	if info.CreatorId != upload.UserID || info.Size == 0 {
		return "", errors.Errorf("upload: file info has %d bytes and belongs to %q", info.Size, info.CreatorId)
	}
	return info.Id, nil
}

func (s *Server) openSession(ctx context.Context, userID string) (*model.Session, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil, errors.New("an upload needs a deadline")
	}
	session, appErr := s.API.CreateSession(&model.Session{
		UserId:    userID,
		ExpiresAt: deadline.Add(sessionMargin).UnixMilli(),
		Props:     model.StringMap{model.SessionPropPlatform: "filehost-attach", model.SessionPropBrowser: "filehost-attach"},
	})
	if appErr != nil {
		return nil, errors.Wrap(appErr, "open a session for an upload")
	}
	return session, nil
}

func (s *Server) closeSession(session *model.Session) {
	if appErr := s.API.RevokeSession(session.Id); appErr != nil {
		s.API.LogWarn("A session of an upload could not be revoked; it expires by itself.", "error", appErr.Error())
	}
}

// refused turns the server's answer into an error. Mattermost's messages are made for its users.
func refused(status int, answer []byte) error {
	var appErr model.AppError
	if json.Unmarshal(answer, &appErr) != nil || appErr.Message == "" {
		return errors.Errorf("upload: the server answered %d", status)
	}
	cause := errors.Errorf("upload: the server answered %d %s", status, appErr.Id)
	switch {
	case status == http.StatusRequestEntityTooLarge || appErr.Id == "api.file.upload_file.large_image_detailed.app_error":
		return &filehost.Error{Kind: filehost.TooLarge, LimitOwner: filehost.OwnerMattermost, Message: appErr.Message, Err: cause}
	case status == http.StatusForbidden || status == http.StatusBadRequest:
		return filehost.E(filehost.Forbidden, appErr.Message, cause)
	}
	return cause
}
