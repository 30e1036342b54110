package stack

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strconv"

	"github.com/filehost/mattermost-plugin-filehost-attach/e2e/rest"
)

// MaxFileSize is the server's own limit for an upload, in bytes.
const MaxFileSize = 2 << 30

// Mattermost is a running server.
type Mattermost struct {
	process *process
	// Version is the folder below e2e/mattermost that it was built in.
	Version string
	// Program is the path of the server's executable.
	Program string
	// URL is where the server is found: the site URL, unless that isn't set or another node has it.
	URL string
	dir string
	// config is the path of the file that the server keeps its configuration in.
	config string
}

// Settings are values of the server's configuration by section and name, such as "ServiceSettings" and "ReadTimeout".
type Settings map[string]map[string]any

// siteConfig is what a server is started with.
type siteConfig struct {
	// Dir holds what one node has for itself, Files what all of them share.
	Program, Version, Dir, Files, DSN string
	// Address is where the server listens, URL where it is found: the same, unless something stands before it.
	Address, URL string
	// SiteURL is ServiceSettings.SiteURL, which may be empty.
	SiteURL string
	// Saved is the configuration of the node whose equal this one becomes; nil for the first.
	Saved map[string]any
	// Settings may be changed while the server runs.
	Settings Settings
	// S3 is where files lie instead of the folder Files, if it isn't nil.
	S3 *s3
}

func startMattermost(ctx context.Context, cfg siteConfig) (*Mattermost, error) {
	if err := os.MkdirAll(cfg.Dir, 0o755); err != nil {
		return nil, err
	}
	// A socket's path is limited to about a hundred bytes, which a folder of ours may exceed.
	sockets, err := os.MkdirTemp("", "mm")
	if err != nil {
		return nil, err
	}
	server := &Mattermost{
		Program: cfg.Program, Version: cfg.Version, URL: cfg.URL, dir: sockets, config: filepath.Join(cfg.Dir, "config.json"),
	}
	if err := writeChangeable(server.config, cfg); err != nil {
		return nil, err
	}
	server.process, err = start(command{
		Name: "mattermost", Dir: cfg.Dir,
		Args: []string{cfg.Program, "server", "--config", server.config},
		Env:  serverEnv(cfg, filepath.Join(sockets, "local.socket")),
	})
	if err != nil {
		return nil, err
	}
	// A server that doesn't get ready is handed back all the same, to be stopped.
	return server, until(ctx, server.process, func(ctx context.Context) error {
		return rest.New(server.URL, "").Get(ctx, "/api/v4/system/ping", nil)
	})
}

// writeChangeable writes those settings that a test may change while the server runs: what the
// environment says can't be.
func writeChangeable(file string, cfg siteConfig) error {
	settings := map[string]any{}
	maps.Copy(settings, cfg.Saved)
	addresses := Settings{"ServiceSettings": {"ListenAddress": cfg.Address, "SiteURL": cfg.SiteURL}}
	for _, added := range []Settings{addresses, cfg.Settings} {
		for section, values := range added {
			merged := map[string]any{}
			if saved, ok := settings[section].(map[string]any); ok {
				maps.Copy(merged, saved)
			}
			maps.Copy(merged, values)
			settings[section] = merged
		}
	}
	content, err := json.Marshal(settings)
	if err != nil {
		return err
	}
	return os.WriteFile(file, content, 0o600)
}

func serverEnv(cfg siteConfig, socket string) []string {
	settings := map[string]string{
		"SQLSETTINGS_DRIVERNAME":                     "postgres",
		"SQLSETTINGS_DATASOURCE":                     cfg.DSN,
		"SERVICESETTINGS_ENABLELOCALMODE":            "true",
		"SERVICESETTINGS_LOCALMODESOCKETLOCATION":    socket,
		"SERVICESETTINGS_ENABLESECURITYFIXALERT":     "false",
		"SERVICESETTINGS_ENABLEBOTACCOUNTCREATION":   "true",
		"SERVICESETTINGS_ENABLEUSERACCESSTOKENS":     "true",
		"PLUGINSETTINGS_ENABLE":                      "true",
		"PLUGINSETTINGS_ENABLEUPLOADS":               "true",
		"PLUGINSETTINGS_DIRECTORY":                   filepath.Join(cfg.Dir, "plugins"),
		"PLUGINSETTINGS_CLIENTDIRECTORY":             filepath.Join(cfg.Dir, "client-plugins"),
		"PLUGINSETTINGS_AUTOMATICPREPACKAGEDPLUGINS": "false",
		"PLUGINSETTINGS_ENABLEMARKETPLACE":           "false",
		"PLUGINSETTINGS_ENABLEREMOTEMARKETPLACE":     "false",
		"FILESETTINGS_MAXFILESIZE":                   strconv.Itoa(MaxFileSize),
		"LOGSETTINGS_ENABLEFILE":                     "false",
		"LOGSETTINGS_ENABLEDIAGNOSTICS":              "false",
		"LOGSETTINGS_ENABLESENTRY":                   "false",
		"LOGSETTINGS_CONSOLELEVEL":                   "INFO",
		"EMAILSETTINGS_SENDEMAILNOTIFICATIONS":       "false",
		"EMAILSETTINGS_SENDPUSHNOTIFICATIONS":        "false",
		"RATELIMITSETTINGS_ENABLE":                   "false",
		"ANNOUNCEMENTSETTINGS_ADMINNOTICESENABLED":   "false",
		"ANNOUNCEMENTSETTINGS_USERNOTICESENABLED":    "false",
		"TEAMSETTINGS_ENABLEOPENSERVER":              "true",
		"TEAMSETTINGS_MAXUSERSPERTEAM":               "1000",
	}
	maps.Copy(settings, fileSettings(cfg))
	env := make([]string, 0, len(settings))
	for name, value := range settings {
		env = append(env, fmt.Sprintf("MM_%s=%s", name, value))
	}
	return env
}

// fileSettings say where the server keeps its files.
func fileSettings(cfg siteConfig) map[string]string {
	if cfg.S3 == nil {
		return map[string]string{"FILESETTINGS_DRIVERNAME": "local", "FILESETTINGS_DIRECTORY": cfg.Files}
	}
	return map[string]string{
		"FILESETTINGS_DRIVERNAME":              "amazons3",
		"FILESETTINGS_AMAZONS3ENDPOINT":        cfg.S3.address,
		"FILESETTINGS_AMAZONS3SSL":             "true",
		"FILESETTINGS_AMAZONS3REGION":          "us-east-1",
		"FILESETTINGS_AMAZONS3BUCKET":          s3Bucket,
		"FILESETTINGS_AMAZONS3ACCESSKEYID":     s3AccessKey,
		"FILESETTINGS_AMAZONS3SECRETACCESSKEY": cfg.S3.secret,
	}
}

// LogFile is where the server writes what it and its plugins log.
func (m *Mattermost) LogFile() string { return m.process.log }

// SavedSettings are a plugin's settings as the server keeps them, secrets included.
func (m *Mattermost) SavedSettings(pluginID string) (map[string]any, error) {
	var saved struct {
		PluginSettings struct{ Plugins map[string]map[string]any }
	}
	err := m.saved(&saved)
	return saved.PluginSettings.Plugins[pluginID], err
}

// saved decodes the server's configuration into out as the server keeps it.
func (m *Mattermost) saved(out any) error {
	content, err := os.ReadFile(m.config)
	if err != nil {
		return err
	}
	return json.Unmarshal(content, out)
}

// Group is the process group of the server and its plugins.
func (m *Mattermost) Group() int { return m.process.cmd.Process.Pid }

// Stop ends the server and its plugins.
func (m *Mattermost) Stop() error {
	m.process.Stop()
	return os.RemoveAll(m.dir)
}
