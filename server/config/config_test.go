package config_test

import (
	"encoding/json"
	"maps"
	"net/netip"
	"os"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
)

const site = "https://chat.example.com/team"

var kinds = config.Kinds{"nextcloud": true, "owncloud": true, "webdav": false}

func valid() map[string]any {
	return map[string]any{"hosturl": "https://cloud.example.com/sub/", "oauthclientid": "mattermost"}
}

func TestDefaultsCompleteAMinimalConfiguration(t *testing.T) {
	got, err := config.New(valid(), site, kinds)
	require.NoError(t, err)
	assert.Equal(t, "https://cloud.example.com/sub", got.Host.BaseURL.String())
	assert.Equal(t, "https://cloud.example.com", got.Host.Origin())
	assert.Equal(t, int64(1<<30), got.Settings.MaxCopyBytes)
	assert.Equal(t, 30*time.Second, got.StallAfter)
	assert.Equal(t, "mattermost", got.OAuth.ClientID)
}

func TestWrongSettingsAreNamed(t *testing.T) {
	for name, test := range map[string]struct {
		change  map[string]any
		setting string
	}{
		"no address":                    {map[string]any{"hosturl": " "}, "HostURL"},
		"address without scheme":        {map[string]any{"hosturl": "cloud.example.com"}, "HostURL"},
		"http without opting in":        {map[string]any{"hosturl": "http://cloud.example.com"}, "HostURL"},
		"password in the address":       {map[string]any{"hosturl": "https://u:p@cloud.example.com"}, "HostURL"},
		"query in the address":          {map[string]any{"hosturl": "https://cloud.example.com/?a=b"}, "HostURL"},
		"colon without a port":          {map[string]any{"hosturl": "https://cloud.example.com:/"}, "HostURL"},
		"file scheme":                   {map[string]any{"hosturl": "file:///etc/passwd"}, "HostURL"},
		"unknown kind":                  {map[string]any{"hostkind": "floppy"}, "HostKind"},
		"unknown sign-in":               {map[string]any{"signin": "magic"}, "SignIn"},
		"empty name":                    {map[string]any{"hostname": ""}, "HostName"},
		"line break in the name":        {map[string]any{"hostname": "a\nb"}, "HostName"},
		"no client id":                  {map[string]any{"oauthclientid": ""}, "OAuthClientID"},
		"a kind without endpoints":      {map[string]any{"hostkind": "webdav"}, "OAuthIssuer"},
		"issuer over http":              {map[string]any{"oauthissuer": "http://login.example.com"}, "OAuthIssuer"},
		"certificates that are none":    {map[string]any{"hostca": "hello"}, "HostCA"},
		"address list with a name":      {map[string]any{"allowedaddresses": "10.0.0.0/8, intranet"}, "AllowedAddresses"},
		"short key":                     {map[string]any{"encryptionkey": "secret"}, "EncryptionKey"},
		"zero files":                    {map[string]any{"maxfiles": 0}, "MaxFiles"},
		"more files than a post takes":  {map[string]any{"maxfiles": 11}, "MaxFiles"},
		"a number that is a word":       {map[string]any{"maxcopymb": "many"}, "maxcopymb"},
		"a proxy that is no address":    {map[string]any{"proxyurl": "proxy:3128"}, "ProxyURL"},
		"a proxy with its password":     {map[string]any{"proxyurl": "http://u:p@proxy:3128"}, "ProxyURL"},
		"half of the proxy's sign-in":   {map[string]any{"proxyurl": "http://proxy:3128", "proxycredentials": "user"}, "ProxyCredentials"},
		"watchdog below its least time": {map[string]any{"stallseconds": 1}, "StallSeconds"},
	} {
		t.Run(name, func(t *testing.T) {
			settings := valid()
			maps.Copy(settings, test.change)
			_, err := config.New(settings, site, kinds)
			var problems config.Problems
			require.ErrorAs(t, err, &problems)
			assert.Len(t, problems, 1)
			assert.Equal(t, test.setting, problems[0].Setting)
		})
	}
}

func TestASiteURLIsAnAddressOrNone(t *testing.T) {
	unset, err := config.New(valid(), "", kinds)
	require.NoError(t, err)
	assert.Nil(t, unset.SiteURL)
	for _, wrong := range []string{"chat.example.com", "/chat", "https://", "https://%zz"} {
		_, err = config.New(valid(), wrong, kinds)
		require.ErrorContains(t, err, "“SiteURL”: correct the Site URL", wrong)
	}
}

func TestAllProblemsAreReportedAtOnceAndNoneHoldsASecret(t *testing.T) {
	_, err := config.New(map[string]any{"encryptionkey": "canary", "maxfiles": 99, "hostca": "canary", "maxcopymb": "many"}, site, kinds)
	require.Error(t, err)
	for _, setting := range []string{"“Address of the file host”", "“Encryption key”", "“Files per post”", "“CA certificates”", "“OAuth client id”", "“Largest file to copy (MiB)”"} {
		assert.Contains(t, err.Error(), setting)
	}
	assert.NotContains(t, err.Error(), "canary")
}

func TestPlainAddressesAndNetworksAreAllowed(t *testing.T) {
	settings := valid()
	settings["allowedaddresses"] = "10.1.2.3/16, ::1\n192.168.7.5"
	got, err := config.New(settings, site, kinds)
	require.NoError(t, err)
	assert.Equal(t, []netip.Prefix{
		netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("192.168.7.5/32"),
	}, got.AllowedAddresses)
}

// The manifest is what admins see; the struct is what the plugin reads. They must not part.
func TestManifestAndSettingsAgree(t *testing.T) {
	raw, err := os.ReadFile("../../plugin.json")
	require.NoError(t, err)
	var manifest struct {
		SettingsSchema struct {
			Settings []struct {
				Key         string `json:"key"`
				DisplayName string `json:"display_name"`
				HelpText    string `json:"help_text"`
				Default     any    `json:"default"`
				Secret      bool   `json:"secret"`
			} `json:"settings"`
		} `json:"settings_schema"`
	}
	require.NoError(t, json.Unmarshal(raw, &manifest))
	defaults := reflect.ValueOf(config.Defaults())
	assert.Len(t, manifest.SettingsSchema.Settings, defaults.NumField())
	for _, setting := range manifest.SettingsSchema.Settings {
		field := defaults.FieldByName(setting.Key)
		require.True(t, field.IsValid(), setting.Key)
		assert.NotEmpty(t, setting.DisplayName, setting.Key)
		assert.NotEmpty(t, setting.HelpText, setting.Key)
		isSecret := field.Type().Name() == "Secret"
		assert.Equal(t, isSecret, setting.Secret, setting.Key)
		if !isSecret {
			assert.EqualValues(t, field.Interface(), setting.Default, setting.Key)
		}
	}
}
