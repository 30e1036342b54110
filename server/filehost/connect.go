package filehost

import (
	"context"
	"slices"
)

// Connection tells the state of the user's access to the host, and how he can get it.
func (s *Service) Connection(ctx context.Context, userID string) (Connection, error) {
	connection, err := s.Connections.Connection(ctx, userID)
	if err != nil {
		return Connection{}, err
	}
	user, err := s.Mattermost.User(ctx, userID)
	connection.Methods = s.methodsOf(user, connection.Refused)
	return connection, err
}

// methodsOf are the ways that a user has to connect, the best first. Bots have no browser and no identity that a sign-in
// server would know. A method that has refused the user comes last: he may try it again.
func (s *Service) methodsOf(user User, refused *Refusal) []Method {
	if user.Bot {
		return []Method{MethodPassword}
	}
	methods := slices.Clone(s.Methods)
	if refused == nil {
		return methods
	}
	rank := func(m Method) int {
		switch {
		case m == refused.Method:
			return 1
		case m.Automatic():
			return 2 // it had refused him before he signed in himself
		}
		return 0
	}
	slices.SortStableFunc(methods, func(a, b Method) int { return rank(a) - rank(b) })
	return methods
}

// Begin begins to connect a user by a method that he has; "" = the best one. A password is handed to
// ConnectWithPassword instead.
func (s *Service) Begin(ctx context.Context, userID string, method Method) (Begun, error) {
	user, err := s.person(ctx, userID)
	if err != nil {
		return Begun{}, err
	}
	connection, err := s.Connections.Connection(ctx, userID)
	if err != nil {
		return Begun{}, err
	}
	methods := s.methodsOf(user, connection.Refused)
	if method == "" {
		method = methods[0]
	}
	switch {
	case user.Bot && method != MethodPassword:
		return Begun{}, E(Unsupported, "A bot can't sign in; connect it with a user name and an app password.", nil)
	case !slices.Contains(methods, method):
		return Begun{}, &Error{Kind: Unsupported, Field: "method", Message: s.Host.Name + " is not connected that way."}
	}
	switch method {
	case MethodPassword:
		return Begun{}, &Error{Kind: Unsupported, Field: "username", Message: s.Host.Name + " is connected with a user name and an app password."}
	case MethodLoginFlow:
		return s.Connections.BeginLoginFlow(ctx, userID)
	case MethodOAuth:
		if s.NoReturn {
			return Begun{}, s.noReturn()
		}
		authorizeURL, err := s.Connections.Authorize(ctx, userID)
		return Begun{AuthorizeURL: authorizeURL}, err
	}
	err = s.Connections.ConnectAutomatically(ctx, userID)
	if err == nil {
		s.Mattermost.ConnectionChanged(userID)
		s.Reminders.Connected(ctx, userID)
		s.wake(userID)
	}
	return Begun{Connected: true}, err
}

// Accept connects the account that waits for the user's word, or lets it go.
func (s *Service) Accept(ctx context.Context, userID string, accept bool) error {
	return s.AcceptShown(ctx, userID, "", accept)
}

// AcceptShown is Accept for an account that a dialog has shown; "" = whichever waits. Another one that waits by now is left
// alone: the user has not seen it.
func (s *Service) AcceptShown(ctx context.Context, userID, shown string, accept bool) error {
	if _, err := s.person(ctx, userID); err != nil {
		return err
	}
	err := s.Connections.Accept(ctx, userID, shown, accept)
	switch {
	case err != nil:
		return err
	case accept:
		s.Connected(ctx, userID)
	default:
		s.Mattermost.ConnectionChanged(userID)
	}
	return nil
}

// noReturn is the error of a sign-in that could not come back to Mattermost.
func (s *Service) noReturn() *Error {
	return E(NotConfigured, "Nobody can sign in at "+s.Host.Name+": set the Site URL of Mattermost (System Console, Environment, Web Server), which sign-ins come back to.", nil)
}

// ConnectWithPassword connects with an app password: where the admin has chosen that method, too, and bots always.
func (s *Service) ConnectWithPassword(ctx context.Context, userID, username string, password Secret) error {
	user, err := s.person(ctx, userID)
	switch {
	case err != nil:
		return err
	case !user.Bot && !slices.Contains(s.Methods, MethodPassword):
		return &Error{Kind: Unsupported, Field: "password", Message: s.Host.Name + " is not connected with a password."}
	}
	if err = s.Connections.ConnectWithPassword(ctx, userID, username, password); err == nil {
		s.Connected(ctx, userID)
	}
	return err
}

// Callback ends a sign-in with what the sign-in server sent back.
func (s *Service) Callback(ctx context.Context, callback Callback) (CallbackResult, error) {
	if callback.HostID != s.Host.ID {
		return CallbackResult{}, E(NotFound, "There is no such file host.", nil)
	}
	result, err := s.Connections.Callback(ctx, callback)
	if err == nil && result.Connected {
		s.Connected(ctx, callback.UserID)
	}
	return result, err
}

// Confirmation returns the user name of who began a sign-in, and the code that he has to type in Mattermost.
func (s *Service) Confirmation(ctx context.Context, handle string) (username, code string, err error) {
	confirmation, err := s.Connections.Confirmation(ctx, handle)
	if err != nil {
		return "", "", err
	}
	user, err := s.Mattermost.User(ctx, confirmation.BeganBy)
	return user.Username, confirmation.Code, err
}

// Confirm ends a sign-in whose callback came without a Mattermost session.
func (s *Service) Confirm(ctx context.Context, userID, code string) error {
	if _, err := s.person(ctx, userID); err != nil {
		return err
	}
	err := s.Connections.Confirm(ctx, userID, code)
	if err == nil {
		s.Connected(ctx, userID)
	}
	return err
}

// Disconnect revokes the user's access and forgets it.
func (s *Service) Disconnect(ctx context.Context, userID string) error {
	ended, _ := s.Connections.Connection(ctx, userID) // what can't be told of it doesn't keep it from ending
	err := s.Connections.Disconnect(ctx, userID)
	s.pages.forget(userID)
	if err == nil {
		s.Mattermost.ConnectionChanged(userID)
		s.note(ctx, AuditEvent{Action: AuditDisconnect, ActingUserID: userID, Grant: ended.Grant, Account: ended.Account})
	}
	return err
}

// Connected tells everybody whom it concerns that a user has connected: his clients, the audit log, and the bot that asked
// him to.
func (s *Service) Connected(ctx context.Context, userID string) {
	s.Mattermost.ConnectionChanged(userID)
	s.Reminders.Connected(ctx, userID)
	s.wake(userID)
	fresh, _ := s.Connections.Connection(ctx, userID) // it may read a replica that lags behind, and knows nothing then
	s.note(ctx, AuditEvent{Action: AuditConnect, ActingUserID: userID, Grant: fresh.Grant, Account: fresh.Account})
}

// note records what has been done. It was no use of access that is not the user's own: should the log not take it, it
// stays done.
func (s *Service) note(ctx context.Context, event AuditEvent) {
	event.HostID, event.Outcome = s.Host.ID, AuditSuccess
	_ = s.Audit.Record(context.WithoutCancel(ctx), event)
}

// person returns an active user.
func (s *Service) person(ctx context.Context, userID string) (User, error) {
	user, err := s.Mattermost.User(ctx, userID)
	if err == nil && !user.Active {
		return User{}, E(Forbidden, "Your account is deactivated.", nil)
	}
	return user, err
}
