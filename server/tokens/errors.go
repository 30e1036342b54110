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
		return s.refusedError(found.Reason)
	case found.State == declined:
		return filehost.E(filehost.NotConnected, "Your connection to "+name+" was ended. Connect again to use it.", nil)
	case found.State == absent, found.State == disconnecting:
		return filehost.E(filehost.NotConnected, "You are not connected to "+name+" yet. Connect first.", nil)
	}
	return filehost.E(filehost.NotConnected, name+" no longer accepts your sign-in. Connect again.", nil)
}

// methodNames are the methods as a user knows them, to complete the sentence "... by ...".
var methodNames = map[filehost.Method]string{
	filehost.MethodTokenExchange:  "the company's sign-in (token exchange)",
	filehost.MethodJWTBearer:      "the company's sign-in (JWT bearer)",
	filehost.MethodAppToken:       "an app token",
	filehost.MethodServiceAccount: "the account that everybody uses",
}

// nextSteps are what a user can do where the method before has refused him.
var nextSteps = map[filehost.Method]string{
	filehost.MethodOAuth:     "Connect by signing in on its own page instead.",
	filehost.MethodLoginFlow: "Connect by its login flow instead.",
	filehost.MethodPassword:  "Connect with a user name and an app password instead.",
}

// refusedError says which method has refused a user, why, and what comes next.
func (s *Store) refusedError(reason string) error {
	next := "Ask your admin."
	if len(s.config.Methods) > 1 {
		next = nextSteps[s.config.Methods[1]]
	}
	return filehost.E(filehost.NotConnected, s.config.Host.Name+" gave you no access by "+methodNames[s.config.Methods[0]]+". "+reason+" "+next, nil)
}

func (s *Store) signInServerDown(cause error) error {
	var spared interface{ SparedFor() time.Duration }
	if errors.As(cause, &spared) {
		return &filehost.Error{Kind: filehost.HostUnavailable, RetryAfter: spared.SparedFor(), Err: cause,
			Message: "The sign-in server of " + s.config.Host.Name + " has not answered lately and is asked again in a few seconds."}
	}
	return filehost.E(filehost.HostUnavailable, "The sign-in server of "+s.config.Host.Name+" can't be asked at the moment. Try again later.", cause)
}
