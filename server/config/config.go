// Package config turns the settings of the System Console into a Config that is valid as a whole, or into the list of
// what is wrong with them.
package config

import (
	"crypto/x509"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Kinds are the kinds of host that can be chosen. The value tells whether such a host is a sign-in server itself, so that
// its addresses need not be entered.
type Kinds map[string]bool

// minKey is the length of an encryption key that still can't be guessed, in characters.
const minKey = 32

// Raw are the settings as plugin.json names them.
type Raw struct {
	HostName              string
	HostKind              string
	HostURL               string
	HostCA                string
	AllowedAddresses      string
	AllowHTTP             bool
	ProxyURL              string
	ProxyExcept           string
	ProxyCredentials      filehost.Secret
	SignIn                string
	SignInFallbacks       string
	AutomaticFor          string
	SubjectClaim          string
	SubjectService        string
	AssertionAudience     string
	ExchangeSubject       string
	ExchangeActorToken    filehost.Secret
	ExchangeConnectorID   string
	ExchangeAudience      string
	ExchangeResource      string
	ServiceAccountUser    string
	ServiceAccountSecret  filehost.Secret
	ServiceAccountWrites  bool
	LoginFlowAnyEmail     bool
	OAuthClientID         string
	OAuthClientSecret     filehost.Secret
	OAuthIssuer           string
	OAuthAuthorizeURL     string
	OAuthTokenURL         string
	OAuthRevocationURL    string
	OAuthScopes           string
	EncryptionKey         filehost.Secret
	PreviousEncryptionKey filehost.Secret
	MaxCopyMB             int64
	MaxFiles              int64
	CopiesPerNode         int64
	CopiesPerUser         int64
	StallSeconds          int64
	AllowUnscannedCopies  bool
}

// Config is a valid configuration.
type Config struct {
	Host             filehost.Host
	CA               []byte // PEM; nil = the system's
	AllowedAddresses []netip.Prefix
	AllowHTTP        bool
	Proxy            Proxy
	Methods          []filehost.Method // how people connect: the best first; only the first may be automatic
	OAuth            OAuth             // of the methods that need a sign-in server
	AnyEmail         bool              // a login flow may end with an account of another address than the user's
	Automatic        Automatic         // of the automatic methods
	Key              filehost.Secret   // empty: the plugin makes one
	PreviousKey      filehost.Secret
	Settings         filehost.Settings
	StallAfter       time.Duration
	AllowUnscanned   bool
	SiteURL          *url.URL // nil when it isn't set
}

// Proxy is the HTTP proxy that leads to the file host and its sign-in server; its zero value is none.
type Proxy struct {
	URL         *url.URL
	Credentials filehost.Secret // user:password; empty = none are asked for
	Except      string          // in the form of NO_PROXY
}

// Automatic is how users get access without an act of theirs; empty where they don't.
type Automatic struct {
	For            filehost.Audience
	Subject        Subject
	Exchange       Exchange       // MethodTokenExchange
	ServiceAccount ServiceAccount // MethodServiceAccount; MethodAppToken: the account that makes the tokens
}

// Subject says as whom a user is named to a sign-in server, or to the host.
type Subject struct {
	Claim    string // SubjectAuthData and so on
	Service  string // the single sign-on that vouches for it; "" with SubjectUserID
	Audience string // of assertions; "" = the issuer, or else the token endpoint
}

// What a subject can be taken from.
const (
	SubjectAuthData = "auth_data" // the id at the single sign-on
	SubjectUserID   = "user_id"   // Mattermost's own, which the sign-in server links with an account
	SubjectEmail    = "email"
	SubjectUsername = "username"
)

// Exchange is what a token exchange asks for (RFC 8693 2.1).
type Exchange struct {
	Subject     string // ExchangeJWT and so on
	ActorToken  filehost.Secret
	ConnectorID string // Dex's
	Audience    []string
	Resource    []string
}

// What a token exchange sends as its subject token.
const (
	ExchangeJWT           = "jwt"             // the plugin's own, as urn:ietf:params:oauth:token-type:jwt
	ExchangeIDToken       = "id_token"        // the same, as urn:ietf:params:oauth:token-type:id_token
	ExchangeZitadelUserID = "zitadel_user_id" // the subject itself
)

// ServiceAccount is one account of the host for many users.
type ServiceAccount struct {
	User   string // "" = the secret is a bearer token
	Secret filehost.Secret
	Writes bool
}

// OAuth is the registration at the sign-in server; empty where no method needs one. Empty addresses are derived from the kind
// of host or read from the issuer's metadata.
type OAuth struct {
	ClientID      string
	ClientSecret  filehost.Secret
	Issuer        string
	AuthorizeURL  string
	TokenURL      string
	RevocationURL string
	Scopes        []string
}

// Problem is one wrong setting.
type Problem struct {
	Setting string // its key in plugin.json
	Remedy  string // what to do, in one sentence
}

// Problems are all that is wrong with the settings. It is the error that New returns.
type Problems []Problem

// Error implements error: one line for the log and for /health, which names settings as the System Console does. It holds
// no secret.
func (p Problems) Error() string {
	lines := make([]string, len(p))
	for i, problem := range p {
		lines[i] = filehost.Quote(filehost.LabelOf(problem.Setting)) + ": " + problem.Remedy
	}
	return strings.Join(lines, " ")
}

// Defaults are the settings' defaults, the same as plugin.json's; an older configuration lacks newer settings.
func Defaults() Raw {
	return Raw{HostName: "File host", HostKind: "nextcloud", SignIn: string(filehost.MethodOAuth), SubjectClaim: SubjectUserID, ExchangeSubject: ExchangeJWT,
		MaxCopyMB: 1024, MaxFiles: 10, CopiesPerNode: 8, CopiesPerUser: 2, StallSeconds: 30}
}

// New reads and validates the settings. siteURL is ServiceSettings.SiteURL. The error is always of type Problems.
func New(settings map[string]any, siteURL string, kinds Kinds) (Config, error) {
	raw, problems := read(settings)
	v := validator{allowHTTP: raw.AllowHTTP, kinds: kinds, problems: problems}
	config := Config{
		Host:             filehost.Host{ID: filehost.DefaultHostID, Name: v.name(raw.HostName), Kind: v.oneOf("HostKind", raw.HostKind, slices.Sorted(maps.Keys(kinds))), BaseURL: v.base("HostURL", raw.HostURL)},
		CA:               v.certificates(raw.HostCA),
		AllowedAddresses: v.prefixes(raw.AllowedAddresses),
		AllowHTTP:        raw.AllowHTTP,
		Proxy:            v.proxy(raw),
		Methods:          v.methods(raw),
		AnyEmail:         raw.LoginFlowAnyEmail,
		Key:              v.key("EncryptionKey", raw.EncryptionKey),
		PreviousKey:      v.key("PreviousEncryptionKey", raw.PreviousEncryptionKey),
		Settings: filehost.Settings{
			MaxCopyBytes:  v.within("MaxCopyMB", raw.MaxCopyMB, 1, 1<<20) << 20,
			MaxFiles:      int(v.within("MaxFiles", raw.MaxFiles, 1, 10)),
			CopiesPerNode: int(v.within("CopiesPerNode", raw.CopiesPerNode, 1, 100)),
			CopiesPerUser: int(v.within("CopiesPerUser", raw.CopiesPerUser, 1, 100)),
		},
		StallAfter:     time.Duration(v.within("StallSeconds", raw.StallSeconds, 5, 300)) * time.Second,
		AllowUnscanned: raw.AllowUnscannedCopies,
		SiteURL:        v.site(siteURL),
	}
	if slices.ContainsFunc(config.Methods, filehost.Method.UsesSignInServer) {
		config.OAuth = v.oauth(raw, config.Methods)
	}
	if config.Methods[0].Automatic() {
		config.Automatic = v.automatic(raw, config.Methods[0])
	}
	if len(v.problems) > 0 {
		return Config{}, v.problems
	}
	return config, nil
}

// read decodes the settings one by one, so that one of a wrong type is named and does not hide the others. The server
// hands the keys in lower case; encoding/json doesn't mind.
func read(settings map[string]any) (Raw, Problems) {
	raw := Defaults()
	var problems Problems
	for key, value := range settings {
		one, err := json.Marshal(map[string]any{key: value})
		if err == nil {
			err = json.Unmarshal(one, &raw)
		}
		if err != nil {
			problems = append(problems, Problem{key, "has a value of the wrong type; set it anew in the System Console."})
		}
	}
	slices.SortFunc(problems, func(a, b Problem) int { return strings.Compare(a.Setting, b.Setting) })
	return raw, problems
}

// validator collects problems while it reads settings.
type validator struct {
	allowHTTP bool
	kinds     Kinds
	problems  Problems
}

func (v *validator) fail(setting, format string, args ...any) {
	v.problems = append(v.problems, Problem{setting, fmt.Sprintf(format, args...)})
}

func (v *validator) name(name string) string {
	if name = strings.TrimSpace(name); name == "" || utf8.RuneCountInString(name) > 64 || strings.ContainsFunc(name, isControl) {
		v.fail("HostName", "enter a name of 1 to 64 characters.")
	}
	return name
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func (v *validator) oneOf(setting, value string, allowed []string) string {
	if !slices.Contains(allowed, value) {
		v.fail(setting, "choose one of %s.", strings.Join(allowed, ", "))
	}
	return value
}

func (v *validator) within(setting string, value, least, most int64) int64 {
	if value < least || value > most {
		v.fail(setting, "enter a number from %d to %d.", least, most)
	}
	return value
}

func (v *validator) key(setting string, key filehost.Secret) filehost.Secret {
	if length := utf8.RuneCountInString(key.Reveal()); length > 0 && length < minKey {
		v.fail(setting, "enter at least %d random characters, or leave it empty.", minKey)
	}
	return key
}

// base reads a required address and returns it without a trailing slash.
func (v *validator) base(setting, raw string) *url.URL {
	if strings.TrimSpace(raw) == "" {
		v.fail(setting, "enter the address, such as https://cloud.example.com.")
		return &url.URL{}
	}
	return v.address(setting, raw)
}

// optional reads an address that may be empty.
func (v *validator) optional(setting, raw string) string {
	if strings.TrimSpace(raw) == "" {
		return ""
	}
	return v.address(setting, raw).String()
}

func (v *validator) address(setting, raw string) *url.URL {
	parsed, err := url.Parse(strings.TrimSuffix(strings.TrimSpace(raw), "/"))
	switch {
	case err != nil || parsed.Hostname() == "" || parsed.Opaque != "" || strings.HasSuffix(parsed.Host, ":"):
		v.fail(setting, "enter a whole address, such as https://cloud.example.com.")
	case parsed.Scheme != "https" && parsed.Scheme != "http":
		v.fail(setting, "the address must start with https://.")
	case parsed.Scheme == "http" && !v.allowHTTP:
		v.fail(setting, "the address must start with https://, or switch “%s” on.", filehost.LabelAllowHTTP)
	case parsed.User != nil:
		v.fail(setting, "the address must hold no user name or password.")
	case parsed.RawQuery != "" || parsed.Fragment != "":
		v.fail(setting, "the address must hold no ? and no #.")
	default:
		return parsed
	}
	return &url.URL{}
}

// proxy reads where the proxy is. Its own address may be http: TLS goes through it to the server.
func (v *validator) proxy(raw Raw) Proxy {
	proxy := Proxy{Credentials: raw.ProxyCredentials, Except: raw.ProxyExcept}
	text := strings.TrimSuffix(strings.TrimSpace(raw.ProxyURL), "/")
	if text == "" {
		return Proxy{}
	}
	parsed, err := url.Parse(text)
	switch {
	case err != nil || parsed.Hostname() == "" || parsed.Scheme != "http" && parsed.Scheme != "https" ||
		parsed.Path != "" || parsed.RawQuery != "" || parsed.Fragment != "":
		v.fail("ProxyURL", "enter an address such as http://proxy.example.com:3128.")
	case parsed.User != nil:
		v.fail("ProxyURL", "the address must hold no user name or password: enter them in “%s”.", filehost.LabelProxyCredentials)
	}
	if text := proxy.Credentials.Reveal(); text != "" && strings.Index(text, ":") < 1 {
		v.fail("ProxyCredentials", "enter them as user:password.")
	}
	proxy.URL = parsed
	return proxy
}

func (v *validator) site(siteURL string) *url.URL {
	if siteURL == "" {
		return nil
	}
	parsed, err := url.Parse(strings.TrimSuffix(siteURL, "/"))
	if err != nil || parsed.Host == "" {
		v.fail("SiteURL", "correct the Site URL of Mattermost (System Console, Environment, Web Server): it is no address.")
	}
	return parsed
}

func (v *validator) certificates(pem string) []byte {
	if strings.TrimSpace(pem) == "" {
		return nil
	}
	if !x509.NewCertPool().AppendCertsFromPEM([]byte(pem)) {
		v.fail("HostCA", "paste certificates in PEM form, each from BEGIN CERTIFICATE to END CERTIFICATE.")
	}
	return []byte(pem)
}

func (v *validator) prefixes(raw string) []netip.Prefix {
	var prefixes []netip.Prefix
	for _, text := range strings.FieldsFunc(raw, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' }) {
		prefix, err := netip.ParsePrefix(text)
		if address, addressErr := netip.ParseAddr(text); addressErr == nil {
			prefix, err = netip.PrefixFrom(address, address.BitLen()), nil
		}
		if err != nil {
			v.fail("AllowedAddresses", "%q is neither an IP address nor a network such as 10.20.0.0/16.", text)
			continue
		}
		prefixes = append(prefixes, prefix.Masked())
	}
	return prefixes
}

func (v *validator) oauth(raw Raw, methods []filehost.Method) OAuth {
	oauth := OAuth{
		ClientID:      strings.TrimSpace(raw.OAuthClientID),
		ClientSecret:  raw.OAuthClientSecret,
		Issuer:        v.optional("OAuthIssuer", raw.OAuthIssuer),
		AuthorizeURL:  v.optional("OAuthAuthorizeURL", raw.OAuthAuthorizeURL),
		TokenURL:      v.optional("OAuthTokenURL", raw.OAuthTokenURL),
		RevocationURL: v.optional("OAuthRevocationURL", raw.OAuthRevocationURL),
		Scopes:        strings.Fields(raw.OAuthScopes),
	}
	if oauth.ClientID == "" {
		v.fail("OAuthClientID", "enter the client id from the file host's or sign-in server's registration.")
	}
	knownServer, known := v.kinds[raw.HostKind]
	switch {
	case oauth.Issuer != "":
	case methods[0] == filehost.MethodTokenExchange || methods[0] == filehost.MethodJWTBearer:
		if oauth.TokenURL == "" {
			v.fail("OAuthIssuer", "enter the issuer of the sign-in server, or “%s”.", filehost.LabelOAuthTokenURL)
		}
	case known && !knownServer && (oauth.AuthorizeURL == "" || oauth.TokenURL == ""):
		v.fail("OAuthIssuer", "enter the issuer, or both “%s” and “%s”: this kind of host has no known ones.", filehost.LabelOAuthAuthorize, filehost.LabelOAuthTokenURL)
	}
	return oauth
}
