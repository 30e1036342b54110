package remote

import (
	"context"
	"embed"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// recordings are multistatus answers as real hosts gave them.
//
//go:embed testdata/*.xml
var recordings embed.FS

func recording(t testing.TB, name string) string {
	t.Helper()
	raw, err := recordings.ReadFile("testdata/" + name + ".xml")
	require.NoError(t, err)
	return string(raw)
}

var alice = filehost.Credential{
	Scheme:   filehost.Basic,
	Username: "alice@example.com",
	Secret:   filehost.NewSecret("canary"),
	Account:  "alice",
}

// serve starts a host on loopback and returns a client of it. base is the path of its base URL.
func serve(t *testing.T, kind, base string, handler http.HandlerFunc) *Client {
	t.Helper()
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.Start()
	t.Cleanup(server.Close)
	return clientOf(t, server.URL+base, Config{Host: filehost.Host{Kind: kind}})
}

// clientOf makes a client of the host at address, and fills in what config leaves out.
func clientOf(t testing.TB, address string, config Config) *Client {
	t.Helper()
	parsed, err := url.Parse(address)
	require.NoError(t, err)
	config.Host.ID, config.Host.Name, config.Host.BaseURL = filehost.DefaultHostID, "Files", parsed
	if config.Client == nil {
		config.Client = &http.Client{Transport: &http.Transport{DisableCompression: true}}
	}
	if config.StallAfter == 0 {
		config.StallAfter = time.Hour
	}
	t.Cleanup(config.Client.CloseIdleConnections)
	client, err := New(config)
	require.NoError(t, err)
	return client
}

// answer is a handler that always gives the same multistatus answer.
func answer(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.WriteHeader(http.StatusMultiStatus)
		_, _ = io.WriteString(w, body) //nolint:gosec // XML, of a test's paths
	}
}

// told are properties of these texts.
func told(texts map[property]string) *properties {
	p := &properties{}
	for name, text := range texts {
		start := len(p.content)
		p.content += text
		p.set(name, value{start: start, end: len(p.content)})
	}
	return p
}

func path(t testing.TB, raw string) filehost.Path {
	t.Helper()
	parsed, err := filehost.ParsePath("path", raw)
	require.NoError(t, err)
	return parsed
}

func list(ctx context.Context, client *Client, folder filehost.Path) (filehost.Entry, []filehost.Entry, error) {
	var entries []filehost.Entry
	self, err := client.List(ctx, alice, folder, func(entry filehost.Entry) error {
		entries = append(entries, entry)
		return nil
	})
	return self, entries, err
}
