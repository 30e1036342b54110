package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ServiceAccount is one account of the host for many users.
type ServiceAccount struct {
	User   string // "" = Secret is a bearer token (RFC 6750 2.1), else a password (RFC 7617)
	Secret filehost.Secret
	Writes bool // false = it is used for reading only
}

// serviceGrant is the grant of a credential that is that of the service account.
const serviceGrant = string(filehost.MethodServiceAccount)

// How long a judgement of the host on the service account is believed by the health check: each one sends it once more.
const (
	acceptedTime   = 5 * time.Minute
	unansweredTime = time.Minute
)

// serviceAccount is the one credential that everybody uses whom the admin lets. The store holds nothing of it and nothing
// of who uses it, but that the host has rejected it. It is safe for concurrent use.
type serviceAccount struct {
	*Store
	everybody   record // what each user's record would be
	fingerprint string // tells this credential from others

	mu    sync.Mutex
	known sharedState
}

// sharedState is what a node knows of the service account.
type sharedState struct {
	account  string
	accepted bool      // by the host, at least once
	dead     bool      // the host has rejected it: it is not sent again
	asked    time.Time // when the host was asked last; zero = never
	err      error     // why the host gave no judgement then
}

func newServiceAccount(s *Store) (*serviceAccount, error) {
	c := s.config.ServiceAccount
	fingerprint, err := s.config.Cipher.fingerprint(serviceAccountPurpose, s.config.Host.ID, s.config.Host.Origin(), c.User, c.Secret.Reveal())
	if err != nil {
		return nil, err
	}
	everybody := record{State: active, Grant: serviceGrant, Connection: fingerprint, Generation: generation(fingerprint), Origin: s.config.Host.Origin()}
	if c.User == "" {
		everybody.AccessToken = c.Secret
	} else {
		everybody.Username, everybody.Password = c.User, c.Secret
	}
	return &serviceAccount{Store: s, everybody: everybody, fingerprint: fingerprint}, nil
}

// Format implements fmt.Formatter: it holds a secret and prints none.
func (a *serviceAccount) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprint(out, "tokens.serviceAccount")
}

// sharing tells whether a user whose record is r uses the service account.
func (s *Store) sharing(r record) bool { return s.shared != nil && replaceable(r) }

// use returns the record that everybody uses. Before its first use on this node the host is asked whose it is.
func (a *serviceAccount) use(ctx context.Context) (record, error) {
	known, err := a.state(ctx)
	if err == nil && !known.accepted && !known.dead {
		known, err = a.ask(ctx, true)
	}
	switch {
	case err != nil:
		return record{}, err
	case known.dead:
		return record{}, a.refusedError(a.refusal().Reason)
	case !known.accepted:
		return record{}, known.err
	}
	shared := a.everybody
	shared.Account = known.account
	return shared, nil
}

// rejected is the error for a user whose request the host has answered as if the credential were not good. Some hosts
// answer so for a folder that is closed to a good one: one user's choice of a folder must not end everybody's access, so
// the host is asked for the account itself.
func (a *serviceAccount) rejected(ctx context.Context) error {
	known, err := a.state(ctx)
	if err == nil && !known.dead {
		known, err = a.ask(ctx, false)
	}
	switch {
	case err != nil:
		return err
	case known.dead:
		return a.refusedError(a.refusal().Reason)
	case known.err != nil:
		return known.err
	}
	return filehost.E(filehost.Forbidden, a.config.Host.Name+" does not show this to the account that everybody uses.", nil)
}

// refusal is a user's record while the host rejects the account.
func (a *serviceAccount) refusal() record {
	return record{Grant: serviceGrant, Reason: a.config.Host.Name + " no longer accepts the account that everybody uses."}
}

// state is what is known, on this node or another.
func (a *serviceAccount) state(ctx context.Context) (sharedState, error) {
	a.mu.Lock()
	known := a.known
	a.mu.Unlock()
	if known.dead {
		return known, nil
	}
	mark, err := a.config.KV.Get(ctx, a.markKey())
	if err != nil {
		return sharedState{}, storeFailed(err)
	}
	if string(mark) != a.fingerprint {
		return known, nil
	}
	return a.learn(func(s *sharedState) { s.dead = true }), nil
}

func (a *serviceAccount) learn(change func(*sharedState)) sharedState {
	a.mu.Lock()
	defer a.mu.Unlock()
	change(&a.known)
	return a.known
}

// ask asks the host whose the credential is. All who ask at once share one request, which goes on when they leave. With
// once, what somebody else has found out by now is enough.
func (a *serviceAccount) ask(ctx context.Context, once bool) (sharedState, error) {
	flight := a.flights.DoChan(fmt.Sprint(serviceGrant, once), func() (any, error) {
		if !a.config.Pending.begin(a.config.Lifetime) {
			return nil, storeFailed(context.Canceled)
		}
		defer a.config.Pending.running.Done()
		var known sharedState
		err := filehost.Recovered(func() error {
			known = a.judge(once)
			return nil
		})
		return known, err
	})
	select {
	case <-ctx.Done():
		return sharedState{}, filehost.E(filehost.Timeout, "Signing in to "+a.config.Host.Name+" took too long.", ctx.Err())
	case result := <-flight:
		if result.Err != nil {
			return sharedState{}, result.Err
		}
		return result.Val.(sharedState), nil
	}
}

// judge makes the request, unless the credential was rejected while the caller waited to make it, or, with once, accepted.
func (a *serviceAccount) judge(once bool) sharedState {
	if known := a.learn(func(*sharedState) {}); known.dead || once && known.accepted {
		return known
	}
	ctx, cancel := a.withTimeout(a.config.Lifetime, callLimit)
	defer cancel()
	account, err := a.config.Account(ctx, a.credential(a.everybody))
	now := a.config.Clock.Now()
	rejected := filehost.KindOf(err) == filehost.CredentialRejected
	if rejected && !a.believed(a.fingerprint) {
		rejected, err = false, a.notBelieved()
	}
	if err == nil {
		a.rejections.forget(a.fingerprint)
	}
	if !rejected {
		return a.learn(func(s *sharedState) {
			s.asked, s.err = now, err
			if err == nil {
				s.account, s.accepted = account, true
			}
		})
	}
	known := a.learn(func(s *sharedState) { s.asked, s.err, s.dead = now, nil, true })
	a.mark(context.WithoutCancel(ctx))
	return known
}

// mark lets all nodes know that the credential is not to be sent again. A node that doesn't get to know it finds out
// itself, by sending it once.
func (a *serviceAccount) mark(ctx context.Context) {
	a.config.Log.Error("The file host rejects the service account. It is not used again before the settings change.", "host", a.config.Host.ID)
	err := a.contest(ctx, func() (bool, error) {
		old, err := a.config.KV.Get(ctx, a.markKey())
		if err != nil || string(old) == a.fingerprint {
			return true, err
		}
		return a.config.KV.CompareAndSet(ctx, a.markKey(), old, []byte(a.fingerprint), 0)
	})
	if err != nil {
		a.config.Log.Warn("Other nodes could not be told that the service account is rejected.", "host", a.config.Host.ID, "error", err.Error())
	}
}

func (a *serviceAccount) markKey() string { return a.key("shared_", "rejected") }

// connection is that of a user of it.
func (a *serviceAccount) connection(ctx context.Context, userID string) (filehost.Connection, error) {
	known, err := a.state(ctx)
	switch {
	case err != nil:
		return filehost.Connection{}, err
	case known.dead:
		return filehost.Connection{State: filehost.Disconnected, Refused: &filehost.Refusal{Method: filehost.MethodServiceAccount, Reason: a.refusal().Reason}}, nil
	}
	used, err := a.lastUsed(ctx, userID, time.Time{})
	return filehost.Connection{State: filehost.Connected, Account: known.account, Grant: serviceGrant, LastUsed: used}, err
}

// CheckServiceAccount asks whether the host accepts the service account, and not at every call: it is a check that sends a
// credential. The error's Message is a remedy for the admin.
func (s *Store) CheckServiceAccount(ctx context.Context) error {
	account := cmp.Or(s.shared, s.maker)
	if account == nil {
		return nil
	}
	known, err := account.state(ctx)
	if err == nil && !known.dead && account.isDue(known) {
		known, err = account.ask(ctx, false)
	}
	name := s.config.Host.Name + " (" + s.config.Host.BaseURL.String() + ")"
	switch {
	case err != nil:
		return filehost.StoreDown(err)
	case known.dead:
		return filehost.E(filehost.NotConfigured, name+" rejects the service account, so that nobody has access by it: make a new app password or token there, and enter it as "+
			filehost.Quote(filehost.LabelOf("ServiceAccountSecret"))+" in the plugin's settings. The one that is there now is not tried again, or the host would lock Mattermost out.", errRejected)
	case known.err != nil:
		return &filehost.Degraded{Err: known.err, Remedy: name + " did not say whether it accepts the service account: see what the check of the host says. It is asked again in a minute."}
	}
	return nil
}

var errRejected = errors.New("the host has rejected the credential")

func (a *serviceAccount) isDue(known sharedState) bool {
	age := a.config.Clock.Since(known.asked)
	return known.asked.IsZero() || known.err == nil && age >= acceptedTime || known.err != nil && age >= unansweredTime
}
