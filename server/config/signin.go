package config

import (
	"slices"
	"strings"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// subjectServices are the values of AuthService that a Mattermost account can have, but for a password of its own.
var subjectServices = []string{"gitlab", "google", "ldap", "office365", "openid", "saml"}

// methods reads the preferred method and those that come after it.
func (v *validator) methods(raw Raw) []filehost.Method {
	preferred := v.oneOf("SignIn", raw.SignIn, filehost.MethodNames(filehost.Methods()))
	methods := []filehost.Method{filehost.Method(preferred)}
	for _, text := range list(raw.SignInFallbacks) {
		method := filehost.Method(text)
		switch {
		case !slices.Contains(filehost.InteractiveMethods, method):
			v.fail("SignInFallbacks", "%q can't be a fallback: enter some of %s, separated by commas.", text, strings.Join(filehost.MethodNames(filehost.InteractiveMethods), ", "))
		case slices.Contains(methods, method):
			v.fail("SignInFallbacks", "%q is there twice, or is the sign-in method already.", text)
		default:
			methods = append(methods, method)
		}
	}
	if slices.Contains(methods, filehost.MethodLoginFlow) && raw.HostKind != "nextcloud" {
		v.fail("SignIn", "the login flow is Nextcloud's: choose another method for this kind of host.")
	}
	if methods[0] == filehost.MethodAppToken && raw.HostKind != "opencloud" {
		v.fail("SignIn", "app tokens are OpenCloud's: choose another method for this kind of host.")
	}
	return methods
}

// automatic reads what the automatic methods need.
func (v *validator) automatic(raw Raw, method filehost.Method) Automatic {
	a := Automatic{
		For: v.whom(raw.AutomaticFor),
		Exchange: Exchange{
			Subject:     v.oneOf("ExchangeSubject", raw.ExchangeSubject, []string{ExchangeJWT, ExchangeIDToken, ExchangeZitadelUserID}),
			ActorToken:  raw.ExchangeActorToken,
			ConnectorID: strings.TrimSpace(raw.ExchangeConnectorID),
			Audience:    strings.Fields(raw.ExchangeAudience),
			Resource:    strings.Fields(raw.ExchangeResource),
		},
		ServiceAccount: ServiceAccount{User: strings.TrimSpace(raw.ServiceAccountUser), Secret: raw.ServiceAccountSecret, Writes: raw.ServiceAccountWrites},
	}
	if method == filehost.MethodAppToken || method == filehost.MethodServiceAccount {
		v.sendable("ServiceAccountUser", a.ServiceAccount.User)
		v.sendable("ServiceAccountSecret", a.ServiceAccount.Secret.Reveal())
		if a.ServiceAccount.Secret.IsEmpty() {
			v.fail("ServiceAccountSecret", "enter the app password or token of the account.")
		}
		if strings.Contains(a.ServiceAccount.User, ":") { // RFC 7617 2
			v.fail("ServiceAccountUser", "the name must hold no colon.")
		}
		if method == filehost.MethodAppToken && a.ServiceAccount.User == "" {
			v.fail("ServiceAccountUser", "enter the account that may make app tokens for others.")
		}
	}
	if method == filehost.MethodTokenExchange && a.Exchange.Subject == ExchangeZitadelUserID && a.Exchange.ActorToken.IsEmpty() {
		v.fail("ExchangeActorToken", "enter the token of the account that may impersonate others: Zitadel asks for it.")
	}
	if method != filehost.MethodServiceAccount {
		a.Subject = v.subject(raw)
	}
	return a
}

// sendable refuses what fits into no header, such as a line break that was pasted along. It repeats nothing of it.
func (v *validator) sendable(setting, text string) {
	if strings.ContainsFunc(text, isControl) {
		v.fail(setting, "it holds a line break or another control character; enter it anew without.")
	}
}

// subject reads as whom users are named. What a password account of Mattermost says of itself proves nothing, so all but
// its own immutable id needs the single sign-on that vouches for it. With that id the service may still be named: then
// assertions also hold what it vouches for.
func (v *validator) subject(raw Raw) Subject {
	subject := Subject{
		Claim:    v.oneOf("SubjectClaim", raw.SubjectClaim, []string{SubjectAuthData, SubjectUserID, SubjectEmail, SubjectUsername}),
		Audience: strings.TrimSpace(raw.AssertionAudience),
	}
	service := strings.TrimSpace(raw.SubjectService)
	switch {
	case subject.Claim == SubjectUsername && !slices.Contains(filehost.Directories, service):
		v.fail("SubjectService", "enter one of %s: user names of the others may be Mattermost's own, or choose another “%s”.", strings.Join(filehost.Directories, ", "), filehost.LabelSubjectClaim)
	case subject.Claim != SubjectUserID || service != "":
		service = v.oneOf("SubjectService", service, subjectServices)
	}
	subject.Service = service
	return subject
}

// whom reads who may use an automatic method.
func (v *validator) whom(raw string) filehost.Audience {
	audience, err := filehost.ParseAudience(raw)
	switch {
	case err != nil:
		v.fail("AutomaticFor", "%v.", err)
	case audience.IsEmpty():
		v.fail("AutomaticFor", "enter who gets access without signing in: team:NAME or group:NAME, separated by commas, or everyone.")
	}
	return audience
}

// list splits at commas and leaves out what is empty.
func list(raw string) []string {
	var parts []string
	for part := range strings.SplitSeq(raw, ",") {
		if part = strings.TrimSpace(part); part != "" {
			parts = append(parts, part)
		}
	}
	return parts
}
