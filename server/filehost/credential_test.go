package filehost_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestASecretPrintsNowhere(t *testing.T) {
	const canary = "canary-58e1"
	secret := filehost.NewSecret(canary)
	hidden := struct {
		inside     filehost.Secret
		credential filehost.Credential
		byUser     map[string]filehost.Secret
	}{secret, filehost.Credential{Secret: secret}, map[string]filehost.Secret{"user": secret}}
	var printed strings.Builder
	for _, value := range []any{secret, &secret, hidden, &hidden, filehost.Credential{Secret: secret}, []filehost.Secret{secret}} {
		asJSON, err := json.Marshal(value)
		require.NoError(t, err)
		printed.Write(asJSON)
		_, err = fmt.Fprintf(&printed, "%v %+v %#v %s", value, value, value, value)
		require.NoError(t, err)
		slog.New(slog.NewTextHandler(&printed, nil)).Info("message", "value", value)
	}
	assert.NotContains(t, printed.String(), canary)
	assert.Equal(t, canary, secret.Reveal())
}

func TestSecretsCompareByValue(t *testing.T) {
	assert.True(t, filehost.NewSecret("a").Equal(filehost.NewSecret("a")))
	assert.False(t, filehost.NewSecret("a").Equal(filehost.NewSecret("b")))
	assert.True(t, filehost.Secret{}.Equal(filehost.NewSecret("")))
	var read filehost.Secret
	require.NoError(t, json.Unmarshal([]byte(`"a"`), &read))
	assert.Equal(t, "a", read.Reveal())
	require.Error(t, json.Unmarshal([]byte(`5`), &read))
}
