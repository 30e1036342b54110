package tokens

import (
	"context"
	"errors"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// appTokens is the grant of an app token of OpenCloud, or of ownCloud Infinite Scale, that an account which may
// impersonate others makes for the user. The user's name there is what is vouched for of him.
type appTokens struct {
	*Store
	maker *serviceAccount
}

var _ automatic = appTokens{}

// newAppTokens fails where the host makes none.
func newAppTokens(s *Store) (automatic, error) {
	if s.config.AppTokens == nil {
		return nil, filehost.E(filehost.NotConfigured, "This kind of file host makes no app tokens: choose another sign-in method.", nil)
	}
	maker, err := newServiceAccount(s)
	if err != nil {
		return nil, err
	}
	s.maker = maker
	return appTokens{s, maker}, nil
}

// issue implements automatic.
func (m appTokens) issue(ctx context.Context, who filehost.Identity) (issued, error) {
	name, err := m.config.Subject.of(who)
	if err != nil {
		return issued{}, err
	}
	known, err := m.maker.state(ctx)
	switch {
	case err != nil:
		return issued{}, err
	case known.dead:
		return issued{}, m.notMade(errRejected)
	}
	by := m.maker.everybody.credential()
	by.UserID = who.UserID // his requests are no judgement on the host
	limited, cancel := m.withTimeout(ctx, exchangeLimit)
	defer cancel()
	made, err := m.config.AppTokens.MintAppToken(limited, by, name, automaticLife)
	if err != nil {
		return issued{}, m.mintFailed(ctx, filehost.WithoutCredential(err, by))
	}
	now := m.config.Clock.Now()
	answer := issued{
		AccessToken: made.Secret, Username: made.Username, Account: made.Username,
		UsableUntil: usableUntil(now, min(made.Expires.Sub(now), automaticLife)),
	}
	m.sweep(context.WithoutCancel(ctx), filehost.Credential{Scheme: filehost.Basic, Username: made.Username, Secret: made.Secret, UserID: who.UserID})
	return answer, nil
}

// mintFailed tells a user who has no account there from what is for the admin to mend.
func (m appTokens) mintFailed(ctx context.Context, err error) error {
	switch filehost.KindOf(err) {
	case filehost.NotFound:
		return &refusal{reason: m.config.Host.Name + " has no account for you.", cause: err}
	case filehost.CredentialRejected:
		return m.confirmRejected(ctx, err)
	case filehost.Forbidden, filehost.Unsupported:
		return m.notMade(err)
	}
	return err
}

// confirmRejected asks for the account itself before it counts as rejected for all: what was rejected is a request for one
// user's name, and he may have chosen it (decision 21).
func (m appTokens) confirmRejected(ctx context.Context, rejected error) error {
	known, err := m.maker.ask(ctx, false)
	switch {
	case err != nil:
		return err
	case known.dead:
		return m.notMade(errRejected)
	case known.err != nil:
		return known.err
	}
	return filehost.E(filehost.HostUnavailable, m.config.Host.Name+" made no app token for you, for no reason that it gives. Ask your admin.", rejected)
}

func (m appTokens) notMade(cause error) error {
	message := m.config.Host.Name + " does not let the plugin's account make app tokens. Ask your admin to check “" + filehost.LabelOf("ServiceAccountUser") +
		"” in the plugin's settings, and that " + m.config.Host.Name + " lets it impersonate others (AUTH_APP_ENABLE_IMPERSONATION)."
	if errors.Is(cause, errRejected) {
		message = m.config.Host.Name + " rejects the account that makes app tokens. Ask your admin to enter another “" + filehost.LabelOf("ServiceAccountSecret") + "”."
	}
	return filehost.E(filehost.NotConfigured, message, cause)
}

// sweep removes the user's expired tokens, in the background and as well as it can.
func (m appTokens) sweep(ctx context.Context, credential filehost.Credential) {
	m.config.Pending.background(m.config.Log, func() {
		ctx, cancel := m.withTimeout(ctx, exchangeLimit)
		defer cancel()
		if err := filehost.WithoutCredential(m.config.AppTokens.SweepAppTokens(ctx, credential), credential); err != nil {
			m.config.Log.Warn("Expired app tokens could not be removed.", "host", m.config.Host.ID, "error", err.Error())
		}
	})
}
