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
func (s *Server) Upload(ctx context.Context, upload filehost.Upload) (filehost.FileInfo, error) {
	route, err := s.route(ctx)
	switch {
	case err == nil:
		return s.uploadByREST(ctx, route, upload)
	case s.AllowUnscanned:
		return s.uploadBySession(ctx, upload)
	default:
		return filehost.FileInfo{}, filehost.E(filehost.NotConfigured, "The plugin can't reach Mattermost's upload route; tell your system admin, whose health page has the remedy.", err)
	}
}

// CheckUploads implements filehost.Mattermost. It also finds another route when the one in use is gone.
func (s *Server) CheckUploads(ctx context.Context) error {
	_, err := s.findRoute(ctx)
	switch {
	case err == nil:
		return s.checkStoreTime(ctx)
	case s.AllowUnscanned:
		return &filehost.Degraded{Remedy: "Copies work, but no plugin that scans uploads sees them, because " + routeRemedy(err), Err: err}
	default:
		return filehost.E(filehost.Internal, "Copies are refused, because "+routeRemedy(err)+" Or switch “"+filehost.LabelAllowUnscanned+"” on in the plugin's settings.", err)
	}
}

// routeRemedy says what the tries to find a route have met. The words are those of our own process and of this server's
// own addresses.
func routeRemedy(err error) string {
	return "the plugin can't reach Mattermost's own upload route: " + err.Error() +
		". Make one of the two addresses reachable from the machine that runs Mattermost (System Console, Environment, Web Server)."
}

func (s *Server) uploadByREST(ctx context.Context, route *uploadRoute, upload filehost.Upload) (filehost.FileInfo, error) {
	session, err := s.openSession(ctx, upload.UserID)
	if err != nil {
		return filehost.FileInfo{}, err
	}
	defer s.closeSession(session)
	began := s.Clock.Now()
	answer, err := s.send(ctx, route, session, upload)
	if err != nil {
		return filehost.FileInfo{}, s.outOfStoreTime(began, err)
	}
	var uploaded struct {
		FileInfos []json.RawMessage `json:"file_infos"`
	}
	if err = json.Unmarshal(answer, &uploaded); err != nil || len(uploaded.FileInfos) != 1 {
		return filehost.FileInfo{}, errors.Errorf("upload: answered with %d file infos", len(uploaded.FileInfos))
	}
	var info model.FileInfo
	if err = json.Unmarshal(uploaded.FileInfos[0], &info); err != nil {
		return filehost.FileInfo{}, errors.Wrap(err, "upload: read the file info")
	}
	return accepted(&info, uploaded.FileInfos[0], upload)
}

// send posts the file to the server's own route and returns its answer.
func (s *Server) send(ctx context.Context, route *uploadRoute, session *model.Session, upload filehost.Upload) ([]byte, error) {
	target := route.base + "/api/v4/files?" + url.Values{"channel_id": {upload.ChannelID}, "filename": {upload.Name}}.Encode()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, target, io.NopCloser(upload.Content))
	if err != nil {
		return nil, errors.Wrap(err, "upload")
	}
	request.ContentLength = upload.Size
	request.Header.Set("Authorization", model.HeaderBearer+" "+session.Token)
	request.Header.Set("Content-Type", "application/octet-stream")
	response, err := route.client.Do(request)
	if err != nil {
		return nil, errors.Wrap(err, "upload")
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(io.LimitReader(response.Body, 1<<20))
	if err != nil {
		return nil, errors.Wrap(err, "upload: read the answer")
	}
	if response.StatusCode < 200 || response.StatusCode > 299 {
		return nil, s.refused(ctx, response, answer)
	}
	return answer, nil
}

// accepted returns a file that the server has stored as the user's. Its size may differ from what was sent: a scanning
// plugin may replace the content.
func accepted(info *model.FileInfo, shown json.RawMessage, upload filehost.Upload) (filehost.FileInfo, error) {
	if info.CreatorId != upload.UserID || info.Size == 0 {
		return filehost.FileInfo{}, errors.Errorf("upload: file info has %d bytes and belongs to %q", info.Size, info.CreatorId)
	}
	return newFileInfo(info, shown), nil
}

func (s *Server) openSession(ctx context.Context, userID string) (*model.Session, error) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return nil, errors.New("a transfer needs a deadline")
	}
	session, appErr := s.API.CreateSession(&model.Session{
		UserId:    userID,
		ExpiresAt: deadline.Add(sessionMargin).UnixMilli(),
		Props:     model.StringMap{model.SessionPropPlatform: "filehost-attach", model.SessionPropBrowser: "filehost-attach"},
	})
	if appErr != nil {
		return nil, errors.Wrap(appErr, "open a session for a transfer")
	}
	return session, nil
}

func (s *Server) closeSession(session *model.Session) {
	if appErr := s.API.RevokeSession(session.Id); appErr != nil {
		s.API.LogWarn("A session of a transfer could not be revoked; it expires by itself.", "error", appErr.Error())
	}
}

// The ids of the server's errors that tell whose limit was met.
const (
	idTooManyPixels = "api.file.upload_file.large_image_detailed.app_error"
	idUnreadable    = "app.upload.upload_data.gen_info.app_error"
)

// busyRetry is what a caller is told to wait when the server limits the rate of requests and doesn't say for how long.
const busyRetry = 5 * time.Second

// refused turns the server's answer into an error. Mattermost's messages are made for its users.
func (s *Server) refused(ctx context.Context, response *http.Response, answer []byte) error {
	var appErr model.AppError
	if json.Unmarshal(answer, &appErr) != nil {
		appErr = model.AppError{}
	}
	cause := errors.Errorf("upload: the server answered %d %s", response.StatusCode, appErr.Id)
	switch {
	case response.StatusCode == http.StatusTooManyRequests:
		return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: busyRetry, Message: "Mattermost takes no more requests at the moment; try again in a few seconds.", Err: cause}
	case appErr.Message == "":
		return cause
	case response.StatusCode == http.StatusRequestEntityTooLarge || appErr.Id == idTooManyPixels:
		return s.tooLarge(ctx, appErr, cause)
	case response.StatusCode == http.StatusForbidden || response.StatusCode == http.StatusBadRequest:
		return filehost.E(filehost.Forbidden, appErr.Message, cause)
	}
	return cause
}

func (s *Server) tooLarge(ctx context.Context, appErr model.AppError, cause error) error {
	refusal := &filehost.Error{Kind: filehost.TooLarge, LimitOwner: filehost.OwnerMattermost, Message: appErr.Message, Err: cause}
	limits, err := s.Limits(ctx)
	if err != nil {
		return refusal
	}
	refusal.Limit = limits.FileSize
	if appErr.Id == idTooManyPixels {
		refusal.Limit = limits.ImagePixels
	}
	return refusal
}
