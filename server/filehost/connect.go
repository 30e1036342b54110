package filehost

import "context"

// Connection tells the state of the user's access to the host.
func (s *Service) Connection(ctx context.Context, userID string) (Connection, error) {
	return s.Connections.Connection(ctx, userID)
}

// Authorize begins a sign-in on the host's own page and returns the address to send the browser to. Bots have no
// browser: they are refused.
func (s *Service) Authorize(ctx context.Context, userID string) (string, error) {
	user, err := s.person(ctx, userID)
	switch {
	case err != nil:
		return "", err
	case user.Bot:
		return "", E(Unsupported, "A bot can't sign in on a web page; connect it with a user name and an app password.", nil)
	case s.Password:
		return "", &Error{Kind: Unsupported, Field: "username", Message: s.Host.Name + " is connected with a user name and an app password."}
	case s.NoReturn:
		return "", s.noReturn()
	}
	return s.Connections.Authorize(ctx, userID)
}

// noReturn is the error of a sign-in that could not come back to Mattermost.
func (s *Service) noReturn() *Error {
	return E(NotConfigured, "Nobody can sign in at "+s.Host.Name+": set the Site URL of Mattermost (System Console, Environment, Web Server), which sign-ins come back to.", nil)
}

// ConnectWithPassword connects with an app password: where the admin has chosen that method, and bots always.
func (s *Service) ConnectWithPassword(ctx context.Context, userID, username string, password Secret) error {
	user, err := s.person(ctx, userID)
	switch {
	case err != nil:
		return err
	case !s.Password && !user.Bot:
		return &Error{Kind: Unsupported, Field: "password", Message: s.Host.Name + " is connected by signing in on its own page, not with a password."}
	}
	return s.changed(userID, s.Connections.ConnectWithPassword(ctx, userID, username, password))
}

// Callback ends a sign-in with what the sign-in server sent back.
func (s *Service) Callback(ctx context.Context, callback Callback) (CallbackResult, error) {
	if callback.HostID != s.Host.ID {
		return CallbackResult{}, E(NotFound, "There is no such file host.", nil)
	}
	result, err := s.Connections.Callback(ctx, callback)
	if err == nil && result.Connected {
		s.Mattermost.ConnectionChanged(callback.UserID)
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
	return s.changed(userID, s.Connections.Confirm(ctx, userID, code))
}

// Disconnect revokes the user's access and forgets it.
func (s *Service) Disconnect(ctx context.Context, userID string) error {
	return s.changed(userID, s.Connections.Disconnect(ctx, userID))
}

func (s *Service) changed(userID string, err error) error {
	if err == nil {
		s.Mattermost.ConnectionChanged(userID)
	}
	return err
}

// person returns an active user.
func (s *Service) person(ctx context.Context, userID string) (User, error) {
	user, err := s.Mattermost.User(ctx, userID)
	if err == nil && !user.Active {
		return User{}, E(Forbidden, "Your account is deactivated.", nil)
	}
	return user, err
}
