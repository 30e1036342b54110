package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// echoes are sign-in servers that give back all they were sent, in every place an answer has.
var echoes = map[string]func(w http.ResponseWriter, sent string){
	"as the description": func(w http.ResponseWriter, sent string) {
		writeJSON(w, 400, map[string]string{"error": "invalid_grant", "error_description": sent, "error_uri": sent})
	},
	"as the error code": func(w http.ResponseWriter, sent string) { writeJSON(w, 400, map[string]string{"error": sent}) },
	"beside invalid_client": func(w http.ResponseWriter, sent string) {
		writeJSON(w, 401, map[string]string{"error": "invalid_client", "error_description": sent})
	},
	"in a page":              func(w http.ResponseWriter, sent string) { http.Error(w, sent, 500) },
	"in what should be JSON": func(w http.ResponseWriter, sent string) { writeJSON(w, 200, []string{sent}) },
	"as an unusable token": func(w http.ResponseWriter, sent string) {
		writeJSON(w, 200, map[string]string{"access_token": sent + "\n"})
	},
	"as the token's type": func(w http.ResponseWriter, sent string) {
		writeJSON(w, 200, map[string]string{"access_token": "a", "token_type": sent})
	},
	"in the address it sends to": func(w http.ResponseWriter, sent string) { w.Header().Set("Location", "/?"+sent); w.WriteHeader(302) },
	"as a header line":           func(w http.ResponseWriter, sent string) { hijack(w, "HTTP/1.1 200 OK\r\n"+sent+"\r\n\r\n") },
	"as a status line":           func(w http.ResponseWriter, sent string) { hijack(w, sent+"\r\n\r\n") },
	"as its length": func(w http.ResponseWriter, sent string) {
		hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: "+sent+"\r\n\r\n")
	},
	"as its status line's body": func(w http.ResponseWriter, sent string) { w.Header().Set("X-Echo", sent); w.WriteHeader(503) },
}

// hijack answers with bytes that need not be HTTP.
func hijack(w http.ResponseWriter, raw string) {
	if connection, _, err := w.(http.Hijacker).Hijack(); err == nil {
		_, _ = io.WriteString(connection, raw)
		_ = connection.Close()
	}
}

// report is what a log, a metric or a caller may see of a flow.
type report struct{ strings.Builder }

func (r *report) add(values ...any) {
	for _, value := range values {
		asJSON, _ := json.Marshal(value)
		_, _ = fmt.Fprintf(r, "%v\n%+v\n%#v\n%s\n", value, value, value, asJSON)
		for err, ok := value.(error); ok && err != nil; err = errors.Unwrap(err) {
			_, _ = fmt.Fprintf(r, "%T %v %+v %#v\n", err, err, err, err)
		}
	}
}

// drive runs every flow once, whatever comes of it.
func (w *world) drive(r *report) {
	node := w.node(w.revoking)
	ctx := w.t.Context()
	credential := w.connect(node, ann)
	w.server.sent = append(w.server.sent, "canary")
	handle, shown := w.held(node, bob)
	state, code := w.begin(node, ann)
	w.t.Cleanup(func() { w.server.set(func(s *signInServer) { s.fault = nil }) })

	for name, echo := range echoes {
		w.server.set(func(s *signInServer) {
			s.fault = func(rw http.ResponseWriter, request *http.Request) {
				body, _ := io.ReadAll(request.Body)
				_, password, _ := request.BasicAuth()
				echo(rw, "canary "+string(body)+password+request.Header.Get("Authorization"))
			}
		})
		_, err := node.Renew(ctx, ann, credential)
		r.add(name, err, node.CheckTokenEndpoint(ctx), node.Confirm(ctx, ann, shown.Code))
		state, code := w.begin(node, name) // each a user of his own: failures are counted
		_, err = node.Callback(ctx, callback(name, state, code))
		r.add(err)
		w.server.set(func(s *signInServer) { s.fault = nil })
		node.rest.all.until = time.Time{} // what waits to be confirmed would not outlive the rest
		credential = w.connect(node, ann)
	}
	wrong := callback(bob, state, code)
	_, err := node.Callback(ctx, wrong)
	r.add(err)
	wrong.UserID, wrong.Error = ann, "canary-error"
	_, err = node.Callback(ctx, wrong)
	r.add(err, node.ConnectWithPassword(ctx, ann, "canary\n", filehost.NewSecret("canary-wrong")))
	r.add(node.ConnectWithPassword(ctx, ann, "alice", filehost.NewSecret("canary-wrong")))
	w.kv.Fail(func(filehosttest.Op, string) error { return errors.New("database is down") })
	_, err = node.For(ctx, ann)
	r.add(err, node.Disconnect(ctx, ann))
	w.kv.Fail(nil)

	found, err := node.load(ctx, ann)
	require.NoError(w.t, err)
	held, _, err := node.heldOf(ctx, bob)
	require.NoError(w.t, err)
	r.add(node, node.provider, node.config, node.config.Cipher, found, found.record, credential, issued{AccessToken: credential.Secret})
	_, _ = fmt.Fprintf(r, "%v %+v %#v", plainRecord{record: found.record, AccessToken: credential.Secret.Reveal()}, held, held.SignIn)
	require.NotContains(w.t, r.String(), held.SignIn.Verifier)
	require.NotContains(w.t, r.String(), handle)
	require.NotContains(w.t, r.String(), held.Confirm)
	require.NotContains(w.t, r.String(), state)
	r.add(node.Confirm(ctx, bob, shown.Code), node.Disconnect(ctx, bob))
}

func TestNoSecretReachesAnErrorALogOrAPrintedValue(t *testing.T) {
	for _, kind := range []string{"nextcloud", "owncloud"} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			w.host.Kind, w.server.secretInBody = kind, kind == "nextcloud"
			var seen report
			w.drive(&seen)
			require.NotContains(t, seen.String(), "canary")
			require.NotContains(t, w.log.String(), "canary")
			require.NotContains(t, w.log.String(), ann)
			require.NotEmpty(t, w.log.String())
			for _, key := range w.kv.Keys() {
				value, err := w.kv.Get(t.Context(), key)
				require.NoError(t, err)
				require.NotContains(t, string(value), "canary")
			}
		})
	}
}

func TestTheCanaryWouldBeSeen(t *testing.T) {
	var seen report
	seen.add(fmt.Errorf("wrapped: %w", errors.New("canary")))
	require.Contains(t, seen.String(), "canary")
	recorder := httptest.NewRecorder()
	echoes["in a page"](recorder, "canary")
	require.Contains(t, recorder.Body.String(), "canary")
}

func TestNoSecretReachesAnErrorOrALogByAPanic(t *testing.T) {
	w := newWorld(t)
	w.connect(w.node(), ann)
	panics := func(r *http.Request) (*http.Response, error) {
		body, _ := io.ReadAll(r.Body)
		panic("canary " + string(body) + r.Header.Get("Authorization"))
	}
	node := w.node(func(c *Config) { c.Client = &http.Client{Transport: roundTrip(panics)} })
	w.expire()
	var seen report
	_, err := node.For(t.Context(), ann)
	require.Error(t, err)
	seen.add(err)
	require.NotContains(t, seen.String(), "canary")
	require.NotContains(t, w.log.String(), "canary")
	require.Equal(t, filehost.Connected, w.state(node, ann))
}

// TestAHostThatRepeatsACredentialGetsItIntoNoError shows it for each call of the host that is made with one.
func TestAHostThatRepeatsACredentialGetsItIntoNoError(t *testing.T) {
	echo := func(c filehost.Credential) error {
		return filehost.E(filehost.HostUnavailable, "The host failed.", errors.New("it said "+c.Secret.Reveal()))
	}
	config := Config{
		Account: func(_ context.Context, c filehost.Credential) (string, error) { return "", echo(c) },
		HostUser: func(_ context.Context, c filehost.Credential) (filehost.HostUser, error) {
			return filehost.HostUser{}, echo(c)
		},
		Revoke: func(_ context.Context, c filehost.Credential) error { return echo(c) },
		Probe:  func(_ context.Context, c filehost.Credential) error { return echo(c) },
	}
	config.discreet()
	credential := filehost.Credential{Secret: filehost.NewSecret("canary")}
	_, account := config.Account(t.Context(), credential)
	_, user := config.HostUser(t.Context(), credential)
	for _, err := range []error{account, user, config.Revoke(t.Context(), credential), config.Probe(t.Context(), credential)} {
		requireKind(t, filehost.HostUnavailable, err)
		require.NotContains(t, err.Error(), "canary")
	}
}
