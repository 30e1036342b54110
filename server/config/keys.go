package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
	"unicode/utf8"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The environment variables that go before the settings of the encryption keys. The server hands its environment to the
// plugin.
const (
	VariableKey             = "FILEHOST_ATTACH_KEY"
	VariableKeyFile         = "FILEHOST_ATTACH_KEY_FILE" // names a file that holds the key
	VariablePreviousKey     = "FILEHOST_ATTACH_PREVIOUS_KEY"
	VariablePreviousKeyFile = "FILEHOST_ATTACH_PREVIOUS_KEY_FILE"
)

// maxKeyFile is how much of a file is read for a key, in bytes.
const maxKeyFile = 64 << 10

// Environment is what the server's environment says of the encryption keys.
type Environment struct {
	Key      Variable
	Previous Variable
}

// Variable is one key as the environment gives it. Its Name is "" when the environment gives none.
type Variable struct {
	Name    string
	Secret  filehost.Secret
	Problem string // why it can't be used, in words that hold nothing of what was read; "" = it can
}

// ReadEnvironment reads the keys of the environment by lookup (os.LookupEnv), and the files that it names by open.
func ReadEnvironment(lookup func(name string) (string, bool), open func(name string) (fs.File, error)) Environment {
	read := func(direct, file string) Variable {
		if value, ok := lookup(direct); ok {
			return Variable{Name: direct, Secret: filehost.NewSecret(value)}
		}
		if path, ok := lookup(file); ok {
			return readKeyFile(file, path, open)
		}
		return Variable{}
	}
	return Environment{Key: read(VariableKey, VariableKeyFile), Previous: read(VariablePreviousKey, VariablePreviousKeyFile)}
}

// readKeyFile reads a key of a file, without the line end that editors add. Neither the path nor what is read gets into
// Problem: an admin may have taken the variable for the one of the key itself.
func readKeyFile(variable, path string, open func(name string) (fs.File, error)) Variable {
	failed := func(format string, values ...any) Variable {
		return Variable{Name: variable, Problem: fmt.Sprintf(format, values...)}
	}
	file, err := open(path)
	if err != nil {
		return failed("the file that it names can't be opened (%s); it takes the path of a file which the Mattermost server's user may read", withoutPath(err))
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxKeyFile+1))
	switch {
	case err != nil:
		return failed("the file that it names can't be read (%s)", withoutPath(err))
	case len(content) > maxKeyFile:
		return failed("the file that it names is larger than %d KiB, which is no key", maxKeyFile>>10)
	}
	return Variable{Name: variable, Secret: filehost.NewSecret(strings.TrimRight(string(content), "\r\n"))}
}

func withoutPath(err error) string {
	var at *fs.PathError
	if errors.As(err, &at) {
		err = at.Err
	}
	return err.Error()
}

// Key is an encryption key and where it comes from.
type Key struct {
	Secret filehost.Secret
	Source string // in an admin's words
}

// Keys are the encryption keys that the admin has given.
type Keys struct {
	Current Key   // Secret is empty: the plugin makes one
	Former  []Key // still open what they have encrypted
}

// NewKeys puts the environment before the settings. A key of the settings that the environment overrides still opens what
// it has encrypted, so that moving the key out of the settings loses nobody's connection. It fails with NotConfigured,
// and names the variable.
func NewKeys(settings Config, environment Environment) (Keys, error) {
	var known []Key
	var problems []string
	add := func(variable Variable, setting filehost.Secret, label string) {
		if variable.Name != "" {
			if problem := variable.problem(); problem != "" {
				problems = append(problems, problem)
			}
			known = append(known, Key{variable.Secret, "the environment variable " + variable.Name})
		}
		known = append(known, Key{setting, filehost.Quote(label) + " in the plugin's settings"})
	}
	add(environment.Key, settings.Key, filehost.LabelEncryptionKey)
	current := len(known)
	add(environment.Previous, settings.PreviousKey, filehost.LabelPreviousKey)
	if len(problems) > 0 {
		return Keys{}, filehost.E(filehost.NotConfigured, strings.Join(problems, " "), nil)
	}
	var keys Keys
	for i, key := range known {
		switch {
		case key.Secret.IsEmpty(), key.Secret.Equal(keys.Current.Secret):
		case i < current && keys.Current.Secret.IsEmpty():
			keys.Current = key
		default:
			keys.Former = append(keys.Former, key)
		}
	}
	return keys, nil
}

// problem says what is wrong with a variable and what to do; "" = nothing.
func (v Variable) problem() string {
	length := utf8.RuneCountInString(v.Secret.Reveal())
	switch {
	case v.Problem != "":
		return "The environment variable " + v.Name + ": " + v.Problem + "."
	case length == 0:
		return fmt.Sprintf("The environment variable %s holds no key: give it at least %d random characters, or unset it, and restart the Mattermost server.", v.Name, minKey)
	case length < minKey:
		return fmt.Sprintf("The environment variable %s holds a key of fewer than %d characters: give it at least as many, at random, and restart the Mattermost server.", v.Name, minKey)
	}
	return ""
}
