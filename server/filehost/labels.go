package filehost

import "strings"

// The labels of the settings that remedies name, as the System Console shows them.
const (
	LabelHostKind         = "Kind of file host"
	LabelHostURL          = "Address of the file host"
	LabelHostCA           = "CA certificates"
	LabelAllowedAddresses = "Allowed private addresses"
	LabelAllowHTTP        = "Allow plain HTTP"
	LabelOAuthClientID    = "OAuth client id"
	LabelOAuthSecret      = "OAuth client secret" //nolint:gosec // a label, no secret
	LabelOAuthIssuer      = "OAuth issuer"
	LabelOAuthAuthorize   = "OAuth authorize URL"
	LabelOAuthTokenURL    = "OAuth token URL"
	LabelOAuthScopes      = "OAuth scopes"
	LabelSignIn           = "Sign-in method"
	LabelSubjectClaim     = "Users are named by"
	LabelAssertion        = "Audience of assertions"
	LabelExchangeSubject  = "Token exchange sends"
	LabelActorToken       = "Actor token"
	LabelConnectorID      = "Connector id"
	LabelExchangeAudience = "Audience of the token"
	LabelExchangeResource = "Resource of the token"
	LabelEncryptionKey    = "Encryption key"
	LabelPreviousKey      = "Previous encryption key"
	LabelProxyURL         = "Proxy"
	LabelProxyExcept      = "Reached without the proxy"
	LabelProxyCredentials = "User and password at the proxy" //nolint:gosec // a label, no secret
	LabelStallSeconds     = "Give up on a stalled file after (seconds)"
	LabelAllowUnscanned   = "Allow copies that no plugin scans"
)

// Labels are those of all settings, by their keys in plugin.json. A test compares them with it.
var Labels = map[string]string{
	"HostName":              "Name of the file host",
	"HostKind":              LabelHostKind,
	"HostURL":               LabelHostURL,
	"HostCA":                LabelHostCA,
	"AllowedAddresses":      LabelAllowedAddresses,
	"AllowHTTP":             LabelAllowHTTP,
	"ProxyURL":              LabelProxyURL,
	"ProxyExcept":           LabelProxyExcept,
	"ProxyCredentials":      LabelProxyCredentials,
	"SignIn":                LabelSignIn,
	"OAuthClientID":         LabelOAuthClientID,
	"OAuthClientSecret":     LabelOAuthSecret,
	"OAuthIssuer":           LabelOAuthIssuer,
	"OAuthAuthorizeURL":     LabelOAuthAuthorize,
	"OAuthTokenURL":         LabelOAuthTokenURL,
	"OAuthRevocationURL":    "OAuth revocation URL",
	"OAuthScopes":           LabelOAuthScopes,
	"SignInFallbacks":       "Other sign-in methods",
	"AutomaticFor":          "May connect without signing in",
	"SubjectClaim":          LabelSubjectClaim,
	"SubjectService":        "Single sign-on that vouches for users",
	"AssertionAudience":     LabelAssertion,
	"ExchangeSubject":       LabelExchangeSubject,
	"ExchangeActorToken":    LabelActorToken,
	"ExchangeConnectorID":   LabelConnectorID,
	"ExchangeAudience":      LabelExchangeAudience,
	"ExchangeResource":      LabelExchangeResource,
	"ServiceAccountUser":    "Service account",
	"ServiceAccountSecret":  "Secret of the service account",
	"ServiceAccountWrites":  "Service account may write",
	"LoginFlowAnyEmail":     "Login flow with any address",
	"EncryptionKey":         LabelEncryptionKey,
	"PreviousEncryptionKey": LabelPreviousKey,
	"MaxCopyMB":             "Largest file to copy (MiB)",
	"MaxFiles":              "Files per post",
	"CopiesPerNode":         "Copies at once, per Mattermost node",
	"CopiesPerUser":         "Copies at once, per user and node",
	"StallSeconds":          LabelStallSeconds,
	"AllowUnscannedCopies":  LabelAllowUnscanned,
}

// LabelOf returns the label of the setting with a key in plugin.json, in whatever case: Mattermost stores keys in lower
// case. A key that is none of ours is its own label.
func LabelOf(key string) string {
	for known, label := range Labels {
		if strings.EqualFold(known, key) {
			return label
		}
	}
	return key
}

// Quote puts a label, or a name that somebody else chose, in quotes that JSON leaves as they are.
func Quote(label string) string { return "“" + label + "”" }
