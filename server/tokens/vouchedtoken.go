package tokens

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// What a user is told of a refusal.
const (
	refusedAtSignIn = "Its sign-in server does not let you in this way: your account there is missing, or not linked with Mattermost."
	refusedAtHost   = "It does not know the account that its sign-in server names."
)

// answerOf is what a token endpoint's refusal of a grant is about that the plugin itself has made.
type answerOf int

const (
	ofNobody  answerOf = iota // an outage, or something else that may pass
	ofUser                    // the user has no access this way; others may
	ofRequest                 // the settings: nobody has
)

// about judges a refusal by its code (RFC 6749 5.2, RFC 8693 2.2.2, RFC 7523 3.1). Where a code may mean either, it is
// taken for one about the user: he is offered another way, and that it befalls others as well is told to the admin.
func (e *tokenError) about() answerOf {
	switch {
	case e.Code == "invalid_request" && e.aboutActor:
		return ofRequest
	case slices.Contains([]string{"invalid_grant", "access_denied", "invalid_request"}, e.Code), e.denied:
		return ofUser
	case e.Code != "":
		return ofRequest
	}
	return ofNobody
}

// vouchedToken obtains an access token for a user with a grant that the plugin makes itself: what form returns for where
// the sign-in server answers. It makes one token request. It fails with a *refusal when that server, or the host, has no
// access for this user, and with NotConfigured when it would refuse anybody.
func (s *Store) vouchedToken(ctx context.Context, who filehost.Identity, form func(endpoints) (url.Values, error)) (issued, error) {
	ctx = filehost.ForUser(ctx, who.UserID)
	at, err := s.endpoints(ctx)
	if err != nil {
		return issued{}, err
	}
	params, err := form(at)
	if err != nil {
		return issued{}, err
	}
	answer, err := s.askVouched(ctx, who, at, params)
	if err != nil {
		return issued{}, err
	}
	s.dropLater(at, answer.RefreshToken)
	if err := s.checkScope(answer, s.vouchedScopes()); err != nil {
		s.revokeUnused(at, answer.AccessToken)
		return issued{}, filehost.E(filehost.NotConfigured, "The sign-in server of "+s.config.Host.Name+" does not grant the scopes that the plugin asks for. Ask your admin to check them.", err)
	}
	if answer.Account, err = s.vouchedAccount(ctx, at, who, answer); err != nil {
		s.revokeUnused(at, answer.AccessToken)
		return issued{}, err
	}
	s.noteAccepted()
	return answer, nil
}

// askVouched makes the token request and judges the answer.
func (s *Store) askVouched(ctx context.Context, who filehost.Identity, at endpoints, params url.Values) (issued, error) {
	if err := s.restingVouched(who.UserID); err != nil {
		return issued{}, s.vouchedFailed(err)
	}
	client := s.client(at, "")
	config := clientcredentials.Config{
		ClientID: client.ClientID, ClientSecret: client.ClientSecret,
		TokenURL: at.Token, AuthStyle: client.Endpoint.AuthStyle,
		Scopes:         s.vouchedScopes(),
		EndpointParams: params, // with their grant_type in the place of the library's
	}
	var failure error // with the answer's words, which go nowhere
	answer, failed := s.callTokenEndpoint(ctx, func(ctx context.Context) (*oauth2.Token, error) {
		var token *oauth2.Token
		token, failure = config.Token(ctx)
		return token, failure
	})
	if failed != nil {
		failed.aboutActor = params.Has("actor_token") && blamesActor(failure, who)
	}
	if failed == nil && params.Has("requested_token_type") {
		failed = checkExchanged(answer)
	}
	if failed != nil && failed.about() == ofUser {
		s.noteRefusal(cmp.Or(failed.Code, "403"), who.UserID)
		return issued{}, &refusal{reason: refusedAtSignIn, cause: failed}
	}
	s.noteVouched(failed, who.UserID)
	if failed != nil {
		return issued{}, s.vouchedFailed(failed)
	}
	return answer, nil
}

// blamesActor tells whether a refusal blames the actor_token by that name (RFC 8693 2.1). One that also holds a name of the
// user's is about him: he may have chosen it.
func blamesActor(refusal error, who filehost.Identity) bool {
	var answer *oauth2.RetrieveError
	if !errors.As(refusal, &answer) {
		return false
	}
	quotes := func(name string) bool {
		return name != "" && strings.Contains(strings.ToLower(answer.ErrorDescription), strings.ToLower(name))
	}
	if slices.ContainsFunc([]string{who.UserID, who.Username, who.Email, who.AuthData}, quotes) {
		return false
	}
	words := strings.FieldsFunc(answer.ErrorDescription, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("\"'`“”‘’()[]:;,", r) })
	return slices.ContainsFunc(words, func(word string) bool { return strings.TrimRight(word, ".") == "actor_token" })
}

// vouchedScopes are those of the settings but for the one that asks for a refresh token: none is kept.
func (s *Store) vouchedScopes() []string {
	return slices.DeleteFunc(slices.Clone(s.config.OAuth.Scopes), func(scope string) bool { return scope == "offline_access" })
}

// vouchedFailed is the error for the user whose token request was not answered with a token, nor with a refusal of him.
func (s *Store) vouchedFailed(err error) error {
	var failed *tokenError
	if throttled, ok := s.throttled(err); ok {
		return throttled
	}
	switch {
	case clientRefused(err):
		return filehost.E(filehost.NotConfigured, clientRefusedMessage, err)
	case errors.As(err, &failed) && failed.about() == ofRequest:
		return filehost.E(filehost.NotConfigured, "The sign-in server of "+s.config.Host.Name+" refused the plugin's request. Ask your admin to check the settings of the sign-in method.", err)
	}
	return s.signInServerDown(err)
}

// vouchedAccount asks the host, and else the sign-in server, whose token it is. Who the host does not know is refused:
// the account may not exist there yet.
func (s *Store) vouchedAccount(ctx context.Context, at endpoints, who filehost.Identity, answer issued) (string, error) {
	account, err := s.config.Account(ctx, filehost.Credential{Scheme: filehost.Bearer, Secret: answer.AccessToken, UserID: who.UserID})
	switch filehost.KindOf(err) {
	case filehost.CredentialRejected, filehost.Forbidden, filehost.NotFound:
		s.noteRefusal("", who.UserID)
		return "", &refusal{reason: refusedAtHost, cause: err}
	}
	switch account = cmp.Or(account, answer.Account); {
	case err != nil:
		return "", err
	case account != "" || at.UserInfo == "" || !slices.Contains(s.vouchedScopes(), "openid"):
		return account, nil
	}
	var user userInfo
	err = s.getJSON(ctx, at.UserInfo, answer.AccessToken, &user)
	var status statusError
	switch {
	case errors.As(err, &status) && status/100 == 4, errors.Is(err, errNotThere):
		return "", nil // the token is for the host alone
	case err != nil:
		return "", s.signInServerDown(err)
	}
	return user.name(), nil
}

// revokeUnused revokes a token that nobody will ever use.
func (s *Store) revokeUnused(at endpoints, token filehost.Secret) {
	if token.IsEmpty() || at.Revocation == "" || !s.config.Pending.begin(s.config.Lifetime) {
		return
	}
	defer s.config.Pending.running.Done()
	s.config.Pending.background(s.config.Log, func() {
		s.revoke(context.WithoutCancel(s.config.Lifetime), at, token, "access_token")
	})
}

// noteVouched takes down how a request ended that was not refused because of the user: nil = with a token. What is wrong
// with the settings gives requests of this kind a rest: others would be refused for the same.
func (s *Store) noteVouched(failed *tokenError, userID string) {
	switch {
	case failed == nil, failed.Code == "invalid_client": // the client is judged before anything that is said of a user
		s.restAfter(failed, s.noteExchange(failed, ""))
	case failed.about() == ofRequest:
		s.restVouched(failed, userID, s.noteDeclined(failed, userID))
	default:
		s.restVouched(failed, userID, s.noteExchange(failed, userID))
	}
}
