package tokens

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestALoginFlowConnectsTheAccountThatItsUserHasSeen(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	login := w.beginFlow(node, ann)
	require.Equal(t, w.host.Origin()+flowPath+"/flow", login[:strings.LastIndex(login, "/")])
	w.tend(node)
	require.Equal(t, filehost.Connection{State: filehost.Disconnected}, w.connection(node, ann))

	password := w.flow.allow(t, login, "Ann@Example.com", annThere)
	w.tend(node)
	w.tend(node)
	require.True(t, w.notified(ann))
	require.Equal(t, filehost.Connection{State: filehost.Disconnected, Pending: &filehost.Pending{
		Account: "ann.e", DisplayName: "Ann Example", Email: "Ann@Example.com", ExpiresAt: w.clock.Now().Add(5 * time.Minute).UTC(),
	}}, w.connection(node, ann), "it is shown and not connected")
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)

	other := w.flowNode("two")
	require.NoError(t, other.Accept(t.Context(), ann, "", true))
	connection := w.connection(node, ann)
	require.Equal(t, filehost.Connected, connection.State)
	require.Equal(t, "ann.e", connection.Account)
	require.Equal(t, "login_flow", connection.Grant)
	require.Nil(t, connection.Pending)
	credential := w.credential(node, ann)
	require.Equal(t, password, credential.Secret.Reveal())
	require.Equal(t, "Ann@Example.com", credential.Username, "the login name goes with the password, whatever the account")
	require.Equal(t, "ann.e", credential.Account)
	w.requireNothingLeft()

	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Empty(t, w.flow.working())
	require.Empty(t, w.kv.Keys())
}

func TestAnAppPasswordGoesAsTheHostHasProvedToTakeIt(t *testing.T) {
	for name, test := range map[string]struct {
		noBearer bool
		want     filehost.Scheme
	}{"as a bearer token": {false, filehost.Bearer}, "by Basic": {true, filehost.Basic}} {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			w.flow.set(func(h *flowHost) { h.noBearer = test.noBearer })
			node := w.flowNode("one")
			w.offer(node, ann, annThere)
			require.NoError(t, node.Accept(t.Context(), ann, "", true))
			require.Equal(t, test.want, w.credential(node, ann).Scheme)
		})
	}
}

func TestPasswordsThatOthersGotWrongHoldNoLoginFlowUp(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.flow.set(func(h *flowHost) { h.closed = true })
	w.offer(node, ann, annThere)
	require.NoError(t, node.Accept(t.Context(), ann, "", false))
	require.Empty(t, w.flow.working(), "it is revoked at once")
	w.offer(node, ann, annThere)
	require.NoError(t, node.Accept(t.Context(), ann, "", true))
	require.NoError(t, node.Disconnect(t.Context(), ann))
	require.Empty(t, w.flow.working())
}

func TestAnAppPasswordThatIsGoneCountsAsOneFailedLoginAtMost(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	password := w.offer(node, ann, annThere)
	w.flow.set(func(h *flowHost) { delete(h.passwords, password) })
	require.NoError(t, node.Accept(t.Context(), ann, "", false))
	w.requireNothingLeft()
	w.flow.set(func(h *flowHost) { require.Zero(t, h.rejected, "it had gone as a bearer token before") })

	password = w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	w.flow.set(func(h *flowHost) { delete(h.passwords, password) })
	for range 4 {
		w.tend(node)
	}
	w.requireNothingLeft()
	w.flow.set(func(h *flowHost) { require.Equal(t, 1, h.rejected) })
}

func TestAnAccountThatIsDeclinedIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), bob, "", true))
	require.NoError(t, node.Accept(t.Context(), ann, "", false))
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	require.Equal(t, filehost.Disconnected, w.state(node, ann))
}

func TestAnAccountThatNobodySpeaksForIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.clock.Advance(5 * time.Minute)
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	w.tend(w.flowNode("two"))
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
	require.Contains(t, w.connection(node, ann).Refused.Reason, "in time")
}

func TestTheAccountsEmailMustBeItsUsers(t *testing.T) {
	verified := func(email string) func(*filehost.Identity) {
		return func(who *filehost.Identity) { who.Email, who.EmailVerified = email, true }
	}
	tests := map[string]struct {
		person func(*filehost.Identity)
		email  string // at the host
		any    bool
		reason string // "" = it is offered
	}{
		"the same":                        {verified("ann@example.com"), "ann@example.com", false, ""},
		"the same in other letters":       {verified("ann@example.com"), "ANN@Example.COM", false, ""},
		"of somebody else":                {verified("ann@example.com"), "victim@example.com", false, "v…@example.com"},
		"of another domain":               {verified("ann@example.com"), "ann@example.org", false, "a…@example.org"},
		"a sign that only looks the same": {verified("kim@example.com"), "\u212aim@example.com", false, "another email address"},
		"none":                            {verified("ann@example.com"), "", false, "no email address"},
		"none on both sides":              {func(who *filehost.Identity) { who.AuthService, who.Email = "saml", "" }, "", false, "not verified"},
		"any, which the admin allows":     {verified("ann@example.com"), "victim@example.com", true, ""},
		"of single sign-on":               {func(who *filehost.Identity) { who.AuthService = "saml" }, "ann@example.com", false, ""},
		"brought to a single sign-on":     {func(who *filehost.Identity) { who.EmailVerified, who.AuthService = false, "ldap" }, "ann@example.com", false, "not verified"},
		"not verified any more":           {func(who *filehost.Identity) { who.EmailVerified = false }, "ann@example.com", false, "not verified"},
		"of a user who is deactivated":    {func(who *filehost.Identity) { who.Active = false }, "ann@example.com", true, "deactivated"},
		"of a bot":                        {func(who *filehost.Identity) { who.Bot = true }, "ann@example.com", true, "Bots"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			node := w.flowNode("one", func(c *Config) { c.AnyEmail = test.any })
			login := w.beginFlow(node, ann)
			w.setPerson(ann, test.person) // who may have changed while he signed in
			w.flow.allow(t, login, "ann", filehost.HostUser{ID: "x", Email: test.email})
			w.tend(node)
			w.tend(node)
			connection := w.connection(node, ann)
			require.Equal(t, test.reason == "", connection.Pending != nil)
			require.True(t, w.notified(ann))
			if test.reason == "" {
				return
			}
			require.Equal(t, filehost.MethodLoginFlow, connection.Refused.Method)
			require.Contains(t, connection.Refused.Reason, test.reason)
			require.NotContains(t, connection.Refused.Reason, "victim")
			w.tend(node)
			require.Empty(t, w.flow.working(), "revoked at once")
			w.requireNothingLeft()
		})
	}
}

func TestWhatAUserHasDoneHimselfIsWhatHeIsTold(t *testing.T) {
	w := newFlowWorld(t)
	node := automatically(w.flowNode("one"), &issuer{err: &refusal{reason: "You have no account there."}})
	node.config.Methods[1] = filehost.MethodLoginFlow
	_, err := node.For(t.Context(), ann)
	requireKind(t, filehost.NotConnected, err)
	require.Equal(t, filehost.MethodTokenExchange, w.connection(node, ann).Refused.Method)

	w.flow.allow(t, w.beginFlow(node, ann), "ann", filehost.HostUser{ID: "x", Email: "victim@example.com"})
	w.tend(node)
	w.tend(node)
	refused := w.connection(node, ann).Refused
	require.Equal(t, filehost.MethodLoginFlow, refused.Method)
	require.Contains(t, refused.Reason, "another email address")
}

func TestNobodySignsInForNothing(t *testing.T) {
	w := newFlowWorld(t)
	w.setPerson(ann, func(who *filehost.Identity) { who.EmailVerified = false })
	_, err := w.flowNode("one").BeginLoginFlow(t.Context(), ann)
	requireKind(t, filehost.Forbidden, err)
	require.Empty(t, w.flow.requests)
	_, err = w.flowNode("one", func(c *Config) { c.AnyEmail = true }).BeginLoginFlow(t.Context(), ann)
	require.NoError(t, err)
	_, err = w.flowNode("one").BeginLoginFlow(t.Context(), "nobody")
	requireKind(t, filehost.NotFound, err)
}

// TestWhoCannotBeginALoginFlowIsToldSoAndOfferedTheNextMethod wants the refusal by which the other methods come first.
func TestWhoCannotBeginALoginFlowIsToldSoAndOfferedTheNextMethod(t *testing.T) {
	w := newFlowWorld(t)
	w.setPerson(ann, func(who *filehost.Identity) { who.EmailVerified = false })
	refused := w.connection(w.flowNode("one"), ann).Refused
	require.NotNil(t, refused)
	require.Equal(t, filehost.MethodLoginFlow, refused.Method)
	require.Contains(t, refused.Reason, "not verified")
	require.Nil(t, w.connection(w.flowNode("one"), bob).Refused)
	require.Nil(t, w.connection(w.flowNode("one", func(c *Config) { c.AnyEmail = true }), ann).Refused)
	require.Nil(t, w.connection(w.flowNode("one", func(c *Config) {
		c.Methods = []filehost.Method{filehost.MethodPassword, filehost.MethodLoginFlow}
	}), ann).Refused, "another way comes first")
}

func TestALoginFlowStaysAtTheHostsOwnOrigin(t *testing.T) {
	foreign := newFlowHost(t, time.Now)
	for name, edit := range map[string]func(*flowHost){
		"to poll":                  func(h *flowHost) { h.foreignPoll = foreign.URL },
		"to sign in":               func(h *flowHost) { h.foreignLogin = foreign.URL },
		"to poll, by another port": func(h *flowHost) { h.foreignPoll = "http://127.0.0.1:1" },
		"to poll, as a name":       func(h *flowHost) { h.foreignPoll = strings.Replace(h.URL, "http://", "http://user@", 1) },
		"to poll, by a script":     func(h *flowHost) { h.foreignPoll = "javascript:" },
		"to sign in, by a script":  func(h *flowHost) { h.foreignLogin = "javascript:alert(1)//" },
	} {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			w.flow.set(edit)
			node := w.flowNode("one")
			_, err := node.BeginLoginFlow(t.Context(), ann)
			requireKind(t, filehost.NotConfigured, err)
			require.NotContains(t, err.Error(), "127.0.0.1")
			w.tend(node)
			require.Empty(t, foreign.requests)
			require.Empty(t, w.kv.Keys())
		})
	}
}

func TestPlainHTTPIsPolledOnlyIfTheAdminLetsIt(t *testing.T) {
	w := newFlowWorld(t)
	_, err := w.flowNode("one", func(c *Config) { c.AllowHTTP = false }).BeginLoginFlow(t.Context(), ann)
	requireKind(t, filehost.NotConfigured, err)
	require.Empty(t, w.kv.Keys())
}

func TestASignInAtAnotherServerIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	w.flow.set(func(h *flowHost) { h.foreignServer = "https://cloud.example.org" })
	node := w.flowNode("one")
	w.flow.allow(t, w.beginFlow(node, ann), "ann", annThere)
	for range 3 {
		w.tend(node)
	}
	require.Empty(t, w.flow.working())
	require.Contains(t, w.connection(node, ann).Refused.Reason, "another address")
	w.requireNothingLeft()
}

func TestALaterLoginFlowTakesThePlaceOfAnEarlier(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	first, second := w.beginFlow(node, ann), w.beginFlow(node, ann)
	w.flow.allow(t, first, "ann", annThere)
	for range 3 {
		w.tend(node)
	}
	require.Nil(t, w.connection(node, ann).Pending, "the earlier one connects nobody")
	require.Empty(t, w.flow.working(), "what it gave is revoked")
	w.flow.allow(t, second, "ann", annThere)
	w.tend(node)
	w.tend(node)
	require.NoError(t, node.Accept(t.Context(), ann, "", true))
}

func TestAnAccountThatIsOfferedGoesWhenAnotherFlowBegins(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.beginFlow(node, ann)
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	w.tend(node)
	require.Empty(t, w.flow.working())
}

func TestDisconnectEndsLoginFlows(t *testing.T) {
	for name, steps := range map[string]int{"while the user signs in": 0, "before it is known whose it is": 1, "while it is offered": 2} {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			node := w.flowNode("one")
			login := w.beginFlow(node, ann)
			if steps > 0 {
				w.flow.allow(t, login, "ann", annThere)
			}
			for range steps {
				w.tend(node)
			}
			require.NoError(t, node.Disconnect(t.Context(), ann))
			requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
			if steps == 0 {
				w.flow.allow(t, login, "ann", annThere) // a late answer
			}
			for range 3 {
				w.tend(w.flowNode("two"), node)
			}
			require.Empty(t, w.flow.working())
			require.Empty(t, w.kv.Keys())
		})
	}
}

func TestDisconnectEndsALoginFlowThatAReplicaDoesNotShowYet(t *testing.T) {
	w := newFlowWorld(t)
	replica := w.kv.Replica(3)
	stale := w.flowNode("two", impatient, func(c *Config) { c.KV = replica })
	require.Nil(t, w.connection(stale, ann).Pending) // the replica has seen that there is nothing
	login := w.beginFlow(w.flowNode("one"), ann)
	require.NoError(t, stale.Disconnect(t.Context(), ann))
	w.flow.allow(t, login, "ann", annThere)
	for range 3 {
		w.tend(w.flowNode("one"))
	}
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

func TestWhoHasNoLoginFlowDoesNotTouchTheListOfAll(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one", impatient)
	login := w.beginFlow(node, ann)
	w.beginFlow(node, bob)
	require.NoError(t, node.Disconnect(t.Context(), bob))
	w.kv.Fail(func(op filehosttest.Op, key string) error {
		if op == filehosttest.CompareAndSet && key == node.key("flows_", "") {
			t.Error("the list of all was written")
		}
		return nil
	})
	for _, err := range outcomes(20, func(int) error { return node.Disconnect(t.Context(), bob) }) {
		require.NoError(t, err)
	}
	w.kv.Fail(nil)

	w.flow.allow(t, login, "ann", annThere)
	w.tend(node)
	w.tend(node)
	require.NoError(t, node.Accept(t.Context(), ann, "", true))
}

func TestASignInUnderWayEndsForWhoIsNotConnected(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one", impatient)
	w.offer(node, ann, annThere)
	require.NoError(t, node.EndSignIns(t.Context(), ann))
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	w.tend(node)
	require.Empty(t, w.flow.working())
}

func TestAnotherConnectionEndsALoginFlow(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one", func(c *Config) { c.Methods = append(c.Methods, filehost.MethodPassword) })
	w.offer(node, ann, annThere)
	require.NoError(t, node.ConnectWithPassword(t.Context(), ann, "ann", filehost.NewSecret("canary-app-password")))
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	w.tend(node)
	require.Empty(t, w.flow.working())
	require.Equal(t, "canary-app-password", w.credential(node, ann).Secret.Reveal())
}

func TestALoginFlowThatTakesTooLongIsForgotten(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	login := w.beginFlow(node, ann)
	w.clock.Advance(20 * time.Minute)
	w.flow.allow(t, login, "ann", annThere)
	w.tend(node)
	w.requireNothingLeft()
	polls, _ := w.flow.counts()
	require.Zero(t, polls)
	require.True(t, w.notified(ann))
}

func TestLoginFlowsOfAUserAndOfAllAreLimited(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	for range 5 {
		w.beginFlow(node, ann)
	}
	_, err := node.BeginLoginFlow(t.Context(), ann)
	requireKind(t, filehost.RateLimited, err)
	var limited *filehost.Error
	require.ErrorAs(t, err, &limited)
	require.Equal(t, 20*time.Minute, limited.RetryAfter)
	require.Len(t, w.flow.requests, 5)
	w.beginFlow(node, bob)

	require.NoError(t, node.changeFlows(t.Context(), func(index *flowIndex) bool {
		for i := len(index.Flows); i < maxAllFlows; i++ {
			index.Flows = append(index.Flows, listedFlow{ID: fmt.Sprint(i), UserID: fmt.Sprint(i), Begun: w.clock.Now()})
		}
		return true
	}))
	_, err = node.BeginLoginFlow(t.Context(), bob)
	requireKind(t, filehost.RateLimited, err)
}

func TestTheLimitOfLoginFlowsHoldsWhenManyBeginAtOnce(t *testing.T) {
	w := newFlowWorld(t)
	nodes := []*Store{w.flowNode("one", impatient), w.flowNode("two", impatient)}
	errs := outcomes(20, func(i int) error {
		_, err := nodes[i%2].BeginLoginFlow(t.Context(), ann)
		return err
	})
	begun := 0
	for _, err := range errs {
		if err == nil {
			begun++
			continue
		}
		requireKind(t, filehost.RateLimited, err)
	}
	require.Equal(t, maxFlows, begun)
	index, _, err := nodes[0].loadFlows(t.Context())
	require.NoError(t, err)
	wanted := 0
	for _, flow := range index.Flows {
		if flow.Wanted {
			wanted++
		}
	}
	require.Equal(t, 1, wanted)
}

func TestAHostThatHangsOverALoginFlowIsGivenUp(t *testing.T) {
	w := newFlowWorld(t)
	arrived, over := make(chan struct{}), make(chan struct{})
	defer close(over)
	w.flow.set(func(h *flowHost) {
		h.fault = func(http.ResponseWriter, *http.Request) { close(arrived); <-over }
	})
	node := w.flowNode("one")
	done := make(chan error)
	go func() {
		_, err := node.BeginLoginFlow(t.Context(), ann)
		done <- err
	}()
	<-arrived
	w.clock.Advance(callLimit)
	err := <-done
	requireKind(t, filehost.HostUnavailable, err)
	require.ErrorIs(t, err, context.DeadlineExceeded)
	require.Empty(t, w.kv.Keys())
}

func TestAHostThatBeginsNoLoginFlow(t *testing.T) {
	tests := map[string]struct {
		answer http.HandlerFunc
		want   filehost.Kind
	}{
		"it knows none":    {http.NotFound, filehost.NotConfigured},
		"it is down":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, filehost.HostUnavailable},
		"it says too many": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(429) }, filehost.RateLimited},
		"it shows a page":  {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("<html>canary")) }, filehost.NotConfigured},
		"it says nothing":  {func(w http.ResponseWriter, _ *http.Request) { writeJSON(w, 200, map[string]any{}) }, filehost.NotConfigured},
		"it sends elsewhere": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "/elsewhere", http.StatusTemporaryRedirect)
		}, filehost.HostUnavailable},
		"its answer is too long": {func(w http.ResponseWriter, r *http.Request) {
			own := "http://" + r.Host
			writeJSON(w, 200, map[string]any{"pad": strings.Repeat("A", flowAnswerLimit),
				"poll": map[string]string{"token": "canary", "endpoint": own + flowPath + "/poll"}, "login": own + flowPath + "/flow/one"})
		}, filehost.NotConfigured},
		"it never stops": {func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 1<<20)) }, filehost.NotConfigured},
		"its token is no text": {func(w http.ResponseWriter, _ *http.Request) {
			writeJSON(w, 200, map[string]any{"poll": map[string]string{"token": "canary\r\n", "endpoint": "x"}, "login": "y"})
		}, filehost.NotConfigured},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newFlowWorld(t)
			w.flow.set(func(h *flowHost) { h.fault = test.answer })
			_, err := w.flowNode("one").BeginLoginFlow(t.Context(), ann)
			requireKind(t, test.want, err)
			require.NotContains(t, err.Error(), "canary")
			require.Empty(t, w.kv.Keys())
			require.Len(t, w.flow.requests, 1)
		})
	}
}

func TestLoginFlowsNeedAHostThatKnowsThem(t *testing.T) {
	w := newFlowWorld(t)
	w.host.Kind = "opencloud"
	config := w.flowNode("one", byPassword).config
	config.Methods = []filehost.Method{filehost.MethodLoginFlow}
	_, err := New(config)
	requireKind(t, filehost.NotConfigured, err)
	node := w.node(byPassword)
	_, err = node.BeginLoginFlow(t.Context(), ann)
	requireKind(t, filehost.Unsupported, err)
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
	node.WatchLoginFlows(t.Context(), nil) // returns: there is nothing to watch
}

func TestALoginFlowOfAMethodThatTheAdminHasTakenAwayIsRevoked(t *testing.T) {
	w := newFlowWorld(t)
	w.offer(w.flowNode("one"), ann, annThere)
	after := w.flowNode("one", byPassword)
	require.Nil(t, w.connection(after, ann).Pending)
	w.tend(after)
	require.Empty(t, w.flow.working())
	w.requireNothingLeft()
}

func TestALoginFlowOfAnotherAddressIsForgottenAndNothingOfItSent(t *testing.T) {
	w := newFlowWorld(t)
	before := w.flowNode("one")
	w.offer(before, ann, annThere)
	moved := newFlowHost(t, w.clock.Now)
	after := w.flowNode("one", func(c *Config) {
		c.Host.BaseURL = c.Host.BaseURL.JoinPath()
		c.Host.BaseURL.Host = moved.Listener.Addr().String()
		c.HostUser, c.Probe, c.Revoke = moved.lookUp, moved.probe, moved.end
	})
	require.Nil(t, w.connection(after, ann).Pending)
	requireKind(t, filehost.NotFound, after.Accept(t.Context(), ann, "", true))
	w.tend(after)
	require.Empty(t, moved.requests)
	require.Empty(t, moved.ended)
	w.requireNothingLeft()
	require.Contains(t, w.log.String(), "other settings")
}

func TestALostKeyForgetsLoginFlows(t *testing.T) {
	w := newFlowWorld(t)
	w.offer(w.flowNode("one"), ann, annThere)
	cipher, err := NewCipher(filehost.NewSecret("another-canary-encryption-key"))
	require.NoError(t, err)
	after := w.flowNode("one", func(c *Config) { c.Cipher = cipher })
	require.Nil(t, w.connection(after, ann).Pending)
	w.tend(after)
	w.beginFlow(after, ann)
}

func TestALoginFlowIsWorthNothingInAnothersPlace(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	w.offer(node, ann, annThere)
	w.offer(node, bob, bobThere)
	index, _, err := node.loadFlows(t.Context())
	require.NoError(t, err)
	require.Len(t, index.Flows, 2)
	stolen, err := w.kv.Get(t.Context(), node.key("flow_", index.Flows[1].ID))
	require.NoError(t, err)
	w.kv.Put(node.key("flow_", index.Flows[0].ID), stolen)
	require.Nil(t, w.connection(node, ann).Pending)
	requireKind(t, filehost.NotFound, node.Accept(t.Context(), ann, "", true))
}

func TestNoSecretOfALoginFlowIsStoredLoggedOrPrinted(t *testing.T) {
	w := newFlowWorld(t)
	node := w.flowNode("one")
	var seen report
	check := func() {
		for _, key := range w.kv.Keys() {
			value, err := w.kv.Get(t.Context(), key)
			require.NoError(t, err)
			require.NotContains(t, string(value), "canary")
		}
		index, _, err := node.loadFlows(t.Context())
		require.NoError(t, err)
		for _, listed := range index.Flows {
			found, err := node.loadFlow(t.Context(), listed.ID)
			require.NoError(t, err)
			seen.add(found, found.loginFlow, index)
			_, _ = fmt.Fprintf(&seen, "%v %+v %#v", found, &found.loginFlow, plainFlow{found.loginFlow, "canary", "canary"})
		}
	}
	login := w.beginFlow(node, ann)
	check()
	w.flow.allow(t, login, "ann", annThere)
	w.tend(node)
	check()
	w.tend(node)
	check()
	w.flow.set(func(h *flowHost) { h.revoke = filehost.E(filehost.HostUnavailable, "down", nil) })
	require.NoError(t, node.Accept(t.Context(), ann, "", false))
	check()
	w.kv.Fail(func(filehosttest.Op, string) error { return errDatabase })
	_, err := node.BeginLoginFlow(t.Context(), ann)
	seen.add(err, node.Accept(t.Context(), ann, "", true), node, node.config)
	w.kv.Fail(nil)
	require.NotContains(t, seen.String(), "canary")
	require.NotContains(t, w.log.String(), "canary")
}
