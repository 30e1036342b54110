package tokens

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const loginFlowGrant = string(filehost.MethodLoginFlow)

const (
	// flowTime is Nextcloud's own: a login that takes longer is refused there.
	flowTime = 20 * time.Minute
	// offerTime is how long an account waits for its user's word.
	offerTime = 5 * time.Minute
	// maxFlows is how many login flows of a user are looked after at a time: the one that may connect him, and those that
	// it has replaced, whose app passwords are ended should they ever come.
	maxFlows = 5
	// maxAllFlows bounds what all users may have under way at once, over all nodes.
	maxAllFlows = 500

	maxLoginURLBytes = 2048
	flowAnswerLimit  = 64 << 10
)

var (
	errNotYet       = errors.New("the user has not signed in yet")
	errForeignLogin = errors.New("the login flow leads to another origin than the host's")
	errNoFlow       = errors.New("the answer is not that of a login flow")
)

// BeginLoginFlow implements filehost.Connections by Nextcloud's Login Flow v2. The host names the app password after the
// plugin's User-Agent.
func (s *Store) BeginLoginFlow(ctx context.Context, userID string) (filehost.Begun, error) {
	if s.flowPath() == "" {
		return filehost.Begun{}, filehost.E(filehost.Unsupported, s.config.Host.Name+" knows no login flow.", nil)
	}
	who, err := s.config.Identify(ctx, userID)
	if err != nil {
		return filehost.Begun{}, err
	}
	if !s.config.AnyEmail && !vouchedEmail(who) { // before he signs in for nothing
		return filehost.Begun{}, filehost.E(filehost.Forbidden, unverifiedEmail, nil)
	}
	if err := s.roomForFlow(ctx, userID); err != nil {
		return filehost.Begun{}, err
	}
	login, err := s.requestLogin(ctx)
	if err != nil {
		return filehost.Begun{}, s.requestLoginFailed(err)
	}
	now := s.config.Clock.Now().UTC()
	flow := newLoginFlow(userID, s.config.Host.Origin(), now)
	flow.PollToken, flow.Endpoint = filehost.NewSecret(login.Poll.Token), login.Poll.Endpoint
	// First the flow and then the list: what is listed can be found.
	if _, won, err := s.putFlow(ctx, flowEntry{}, flow); err != nil || !won {
		return filehost.Begun{}, storeFailed(err)
	}
	if err := s.noteLatest(ctx, userID); err != nil {
		return filehost.Begun{}, err
	}
	if err := s.listFlow(ctx, flow); err != nil {
		return filehost.Begun{}, err
	}
	s.forget(ctx, s.key("ended_", userID))
	s.flows.wakeUp()
	return filehost.Begun{LoginURL: login.Login, ExpiresAt: flow.Deadline}, nil
}

// flowPath is where the host begins login flows; "" = it knows none.
func (s *Store) flowPath() string { return profiles[s.config.Host.Kind].loginFlowPath }

// loginFlowOffered tells whether the admin lets people connect by a login flow.
func (s *Store) loginFlowOffered() bool {
	return s.flowPath() != "" && slices.Contains(s.config.Methods, filehost.MethodLoginFlow)
}

// loginRequest is the host's answer to who begins a login flow.
type loginRequest struct {
	Poll struct {
		Token    string `json:"token"`
		Endpoint string `json:"endpoint"`
	} `json:"poll"`
	Login string `json:"login"`
}

// requestLogin begins a login flow at the host.
func (s *Store) requestLogin(ctx context.Context) (loginRequest, error) {
	var login loginRequest
	err := s.postForm(ctx, below(s.config.Host.BaseURL, s.flowPath()), nil, &login)
	switch {
	case err != nil:
		return login, err
	case !sendable(login.Poll.Token), len(login.Login) > maxLoginURLBytes, len(login.Poll.Endpoint) > maxLoginURLBytes:
		return login, errNoFlow
	case !s.ownAddress(login.Poll.Endpoint), !s.ownAddress(login.Login):
		return login, errForeignLogin
	}
	return login, nil
}

// ownAddress tells whether an address is one of the host's own that may be called.
func (s *Store) ownAddress(raw string) bool {
	parsed, err := url.Parse(raw)
	return err == nil && urlRule{s.config.AllowHTTP}.refusal(raw) == "" && filehost.OriginOf(parsed) == s.config.Host.Origin()
}

func (s *Store) requestLoginFailed(err error) error {
	name := s.config.Host.Name
	var status statusError
	switch {
	case errors.Is(err, errForeignLogin):
		return filehost.E(filehost.NotConfigured, name+" sends sign-ins to another address than the one in the plugin's settings. "+
			"Ask your admin to enter the address that "+name+" uses itself (overwritehost and overwriteprotocol of Nextcloud).", err)
	case errors.Is(err, errNotThere), errors.Is(err, errNoFlow), errors.Is(err, errNotJSON):
		return filehost.E(filehost.NotConfigured, name+" offers no login flow at this address. Ask your admin to check the file host's address in the plugin's settings.", err)
	case errors.As(err, &status) && int(status) == http.StatusTooManyRequests:
		return &filehost.Error{Kind: filehost.RateLimited, RetryAfter: restTime, Err: err,
			Message: name + " takes no more sign-ins from Mattermost at the moment. Try again in a few minutes."}
	}
	return s.signInServerDown(err)
}

// grantedLogin is what the host gives once after the user has signed in and allowed it.
type grantedLogin struct {
	Server      string          `json:"server"`
	LoginName   string          `json:"loginName"`
	AppPassword filehost.Secret `json:"appPassword"`
}

// poll asks whether the user has signed in. It fails with errNotYet until he has, and ever after it has succeeded.
func (s *Store) poll(ctx context.Context, flow loginFlow) (grantedLogin, error) {
	var granted grantedLogin
	err := s.postForm(ctx, flow.Endpoint, url.Values{"token": {flow.PollToken.Reveal()}}, &granted)
	switch {
	case errors.Is(err, errNotThere):
		return granted, errNotYet
	case err == nil && (checkText("loginName", granted.LoginName, maxUsernameBytes) != nil ||
		checkText("appPassword", granted.AppPassword.Reveal(), maxPasswordBytes) != nil):
		return granted, errNoFlow
	}
	return granted, err
}

// postForm posts a form and reads a JSON answer. It makes one request and sends no credential but what is in the form.
func (s *Store) postForm(ctx context.Context, address string, form url.Values, into any) error {
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return errNoFlow
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	return s.readJSON(request, flowAnswerLimit, into)
}

// Accept implements filehost.Connections.
func (s *Store) Accept(ctx context.Context, userID, shown string, accept bool) error {
	ctx = context.WithoutCancel(ctx) // who leaves now still wants what he has said
	var decided flowEntry
	err := s.contest(ctx, func() (bool, error) {
		offered, err := s.offered(ctx, userID)
		if err != nil {
			return false, err
		}
		if offered.raw == nil {
			return false, filehost.E(filehost.NotFound, "No account waits to be connected. It may have taken too long: begin again.", nil)
		}
		if shown != "" && shown != offered.Account {
			return false, filehost.E(filehost.Conflict, "You have signed in with another account since. Press “Connect again” to see it.", nil)
		}
		next := s.leased(offered.loginFlow)
		if next.State = flowEnding; accept {
			next.State = flowAccepted
		}
		entry, won, err := s.putFlow(ctx, offered, next)
		decided = entry
		return won, err
	})
	switch {
	case err != nil:
		return err
	case accept:
		return s.connectFlow(ctx, decided)
	}
	s.revokeFlow(ctx, decided)
	return nil
}

// offered returns the flow whose account waits for its user's word; raw is nil when there is none.
func (s *Store) offered(ctx context.Context, userID string) (flowEntry, error) {
	index, _, err := s.loadFlows(ctx)
	if err != nil {
		return flowEntry{}, err
	}
	for _, listed := range index.Flows {
		if listed.UserID != userID || !listed.Wanted {
			continue
		}
		found, err := s.loadFlow(ctx, listed.ID)
		switch {
		case err != nil:
			return flowEntry{}, err
		case found.State == flowPending && found.Origin == s.config.Host.Origin() && s.config.Clock.Now().Before(found.Deadline):
			return found, nil
		}
	}
	return flowEntry{}, nil
}

// flowStory adds what a login flow has to tell its user to what is known of his connection.
func (s *Store) flowStory(ctx context.Context, userID string, connection *filehost.Connection) error {
	if !s.loginFlowOffered() {
		return nil
	}
	found, err := s.offered(ctx, userID)
	if err != nil {
		return err
	}
	if found.raw != nil {
		connection.Pending = &filehost.Pending{Account: found.Account, DisplayName: found.DisplayName, Email: found.Email, ExpiresAt: found.Deadline}
		return nil
	}
	// It is newer than what a method without a click has refused: that is why the user has begun the flow.
	reason, err := s.flowEndOf(ctx, userID)
	if err == nil && reason != "" {
		connection.Refused = &filehost.Refusal{Method: filehost.MethodLoginFlow, Reason: reason}
	}
	return err
}

const unverifiedEmail = "Your email address in Mattermost is not verified, so nobody can tell whose account you would connect. Verify it in your profile, or ask your admin."

// vouchedEmail tells whether a user's email address is his: Mattermost has verified it, or has taken it as verified from
// the single sign-on that made the account. That he signs in there now says nothing of it: whoever moves a password account
// to a single sign-on may bring the address that he has entered.
func vouchedEmail(who filehost.Identity) bool { return who.Email != "" && who.EmailVerified }

// noFlowFor tells why a login flow, where that is the best method, is none for a user who is not connected; nil = it is.
func (s *Store) noFlowFor(ctx context.Context, userID string, connection filehost.Connection) (*refusal, error) {
	if s.config.Methods[0] != filehost.MethodLoginFlow || s.config.AnyEmail || connection.State == filehost.Connected || connection.Refused != nil {
		return nil, nil
	}
	who, err := s.config.Identify(ctx, userID)
	switch {
	case filehost.KindOf(err) == filehost.NotFound, err == nil && (who.Bot || vouchedEmail(who)):
		return nil, nil
	case err != nil:
		return nil, err
	}
	return &refusal{reason: unverifiedEmail}, nil
}

// unfit says why an account of the host is not connected to a user; "" = it may be.
func (s *Store) unfit(ctx context.Context, userID string, user filehost.HostUser) (reason string, err error) {
	who, err := s.config.Identify(ctx, userID)
	if err != nil && filehost.KindOf(err) != filehost.NotFound {
		return "", err
	}
	return s.mismatch(who, user), nil
}

// mismatch says why an account of the host is not the one of who has signed in; "" = it is. A sign-in link can be sent to
// somebody else, who then signs in with his account for the sender: the email address must be the same on both sides.
func (s *Store) mismatch(who filehost.Identity, user filehost.HostUser) string {
	name := s.config.Host.Name
	switch {
	case who.Bot:
		return "Bots are connected with a user name and an app password."
	case !who.Active:
		return "Your account is deactivated."
	case s.config.AnyEmail:
		return ""
	case !vouchedEmail(who):
		return unverifiedEmail
	case user.Email == "":
		return "The account that was signed in with has no email address in " + name + ", so nobody can tell whether it is yours. Enter " + who.Email + " in its settings there, and connect again."
	case !sameEmail(who.Email, user.Email):
		return "The account that was signed in with has another email address in " + name + " (" + masked(user.Email) + ") than you have in Mattermost (" + who.Email + "). Sign in there with your own account."
	}
	return ""
}

// sameEmail compares addresses as Mattermost keeps them, in lower case. Only ASCII letters have a case here: others may
// look alike and be somebody else's.
func sameEmail(a, b string) bool { return asciiLower(a) == asciiLower(b) }

func asciiLower(text string) string {
	return strings.Map(func(r rune) rune {
		if 'A' <= r && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}

// masked is an address of which its owner recognises enough and others learn little.
func masked(email string) string {
	local, domain, found := strings.Cut(email, "@")
	if !found || local == "" {
		return "an unusual address"
	}
	first := []rune(local)[0]
	return string(first) + "…@" + domain
}
