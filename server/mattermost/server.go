// Package mattermost implements the domain's ports on the Mattermost server that hosts the plugin. It is the only
// package beside main that sees plugin.API.
package mattermost

import (
	"context"
	"net/http"
	"strings"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/mattermost/mattermost/server/public/model"
	"github.com/mattermost/mattermost/server/public/plugin"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// filesPerPost is a constant of the Mattermost server.
const filesPerPost = 10

// Config is what a Server works with. API and Clock are required.
type Config struct {
	API plugin.API
	// AllowUnscanned lets uploads take the plugin API's way when the server's own route can't be reached.
	AllowUnscanned bool
	// Clock tells how long a write takes.
	Clock clockwork.Clock
	// Actions is the path of the routes behind buttons and dialogs, below the site's subpath.
	Actions string
	// Teams are the ids of the teams that an audience may name, by name: see NamedTeams.
	Teams map[string]string
}

// Server implements filehost.Mattermost. It is safe for concurrent use.
type Server struct {
	Config
	routes   uploadRoutes
	sessions sessions
	buffer   chan struct{} // whoever is in it holds a file in memory
}

// New returns the ports of the server behind config.API.
func New(config Config) *Server { return &Server{Config: config, buffer: make(chan struct{}, 1)} }

// User implements filehost.Mattermost.
func (s *Server) User(_ context.Context, userID string) (filehost.User, error) {
	user, appErr := s.API.GetUser(userID)
	if appErr != nil {
		return filehost.User{}, classify(appErr, "The user could not be found.")
	}
	return filehost.User{
		ID:       user.Id,
		Username: user.Username,
		Admin:    s.API.HasPermissionTo(user.Id, model.PermissionManageSystem),
		Bot:      user.IsBot,
		Active:   user.DeleteAt == 0,
	}, nil
}

// Identity implements filehost.Mattermost.
func (s *Server) Identity(_ context.Context, userID string) (filehost.Identity, error) {
	user, appErr := s.API.GetUser(userID)
	if appErr != nil {
		return filehost.Identity{}, classify(appErr, "The user could not be found.")
	}
	return filehost.Identity{
		UserID:        user.Id,
		Username:      user.Username,
		Email:         user.Email,
		EmailVerified: user.EmailVerified,
		AuthService:   user.AuthService,
		AuthData:      value(user.AuthData),
		Bot:           user.IsBot,
		Active:        user.DeleteAt == 0,
	}, nil
}

// SiteURL returns the site's address without a trailing slash, with its subpath; "" when it isn't set.
func (s *Server) SiteURL() string {
	if config := s.API.GetConfig(); config != nil {
		return strings.TrimSuffix(value(config.ServiceSettings.SiteURL), "/")
	}
	return ""
}

// Limits implements filehost.Mattermost.
func (s *Server) Limits(context.Context) (filehost.Limits, error) {
	config, err := s.config()
	if err != nil {
		return filehost.Limits{}, err
	}
	timeout, setting := value(config.ServiceSettings.ReadTimeout), "ServiceSettings.ReadTimeout"
	if write := value(config.ServiceSettings.WriteTimeout); write < timeout {
		timeout, setting = write, "ServiceSettings.WriteTimeout"
	}
	return filehost.Limits{
		FileSize:       value(config.FileSettings.MaxFileSize),
		FilesPerPost:   filesPerPost,
		MessageLength:  model.PostMessageMaxRunesV2,
		ImagePixels:    value(config.FileSettings.MaxImageResolution),
		RequestTimeout: time.Duration(timeout) * time.Second,
		TimeoutSetting: setting,
	}, nil
}

// config is the server's configuration. It comes as nil when the call to the server fails.
func (s *Server) config() (*model.Config, error) {
	if config := s.API.GetConfig(); config != nil {
		return config, nil
	}
	return nil, errors.New("the server gave no configuration")
}

// value reads a setting: one that is zero, false or empty arrives as nil over the plugin RPC.
func value[T any](setting *T) (zero T) {
	if setting == nil {
		return zero
	}
	return *setting
}

// ConnectionChanged implements filehost.Mattermost: the event is named custom_filehost-attach_connection.
func (s *Server) ConnectionChanged(userID string) {
	s.API.PublishWebSocketEvent("connection", map[string]any{}, &model.WebsocketBroadcast{UserId: userID})
}

// classify gives an error of the plugin API its kind. The message is what the caller sees.
func classify(appErr *model.AppError, message string) error {
	kind := filehost.Internal
	switch appErr.StatusCode {
	case http.StatusNotFound:
		kind = filehost.NotFound
	case http.StatusForbidden:
		kind = filehost.Forbidden
	}
	return filehost.E(kind, message, appErr)
}
