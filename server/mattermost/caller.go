package mattermost

import (
	"context"
	"net/http"
	"sync"

	"github.com/mattermost/mattermost/server/public/model"
	"github.com/pkg/errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// maxSessions is how many sessions of people are remembered; beyond it all are looked up anew.
const maxSessions = 10_000

// sessions remembers which sessions are a user's own. What a session is never changes.
type sessions struct {
	mu   sync.Mutex
	user map[string]string // by session id
}

func (s *sessions) of(sessionID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.user[sessionID]
}

func (s *sessions) remember(session *model.Session) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.user == nil || len(s.user) >= maxSessions {
		s.user = map[string]string{}
	}
	s.user[session.Id] = session.UserId
}

// Admit tells whether a request that Mattermost has accepted may act as the user at the file host. It fails with Forbidden
// for a deactivated user whose session lives on, and for the session of an OAuth 2.0 application: its user has let it into
// Mattermost, not into his files.
func (s *Server) Admit(_ context.Context, userID, sessionID string) error {
	user, appErr := s.API.GetUser(userID)
	switch {
	case appErr != nil && appErr.StatusCode != http.StatusNotFound:
		return errors.Wrap(appErr, "look up the caller")
	case appErr != nil || user.DeleteAt != 0:
		return filehost.E(filehost.Forbidden, "Your account is deactivated.", nil)
	case s.sessions.of(sessionID) == userID:
		return nil
	}
	session, appErr := s.API.GetSession(sessionID)
	switch {
	case appErr != nil:
		return errors.Wrap(appErr, "look up the caller's session")
	case session.UserId != userID:
		return errors.New("the caller's session is another user's")
	case session.IsOAuth:
		return filehost.E(filehost.Forbidden, "An OAuth 2.0 application may not use your files; use a personal access token or a bot.", nil)
	}
	s.sessions.remember(session)
	return nil
}
