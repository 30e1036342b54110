package tokens

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/coreos/go-oidc/v3/oidc"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// keysCheckTime is how old the keys of ID tokens may be for a health check: new ones are asked for no more often.
const keysCheckTime = time.Minute

// CheckTokenEndpoint asks whether the sign-in server is there, with no grant and no credential, and tells what the last
// real exchange has shown of it. The error's Message is a remedy for the admin.
func (s *Store) CheckTokenEndpoint(ctx context.Context) error {
	if s.provider == nil {
		return nil
	}
	err := s.checkTokenEndpoint(filehost.AsProbe(ctx))
	var failed *filehost.Error
	var degraded *filehost.Degraded
	switch {
	case errors.As(err, &degraded):
		degraded.Remedy = capital(degraded.Remedy)
	case errors.As(err, &failed):
		failed.Message = capital(failed.Message)
	}
	return err
}

// capital makes a text begin with a capital letter.
func capital(text string) string {
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + text[size:]
}

func (s *Store) checkTokenEndpoint(ctx context.Context) error {
	setting := s.tokenSetting()
	if s.provider.OAuth.Issuer != "" {
		if _, err := s.discover(ctx); err != nil {
			return cmp.Or(s.refusedRemedy(), s.discoveryRemedy(err))
		}
	}
	found, err := s.endpoints(ctx) // of the metadata just read
	if err != nil {
		return err
	}
	at := found.Token
	name := "the sign-in server (" + withoutQuery(at) + ")"
	last, err := s.knock(ctx, at)
	if err != nil {
		return cmp.Or(s.refusedRemedy(), s.endpointRemedy(name, setting, err))
	}
	var proof error // can't be given of who signs in
	if s.signsIn() {
		proof = cmp.Or(refusalRemedy(name, found), s.keysRemedy(ctx, found))
	}
	return cmp.Or(s.signingRemedy(ctx), s.refusedRemedy(), proof, s.answerRemedy(name, setting, last), s.exchangeRemedy(name, setting),
		filehost.CheckClock(name, last.header, s.config.Clock.Now()))
}

// refusalRemedy is the error for a server whose metadata says that nobody can be sent there; nil = everybody can.
func refusalRemedy(name string, found endpoints) error {
	reason := found.refusal()
	if reason == "" {
		return nil
	}
	return filehost.E(filehost.NotConfigured, name+" "+reason+". Change that there, or take another sign-in server: nobody can sign in.", nil)
}

// keysRemedy is the error for keys without which no ID token can be checked; nil = they are there, or not needed.
func (s *Store) keysRemedy(ctx context.Context, found endpoints) error {
	if found.Keys == "" || !slices.Contains(found.Scopes, oidc.ScopeOpenID) {
		return nil // refusalRemedy says whether an address is missing
	}
	_, err := s.providerKeys(ctx, found.Keys, keysCheckTime)
	if err == nil {
		return nil
	}
	name := "the address of the sign-in server's keys (" + withoutQuery(found.Keys) + ")"
	var status statusError
	switch {
	case errors.Is(err, errNoKeys):
		return filehost.E(filehost.HostUnavailable, name+" shows no key that ID tokens can be checked with: public RSA keys of 2048 to 8192 bits, EC keys or Ed25519. Nobody can sign in until the server has one.", err)
	case errors.Is(err, errNotThere), errors.Is(err, errNotJSON):
		return filehost.E(filehost.HostUnavailable, name+" shows no keys: correct jwks_uri in the server's own configuration, or let the Mattermost server's requests through. Nobody can sign in until then.", err)
	case errors.As(err, &status):
		return filehost.E(filehost.HostUnavailable, fmt.Sprintf("%s does not show them (%d): look into the server's log, or let the Mattermost server's requests through. Nobody can sign in until then.", name, int(status)), err)
	}
	return s.endpointRemedy(name, filehost.LabelOAuthIssuer, err)
}

// tokenSetting is the label of the setting that the token endpoint's address follows from.
func (s *Store) tokenSetting() string {
	switch {
	case s.provider.OAuth.TokenURL != "":
		return filehost.LabelOAuthTokenURL
	case s.provider.OAuth.Issuer != "":
		return filehost.LabelOAuthIssuer
	}
	return filehost.LabelHostURL
}

// published tells whether the token endpoint's address is the one of the server's metadata.
func (s *Store) published() bool {
	return s.provider.OAuth.Issuer != "" && s.provider.OAuth.TokenURL == ""
}

// knocked is the head of an answer to a knock.
type knocked struct {
	status   int
	header   http.Header
	location string // of a redirect, without its query, which could hold anything
}

// knock asks for the head of the token endpoint, which need not know the method: it is enough that somebody answers.
func (s *Store) knock(ctx context.Context, address string) (knocked, error) {
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodHead, address, nil)
	if err != nil {
		return knocked{}, err
	}
	response, err := s.config.Client.Do(request)
	if err != nil {
		return knocked{}, callFailed(ctx, err)
	}
	_ = response.Body.Close()
	seen := knocked{status: response.StatusCode, header: response.Header, location: "nowhere"}
	if target, err := response.Location(); err == nil {
		seen.location = fmt.Sprintf("%.200s", withoutQuery(target.String()))
	}
	return seen, nil
}

// answerRemedy judges the answer to a knock. One that a token endpoint could give is none of the admin's concern; neither
// is any of one that has answered real exchanges.
func (s *Store) answerRemedy(name, setting string, last knocked) error {
	status := last.status
	kind, _, _ := mime.ParseMediaType(last.header.Get("Content-Type"))
	seen := fmt.Errorf("the server answered %d", status)
	warn := func(format string, more ...any) error {
		if s.proven() {
			return nil
		}
		return &filehost.Degraded{Err: seen, Remedy: fmt.Sprintf("%s "+format+" If sign-ins fail, correct “%s” in the plugin's settings.", append(append([]any{name}, more...), setting)...)}
	}
	switch {
	case status == http.StatusTooManyRequests:
		return throttledRemedy(name, seen)
	case status == http.StatusServiceUnavailable && last.header.Get("X-Nextcloud-Maintenance-Mode") == "1":
		return filehost.E(filehost.Maintenance, name+" is in maintenance: wait until it ends, or end it there.", seen)
	case status >= http.StatusInternalServerError && status != http.StatusNotImplemented:
		return filehost.E(filehost.HostUnavailable, filehost.BrokenRemedy(name, status), seen)
	case status == http.StatusProxyAuthRequired:
		return filehost.E(filehost.HostUnavailable, filehost.ProxyRemedy(name, "server", status), seen)
	case status/100 == 3:
		return warn("redirects (%d) to %s, and redirects are not followed.", status, last.location)
	case s.published() && status == http.StatusNotFound:
		return nil // an address of the server's own cannot be wrong: some answer so to a method that they do not know
	case status == http.StatusNotFound, status == http.StatusGone:
		return warn("seems to have nothing at this address (%d).", status)
	case status == http.StatusOK && kind == "text/html":
		return warn("shows a web page at this address, which a token endpoint does not.")
	}
	return nil
}

// withoutQuery is an address as an admin may read it.
func withoutQuery(address string) string {
	parsed, err := url.Parse(address)
	if err != nil {
		return "an address that can't be read"
	}
	return (&url.URL{Scheme: parsed.Scheme, Host: parsed.Host, Path: parsed.Path}).String()
}

// endpointRemedy is the error for a server that gave no answer.
func (s *Store) endpointRemedy(name, setting string, cause error) error {
	message := filehost.WayRemedy(cause, name, setting)
	switch {
	case message != "":
	case errors.Is(cause, context.DeadlineExceeded):
		message = filehost.SilentRemedy(name)
	default:
		message = name + " gives no answer that can be read: check “" + setting + "” in the plugin's settings, that the server runs, and its log."
	}
	return filehost.E(filehost.HostUnavailable, message, cause)
}

// discoveryRemedy is the error for metadata that can't be had.
func (s *Store) discoveryRemedy(cause error) error {
	name := "the sign-in server (" + s.provider.OAuth.Issuer + ")"
	var status statusError
	var unacceptable *metadataError
	correct := "correct “" + filehost.LabelOAuthIssuer + "” in the plugin's settings"
	switch {
	case errors.As(cause, &unacceptable):
		return filehost.E(filehost.HostUnavailable, name+" publishes metadata that can't be used: "+unacceptable.why+". Correct “"+filehost.LabelOAuthIssuer+"” in the plugin's settings, or the server's own configuration.", cause)
	case errors.Is(cause, errNotThere):
		return filehost.E(filehost.HostUnavailable, name+" publishes no metadata below that address (404 at /.well-known/openid-configuration): "+correct+", which is the address without the part from /.well-known on.", cause)
	case errors.Is(cause, errNotJSON):
		return filehost.E(filehost.HostUnavailable, name+" answers with something else than its metadata, such as a web page: "+correct+", or let the Mattermost server's requests through without it.", cause)
	case errors.As(cause, &status) && status/100 == 5:
		return filehost.E(filehost.HostUnavailable, filehost.BrokenRemedy(name, int(status)), cause)
	case errors.As(cause, &status):
		return filehost.E(filehost.HostUnavailable, fmt.Sprintf("%s does not show its metadata (%d): %s, or let the Mattermost server's requests through.", name, int(status), correct), cause)
	}
	return s.endpointRemedy(name, filehost.LabelOAuthIssuer, cause)
}
