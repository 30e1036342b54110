package config_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/config"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// key returns a key that is long enough and different for each letter.
func key(letter string) string { return strings.Repeat(letter, 32) }

func openFile(name string) (fs.File, error) { return os.Open(name) }

// environment reads the keys of the given variables.
func environment(variables map[string]string) config.Environment {
	return config.ReadEnvironment(func(name string) (string, bool) {
		value, ok := variables[name]
		return value, ok
	}, openFile)
}

func file(t *testing.T, content string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(name, []byte(content), 0o600))
	return name
}

func TestTheKeyOfTheEnvironmentGoesBeforeItsFileAndThatBeforeTheSettings(t *testing.T) {
	settings := config.Config{Key: filehost.NewSecret(key("s")), PreviousKey: filehost.NewSecret(key("p"))}
	inFile := file(t, key("f")+"\r\n")
	for name, test := range map[string]struct {
		settings  config.Config
		variables map[string]string
		current   string
		source    string
		former    []string
	}{
		"nothing":       {config.Config{}, nil, "", "", nil},
		"only settings": {settings, nil, key("s"), "“Encryption key” in the plugin's settings", []string{key("p")}},
		"a variable": {settings, map[string]string{"FILEHOST_ATTACH_KEY": key("v"), "FILEHOST_ATTACH_KEY_FILE": inFile},
			key("v"), "the environment variable FILEHOST_ATTACH_KEY", []string{key("s"), key("p")}},
		"a file": {settings, map[string]string{"FILEHOST_ATTACH_KEY_FILE": inFile},
			key("f"), "the environment variable FILEHOST_ATTACH_KEY_FILE", []string{key("s"), key("p")}},
		"the same as in the settings": {settings, map[string]string{"FILEHOST_ATTACH_KEY": key("s")},
			key("s"), "the environment variable FILEHOST_ATTACH_KEY", []string{key("p")}},
		"a previous one": {config.Config{}, map[string]string{"FILEHOST_ATTACH_KEY": key("v"), "FILEHOST_ATTACH_PREVIOUS_KEY": key("w")},
			key("v"), "the environment variable FILEHOST_ATTACH_KEY", []string{key("w")}},
		"a previous one in a file": {settings, map[string]string{"FILEHOST_ATTACH_PREVIOUS_KEY_FILE": inFile},
			key("s"), "“Encryption key” in the plugin's settings", []string{key("f"), key("p")}},
		"a previous one alone": {config.Config{}, map[string]string{"FILEHOST_ATTACH_PREVIOUS_KEY": key("w")}, "", "", []string{key("w")}},
	} {
		t.Run(name, func(t *testing.T) {
			keys, err := config.NewKeys(test.settings, environment(test.variables))
			require.NoError(t, err)
			assert.Equal(t, test.current, keys.Current.Secret.Reveal())
			assert.Equal(t, test.source, keys.Current.Source)
			var former []string
			for _, k := range keys.Former {
				former = append(former, k.Secret.Reveal())
			}
			assert.Equal(t, test.former, former)
		})
	}
}

func TestAKeyOfTheEnvironmentThatCannotBeUsedNamesItsVariableAndNothingElse(t *testing.T) {
	const short = "canary-of-31-characters-in-all-"
	settings := config.Config{Key: filehost.NewSecret(key("s"))}
	for name, test := range map[string]struct{ variable, value, want string }{
		"empty":                 {config.VariableKey, "", "holds no key"},
		"short":                 {config.VariableKey, short, "fewer than 32 characters"},
		"an empty file":         {config.VariableKeyFile, file(t, "\n"), "holds no key"},
		"a short file":          {config.VariableKeyFile, file(t, short+"\n"), "fewer than 32 characters"},
		"no file":               {config.VariableKeyFile, "canary", "can't be opened (no such file or directory)"},
		"a folder":              {config.VariableKeyFile, t.TempDir(), "can't be read (is a directory)"},
		"a file without end":    {config.VariableKeyFile, "/dev/zero", "larger than 64 KiB"},
		"no path":               {config.VariableKeyFile, "", "can't be opened"},
		"a short previous one":  {config.VariablePreviousKey, short, "fewer than 32 characters"},
		"no previous one there": {config.VariablePreviousKeyFile, "canary", "can't be opened"},
	} {
		t.Run(name, func(t *testing.T) {
			read := environment(map[string]string{test.variable: test.value})
			_, err := config.NewKeys(settings, read)
			require.Equal(t, filehost.NotConfigured, filehost.KindOf(err))
			assert.ErrorContains(t, err, test.variable)
			assert.ErrorContains(t, err, test.want)
			assert.NotContains(t, fmt.Sprintf("%v %+v %#v %v", err, err, read, read), "canary")
		})
	}
}

func TestEveryProblemOfTheEnvironmentIsNamedAtOnce(t *testing.T) {
	_, err := config.NewKeys(config.Config{}, environment(map[string]string{config.VariableKey: "", config.VariablePreviousKey: "short"}))
	assert.ErrorContains(t, err, config.VariableKey+" holds no key")
	assert.ErrorContains(t, err, config.VariablePreviousKey+" holds a key of fewer")
}
