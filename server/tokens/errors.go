package tokens

import (
	"context"
	"errors"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func storeFailed(cause error) *filehost.Error {
	if errors.Is(cause, context.DeadlineExceeded) || errors.Is(cause, context.Canceled) {
		return filehost.E(filehost.Timeout, "Mattermost took too long to look up your connection.", cause)
	}
	return filehost.E(filehost.Internal, "Mattermost could not look up or keep your connection.", cause)
}

// notConnected is the error of a user whose record can't be used.
func (s *Store) notConnected(found entry) error {
	name := s.config.Host.Name
	switch {
	case errors.Is(found.cause, errUnknownKey):
		return filehost.E(filehost.NotConnected, "The plugin's encryption key has changed and your connection to "+name+" can't be read. Connect again.", found.cause)
	case found.State == unreadable:
		return filehost.E(filehost.NotConnected, "Your connection to "+name+" can't be read. Connect again.", found.cause)
	case found.State == foreign:
		return filehost.E(filehost.NotConnected, "The settings of "+name+" have changed. Connect again.", nil)
	case found.State == outdated && s.signsIn():
		return filehost.E(filehost.NotConnected, name+" is now connected by signing in on its own page. Connect again.", nil)
	case found.State == outdated:
		return filehost.E(filehost.NotConnected, name+" is now connected in another way. Connect again.", nil)
	case found.State == refused:
		return s.refusedError(found.record)
	case found.State == declined:
		return filehost.E(filehost.NotConnected, "You have disconnected from "+name+". Connect again to use it.", nil)
	case found.State == absent, found.State == disconnecting:
		return filehost.E(filehost.NotConnected, "You are not connected to "+name+".", nil)
	}
	return filehost.E(filehost.NotConnected, name+" no longer accepts your sign-in. Connect again.", nil)
}

// refusedError says which method has refused a user, why, and what comes next.
func (s *Store) refusedError(found record) error {
	message := s.config.Host.Name + " can't be connected by itself: " + found.Reason
	if len(s.config.Methods) > 1 {
		message += " Connect with an account of your own."
	} else {
		message += " Ask your admin."
	}
	return filehost.E(filehost.NotConnected, message, nil)
}

func (s *Store) signInServerDown(cause error) error {
	var spared interface{ SparedFor() time.Duration }
	if errors.As(cause, &spared) {
		return &filehost.Error{Kind: filehost.HostUnavailable, RetryAfter: spared.SparedFor(), Err: cause,
			Message: "The sign-in server of " + s.config.Host.Name + " has not answered lately and is asked again in a few seconds."}
	}
	return filehost.E(filehost.HostUnavailable, "The sign-in server of "+s.config.Host.Name+" can't be asked at the moment. Try again later.", cause)
}
