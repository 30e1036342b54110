package tokens

import (
	"context"
	"net/url"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// jwtBearer is the grant of an assertion about the user (RFC 7523 2.1), which the plugin signs. The sign-in server knows
// the plugin as an issuer, and its users by the subject.
type jwtBearer struct{ *Store }

var _ automatic = jwtBearer{}

// issue implements automatic.
func (m jwtBearer) issue(ctx context.Context, who filehost.Identity) (issued, error) {
	return m.vouchedToken(ctx, who, func(at endpoints) (url.Values, error) {
		assertion, err := m.assert(ctx, who, at, false)
		return url.Values{
			"grant_type": {"urn:ietf:params:oauth:grant-type:jwt-bearer"},
			"assertion":  {assertion.Reveal()},
		}, err
	})
}
