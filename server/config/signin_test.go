package config_test

import (
	"maps"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// exchanging are settings of a token exchange that are complete.
func exchanging() map[string]any {
	settings := valid()
	maps.Copy(settings, map[string]any{
		"signin": "token_exchange", "signinfallbacks": "oauth, password,", "automaticfor": "team:engineering, group:finance",
		"oauthissuer": "https://login.example.com", "subjectclaim": "auth_data", "subjectservice": "saml",
		"exchangeresource": "https://a.example https://b.example",
	})
	return settings
}

func TestAnAutomaticMethodWithFallbacks(t *testing.T) {
	got, err := config.New(exchanging(), site, kinds)
	require.NoError(t, err)
	assert.Equal(t, []filehost.Method{filehost.MethodTokenExchange, filehost.MethodOAuth, filehost.MethodPassword}, got.Methods)
	assert.Equal(t, filehost.Audience{Teams: []string{"engineering"}, Groups: []string{"finance"}}, got.Automatic.For)
	assert.Equal(t, config.Subject{Claim: config.SubjectAuthData, Service: "saml"}, got.Automatic.Subject)
	assert.Equal(t, config.ExchangeJWT, got.Automatic.Exchange.Subject)
	assert.Equal(t, []string{"https://a.example", "https://b.example"}, got.Automatic.Exchange.Resource)
	assert.Equal(t, "mattermost", got.OAuth.ClientID)
}

func TestTheUserIDNeedsNoSingleSignOnAndMayHaveOne(t *testing.T) {
	for _, service := range []string{"", "gitlab"} {
		settings := exchanging()
		settings["subjectclaim"], settings["subjectservice"] = "user_id", service
		got, err := config.New(settings, site, kinds)
		require.NoError(t, err)
		assert.Equal(t, config.Subject{Claim: config.SubjectUserID, Service: service}, got.Automatic.Subject)
	}
}

func TestInteractiveMethodsNeedNothingOfTheAutomaticOnes(t *testing.T) {
	settings := valid()
	settings["subjectclaim"], settings["oauthclientid"], settings["signin"] = "auth_data", "", "login_flow"
	got, err := config.New(settings, site, kinds)
	require.NoError(t, err)
	assert.Empty(t, got.Automatic)
	assert.Empty(t, got.OAuth)
}

func TestWrongSignInSettingsAreNamed(t *testing.T) {
	openCloud := config.Kinds{"opencloud": false, "nextcloud": true}
	for name, test := range map[string]struct {
		change  map[string]any
		kinds   config.Kinds
		setting string
	}{
		"a fallback that needs no click":       {map[string]any{"signinfallbacks": "service_account"}, kinds, "SignInFallbacks"},
		"a fallback that is unknown":           {map[string]any{"signinfallbacks": "oauth,magic"}, kinds, "SignInFallbacks"},
		"a fallback that would sign in":        {map[string]any{"signin": "password", "signinfallbacks": "jwt_bearer", "oauthissuer": "", "oauthclientid": ""}, kinds, "SignInFallbacks"},
		"a fallback that is there twice":       {map[string]any{"signinfallbacks": "oauth,oauth"}, kinds, "SignInFallbacks"},
		"nobody to connect automatically":      {map[string]any{"automaticfor": " , "}, kinds, "AutomaticFor"},
		"a user to connect automatically":      {map[string]any{"automaticfor": "user:ann"}, kinds, "AutomaticFor"},
		"a team without a name":                {map[string]any{"automaticfor": "team:"}, kinds, "AutomaticFor"},
		"no single sign-on for its ids":        {map[string]any{"subjectservice": ""}, kinds, "SubjectService"},
		"an unknown single sign-on":            {map[string]any{"subjectservice": "facebook"}, kinds, "SubjectService"},
		"an unknown one for nothing":           {map[string]any{"subjectclaim": "user_id", "subjectservice": "facebook"}, kinds, "SubjectService"},
		"user names that may be made up":       {map[string]any{"subjectclaim": "username", "subjectservice": "gitlab"}, kinds, "SubjectService"},
		"user names that nobody vouches for":   {map[string]any{"subjectclaim": "username", "subjectservice": ""}, kinds, "SubjectService"},
		"an unknown claim":                     {map[string]any{"subjectclaim": "nickname"}, kinds, "SubjectClaim"},
		"an unknown subject token":             {map[string]any{"exchangesubject": "saml2"}, kinds, "ExchangeSubject"},
		"Zitadel without an actor":             {map[string]any{"exchangesubject": "zitadel_user_id"}, kinds, "ExchangeActorToken"},
		"an exchange at nobody's":              {map[string]any{"oauthissuer": ""}, kinds, "OAuthIssuer"},
		"a login flow at an ownCloud":          {map[string]any{"hostkind": "owncloud", "signinfallbacks": "login_flow"}, kinds, "SignIn"},
		"a service account without its secret": {map[string]any{"signin": "service_account"}, kinds, "ServiceAccountSecret"},
		"a service account with a colon":       {map[string]any{"signin": "service_account", "serviceaccountuser": "a:b", "serviceaccountsecret": "s"}, kinds, "ServiceAccountUser"},
		"a service account with a line break":  {map[string]any{"signin": "service_account", "serviceaccountuser": "a\nb", "serviceaccountsecret": "s"}, kinds, "ServiceAccountUser"},
		"a secret that was pasted with more":   {map[string]any{"signin": "service_account", "serviceaccountsecret": "canary\n"}, kinds, "ServiceAccountSecret"},
		"app tokens of a Nextcloud":            {map[string]any{"signin": "app_token", "serviceaccountuser": "admin", "serviceaccountsecret": "s"}, kinds, "SignIn"},
		"app tokens by nobody":                 {map[string]any{"signin": "app_token", "hostkind": "opencloud", "serviceaccountsecret": "s"}, openCloud, "ServiceAccountUser"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := exchanging()
			maps.Copy(settings, test.change)
			_, err := config.New(settings, site, test.kinds)
			var problems config.Problems
			require.ErrorAs(t, err, &problems)
			require.Len(t, problems, 1, "%v", problems)
			assert.Equal(t, test.setting, problems[0].Setting)
			assert.NotContains(t, err.Error(), "canary")
		})
	}
}
