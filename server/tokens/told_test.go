package tokens

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

// ways drives a node through each way to connect, and everything that can go wrong on it. They return what a caller, an
// admin or a log gets to see, and the secrets that were made on the way and don't say that they are canaries.
var ways = map[string]func(w *world, r *report, edits ...func(*Config)) (node *Store, secrets []string){
	"login flow": func(w *world, r *report, edits ...func(*Config)) (*Store, []string) {
		flows := newFlowWorld(w.t)
		flows.log, w.kv = w.log, flows.kv
		node := flows.flowNode("one", edits...)
		ctx := w.t.Context()
		for name, echo := range echoes {
			began, err := node.BeginLoginFlow(ctx, ann)
			require.NoError(w.t, err)
			flows.flow.set(func(h *flowHost) {
				h.fault = func(rw http.ResponseWriter, request *http.Request) { // the poll token is in the body
					body, _ := io.ReadAll(request.Body)
					echo(rw, "canary "+string(body))
				}
			})
			_, err = node.BeginLoginFlow(ctx, bob)
			flows.tend(node)
			r.add(name, began.ExpiresAt, err, flows.connection(node, ann), node.Disconnect(ctx, ann))
			flows.flow.set(func(h *flowHost) { h.fault = nil })
			flows.clock.Advance(flowTime)
			flows.tend(node)
		}
		password := flows.offer(node, ann, annThere)
		r.add(flows.connection(node, ann), node.Accept(ctx, ann, "", true))
		return node, []string{password}
	},
	"app token": func(w *world, r *report, edits ...func(*Config)) (*Store, []string) {
		maker, edit := w.makesTokens()
		maker.sweep = errors.New("down")
		w.account = func(filehost.Credential) (string, error) { return "admin", nil }
		node := w.node(append([]func(*Config){impatient, edit}, edits...)...)
		ctx := w.t.Context()
		for _, kind := range []filehost.Kind{filehost.HostUnavailable, filehost.NotFound, filehost.Forbidden} {
			maker.answer = filehost.E(kind, "no", nil)
			_, err := node.For(ctx, ann)
			r.add(err, node.CheckServiceAccount(ctx))
			w.clock.Advance(refusalTime)
		}
		maker.answer = nil
		credential := w.credential(node, ann)
		r.add(credential, node.maker)
		_, err := node.Renew(ctx, ann, credential)
		r.add(err)
		return node, nil
	},
	"service account": func(w *world, r *report, edits ...func(*Config)) (*Store, []string) {
		host := w.shares()
		node := w.node(append([]func(*Config){sharing}, edits...)...)
		ctx := w.t.Context()
		answers := w.account
		w.account = func(c filehost.Credential) (string, error) { panic("canary " + c.Secret.Reveal()) }
		_, err := node.For(ctx, ann)
		r.add(err, node.CheckServiceAccount(ctx))
		w.account = answers
		credential := w.credential(node, ann)
		host.set(func(h *sharedHost) { h.answer = filehost.E(filehost.CredentialRejected, "no", nil) })
		_, err = node.Renew(ctx, ann, credential)
		r.add(credential, err, node.CheckServiceAccount(ctx), node.shared)
		return node, nil
	},
	"jwt bearer":     vouchedWay(filehost.MethodJWTBearer),
	"token exchange": vouchedWay(filehost.MethodTokenExchange),
	"openid": func(w *world, r *report, edits ...func(*Config)) (*Store, []string) {
		server := w.openID()
		var made []string
		server.forge = func(claims map[string]any) string {
			made = append(made, server.sign(claims), server.nonce)
			return made[len(made)-2]
		}
		node := w.node(append([]func(*Config){w.byIssuer}, edits...)...)
		ctx := w.t.Context()
		for name, echo := range echoes {
			w.connect(node, ann)
			w.expire()
			state, code := w.begin(node, ann)
			w.server.set(func(s *signInServer) {
				token := s.serveToken
				s.fault = func(rw http.ResponseWriter, request *http.Request) { // all but the token endpoint gives back what it knows
					if request.URL.Path == tokenPath {
						s.set(func(*signInServer) { token(rw, request) })
						return
					}
					sent := request.Header.Get("Authorization")
					s.set(func(*signInServer) {
						if len(made) > 0 {
							sent += " " + made[len(made)-2]
						}
					})
					echo(rw, "canary "+sent)
				}
			})
			_, err := node.Callback(ctx, callback(ann, state, code))
			r.add(name, err, node.CheckTokenEndpoint(ctx))
			w.server.set(func(s *signInServer) { s.fault = nil })
			node.rest.all.until = time.Time{}
			w.clock.Advance(keysPause)
		}
		server.claims = func(claims map[string]any) {
			claims["iss"], claims["nonce"], claims["azp"] = "canary-iss", "canary-nonce", "canary-azp"
		}
		state, code := w.begin(node, ann)
		_, err := node.Callback(ctx, callback(ann, state, code))
		require.Error(w.t, err)
		r.add(err)
		server.claims = nil
		w.connect(node, ann)
		return node, made
	},
}

// vouchedWay is a method by which the plugin vouches for users, at a server whose transport panics with what it was sent.
func vouchedWay(method filehost.Method) func(*world, *report, ...func(*Config)) (*Store, []string) {
	return func(w *world, r *report, edits ...func(*Config)) (*Store, []string) {
		actor := func(c *Config) { c.Exchange.ActorToken = filehost.NewSecret("canary-actor") }
		node, server := w.vouching(method, append([]func(*Config){actor}, edits...)...)
		ctx := w.t.Context()
		client := node.config.Client
		node.config.Client = &http.Client{Transport: roundTrip(func(request *http.Request) (*http.Response, error) {
			sent := request.Header.Get("Authorization")
			if request.Body != nil {
				body, _ := io.ReadAll(request.Body)
				sent += string(body)
			}
			panic("canary " + sent)
		})}
		_, err := node.For(ctx, ann)
		require.Error(w.t, err)
		node.config.Client = client
		r.add(err, node.CheckTokenEndpoint(ctx))
		w.clock.Advance(restTime)
		r.add(w.credential(node, ann))
		keys, err := node.keyring.current(ctx)
		require.NoError(w.t, err)
		encoded, err := json.Marshal([]any{keys.Current.jwk, keys.Next.jwk})
		require.NoError(w.t, err)
		var private []struct{ D, P, Q string }
		require.NoError(w.t, json.Unmarshal(encoded, &private))
		published, err := node.JWKS(ctx)
		require.NoError(w.t, err)
		r.add(string(published), keys)
		secrets := []string{private[0].D, private[0].P, private[0].Q, private[1].D, private[1].P, private[1].Q}
		for _, form := range server.forms() {
			secrets = append(secrets, form.Get("assertion"), form.Get("subject_token"))
		}
		return node, secrets
	}
}

// tellAll adds what everybody else than the user is told: the audit log, the reminders, the health checks and the admin's
// list.
func (w *world) tellAll(r *report, node *Store, log *filehosttest.Audit, told *sync.Map) {
	ctx := w.t.Context()
	r.add(node, node.config, node.KeyNote(), node.CheckServiceAccount(ctx))
	if node.provider != nil {
		r.add(node.CheckTokenEndpoint(ctx))
	}
	for _, event := range log.Events() {
		r.add(event)
	}
	told.Range(func(loss, _ any) bool {
		r.add(loss)
		return true
	})
	for kept, err := range node.Kept(ctx, "") {
		r.add(kept, err)
	}
	for _, user := range []string{ann, bob} {
		connection, err := node.Connection(ctx, user)
		r.add(connection, err)
	}
}

func TestNoSecretOfAnyWayToConnectIsTold(t *testing.T) {
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			w, log := newWorld(t), &filehosttest.Audit{}
			var told sync.Map
			var seen report
			node, secrets := way(w, &seen, func(c *Config) {
				c.Audit = log
				c.Lost = func(_ context.Context, loss filehost.Loss) error {
					told.Store(loss, true)
					return errors.New("no bot")
				}
			})
			w.tellAll(&seen, node, log, &told)
			stored := ""
			for _, key := range w.kv.Keys() {
				value, err := w.kv.Get(t.Context(), key)
				require.NoError(t, err)
				stored += key + string(value)
			}
			secrets = append(secrets, "canary")
			for place, text := range map[string]string{"seen": seen.String(), "log": w.log.String(), "store": stored} {
				for _, secret := range secrets {
					if secret != "" && strings.Contains(text, secret) {
						at := strings.Index(text, secret)
						t.Errorf("%s holds %q: %s", place, secret, text[max(0, at-200):min(len(text), at+100)])
					}
				}
			}
			require.NotEmpty(t, stored)
		})
	}
}

func TestKeysPrintTheirNamesOnly(t *testing.T) {
	key, err := newSigningKey()
	require.NoError(t, err)
	name := key.jwk.KeyID
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		require.Equal(t, "signingKey("+name+")", fmt.Sprintf(verb, key))
		require.Equal(t, "plainKeys("+name+")", fmt.Sprintf(verb, plainKeys{Current: key.jwk}))
	}
	encoded, err := json.Marshal(signingKeys{Current: key, Next: key})
	require.NoError(t, err)
	require.NotContains(t, string(encoded), `"d"`)
}

// stored adds the values of the store to all, by the prefix of their keys.
func (w *world) stored(all map[string][][]byte) {
	for _, key := range w.kv.Keys() {
		value, err := w.kv.Get(w.t.Context(), key)
		require.NoError(w.t, err)
		prefix, _, _ := strings.Cut(key, "_")
		all[prefix] = append(all[prefix], value)
	}
}

func TestWhateverTheStoreHoldsIsEncrypted(t *testing.T) {
	all := map[string][][]byte{}
	w := newWorld(t)
	node := w.node()
	w.connect(node, ann)
	w.held(node, bob)
	w.begin(node, "carol")
	require.Error(t, node.ConnectWithPassword(t.Context(), "dave", "dave", filehost.NewSecret("canary-wrong")))
	w.stored(all)

	flows := newFlowWorld(t)
	node = flows.flowNode("one")
	flows.flow.allow(t, flows.beginFlow(node, bob), "ann", annThere)
	flows.tend(node)
	flows.tend(node) // it is refused: the account is not his
	require.NotNil(t, flows.connection(node, bob).Refused)
	flows.beginFlow(node, ann)
	flows.stored(all)

	w = newWorld(t)
	node, _ = w.vouching(filehost.MethodJWTBearer)
	w.credential(node, ann)
	w.stored(all)
	for _, prefix := range []string{"conn", "state", "begun", "held", "page", "tries", "used", "flow", "flows", "latest", "ended", "sign"} {
		require.NotEmpty(t, all[prefix], prefix)
		for _, value := range all[prefix] {
			require.Equal(t, node.config.Cipher.current.id, keyIDOf(value), "%s: %s", prefix, value)
		}
		delete(all, prefix)
	}
	for _, note := range all["latest"] { // which says that something has begun, and neither whose nor what
		require.Regexp(t, "^(begun|taken) [A-Z2-7]{26}$", string(note))
	}
	delete(all, "latest")
	require.Empty(t, all, "another kind of value")
}
