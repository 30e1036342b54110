package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// CheckTokenEndpoint asks whether the sign-in server is there, with no grant and no credential, and whether it has
// lately refused the plugin itself. The error's Message is a remedy for the admin.
func (s *Store) CheckTokenEndpoint(ctx context.Context) error {
	ctx = filehost.AsProbe(ctx)
	switch {
	case s.provider == nil:
		return nil
	case s.refused.Load():
		return filehost.E(filehost.NotConfigured, clientRefusedMessage+" Enter those of its registration.", nil)
	case s.provider.OAuth.Issuer != "":
		if _, err := s.discover(ctx); err != nil {
			return s.endpointRemedy("OAuth issuer", err)
		}
		return nil
	}
	if err := s.knock(ctx, s.provider.fixed.Token); err != nil {
		return s.endpointRemedy("OAuth token URL", err)
	}
	return nil
}

// knock takes any answer that is no server error: a token endpoint need not know the method.
func (s *Store) knock(ctx context.Context, address string) error {
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return err
	}
	response, err := s.config.Client.Do(request)
	if err != nil {
		return callFailed(ctx, err)
	}
	_ = response.Body.Close()
	if response.StatusCode >= http.StatusInternalServerError {
		return fmt.Errorf("the server answered %d", response.StatusCode)
	}
	return nil
}

func (s *Store) endpointRemedy(setting string, cause error) error {
	message := "The sign-in server does not answer as it should; check the " + setting + ", and whether the Mattermost server can reach it."
	var unreachable interface {
		Remedy(name, setting string) string
	}
	if errors.As(cause, &unreachable) {
		message = cmp.Or(unreachable.Remedy("the sign-in server", setting), message)
	}
	return filehost.E(filehost.HostUnavailable, message, cause)
}
