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
	// Program is the path of the server's executable.
	Program string
	// URL is where the server is found: the site URL, unless that isn't set or another node has it.
	URL string
	dir string
	// config is the path of the file that the server keeps its configuration in.
	config string
}

// siteConfig is what a server is started with.
type siteConfig struct {
	// Dir holds what one node has for itself, Files what all of them share.
	Program, Dir, Files, DSN string
	// Address is where the server listens, URL where it is found: the same, unless something stands before it.
	Address, URL string
	// SiteURL is ServiceSettings.SiteURL, which may be empty.
	SiteURL string
	// Settings are what the server's configuration begins with, by section and name.
	Settings map[string]any
	// ReadSeconds is ServiceSettings.ReadTimeout; zero means the server's default.
	ReadSeconds int
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
	server := &Mattermost{Program: cfg.Program, URL: cfg.URL, dir: sockets, config: filepath.Join(cfg.Dir, "config.json")}
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
	service, _ := cfg.Settings["ServiceSettings"].(map[string]any)
	service = maps.Clone(service)
	if service == nil {
		service = map[string]any{}
	}
	service["ListenAddress"], service["SiteURL"] = cfg.Address, cfg.SiteURL
	if cfg.ReadSeconds != 0 {
		service["ReadTimeout"] = cfg.ReadSeconds
	}
	settings := maps.Clone(cfg.Settings)
	if settings == nil {
		settings = map[string]any{}
	}
	settings["ServiceSettings"] = service
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
		"FILESETTINGS_DRIVERNAME":                    "local",
		"FILESETTINGS_DIRECTORY":                     cfg.Files,
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
	}
	env := make([]string, 0, len(settings))
	for name, value := range settings {
		env = append(env, fmt.Sprintf("MM_%s=%s", name, value))
	}
	return env
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
