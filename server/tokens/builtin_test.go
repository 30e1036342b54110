package tokens

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// ofOpenCloud lets a node find the sign-in server that the host brings along.
func (w *world) ofOpenCloud(c *Config) {
	c.Host.Kind, c.OAuth.Issuer = "opencloud", w.server.URL
}

// besideOpenCloud is a sign-in server of the company's own.
func (w *world) besideOpenCloud(c *Config) {
	w.ofOpenCloud(c)
	elsewhere, err := url.Parse("https://cloud.example.com")
	require.NoError(w.t, err)
	c.Host.BaseURL = elsewhere
}

// fails has the token endpoint answer in the words of LibreGraph Connect; "" = it works again.
func (w *world) fails(code, description string) {
	w.server.set(func(s *signInServer) {
		s.fault = nil
		if code == "" {
			return
		}
		s.fault = func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == tokenPath {
				writeJSON(rw, http.StatusBadRequest, map[string]any{"error": code, "error_description": description})
				return
			}
			s.set(func(s *signInServer) { s.answerTo(rw, r) })
		}
	})
}

func TestWhatARefusedRefreshMeansAtOpenCloud(t *testing.T) {
	tests := map[string]struct {
		code, description string
		node              func(*world) func(*Config)
		want              filehost.Kind
		state             filehost.ConnectionState
	}{
		"an expired refresh token": {"invalid_request", "Token is expired", builtInNode, filehost.NotConnected, filehost.Reconnect},
		"a forged one":             {"invalid_request", "crypto/rsa: verification error", builtInNode, filehost.NotConnected, filehost.Reconnect},
		"another client's":         {"invalid_grant", "client_id mismatch", builtInNode, filehost.NotConnected, filehost.Reconnect},
		"a user whom the directory does not tell of, as while the host starts": {"invalid_grant", "user not found", builtInNode, filehost.HostUnavailable, filehost.Connected},
		"the plugin's client, or its secret":                                   {"access_denied", "invalid client_secret: <nil>", builtInNode, filehost.NotConfigured, filehost.Connected},
		"a malformed request at another server":                                {"invalid_request", "Token is expired", ownServerNode, filehost.HostUnavailable, filehost.Connected},
		"no user at another server":                                            {"invalid_grant", "user not found", ownServerNode, filehost.NotConnected, filehost.Reconnect},
		"access denied by another server":                                      {"access_denied", "no", ownServerNode, filehost.HostUnavailable, filehost.Connected},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.openID()
			node := w.node(test.node(w))
			w.connect(node, ann)
			w.expire()
			w.fails(test.code, test.description)
			_, err := node.For(t.Context(), ann)
			requireKind(t, test.want, err)
			require.Equal(t, test.state, w.state(node, ann))
			w.fails("", "")
			w.clock.Advance(restTime)
			_, err = node.For(t.Context(), ann)
			require.Equal(t, test.state == filehost.Connected, err == nil, "the grant is lost or not: %v", err)
		})
	}
}

func builtInNode(w *world) func(*Config)   { return w.ofOpenCloud }
func ownServerNode(w *world) func(*Config) { return w.besideOpenCloud }

func TestOpenCloudRefusesThePluginsClient(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.ofOpenCloud)
	w.connect(node, ann)
	w.expire()
	w.fails("access_denied", "invalid client_secret: <nil>")
	for range 2 {
		_, err := node.For(t.Context(), ann)
		requireKind(t, filehost.NotConfigured, err)
		require.ErrorContains(t, err, clientRefusedMessage)
	}
	require.Equal(t, 2, w.server.tokenCalls(), "the endpoint is left alone")
	require.Equal(t, 1, strings.Count(w.log.String(), clientRefusedMessage))
	requireKind(t, filehost.NotConfigured, node.CheckTokenEndpoint(t.Context()))
}

func TestOpenCloudRefusesThePluginsClientWithACode(t *testing.T) {
	w := newWorld(t)
	w.openID()
	node := w.node(w.ofOpenCloud)
	state, code := w.begin(node, ann)
	w.fails("access_denied", "invalid client_secret: <nil>")
	_, err := node.Callback(t.Context(), callback(ann, state, code))
	requireKind(t, filehost.NotConfigured, err)
	require.ErrorContains(t, err, clientRefusedMessage)
}
