package tokens

import (
	"bytes"
	"context"
	"io"
	"log"
	"log/slog"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jonboulle/clockwork"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost/filehosttest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// The Mattermost users of the tests.
const (
	ann = "ann-of-mattermost"
	bob = "bob-of-mattermost"
)

// world is what the nodes of a test share: a clock, a store and a host that is its own sign-in server.
type world struct {
	t      *testing.T
	clock  *clockwork.FakeClock
	kv     *filehosttest.KV
	server *signInServer
	host   filehost.Host
	log    *syncBuffer

	// account is what the host says to a credential.
	account func(filehost.Credential) (string, error)
	// revoke ends a credential there.
	revoke func(filehost.Credential) error
	ended  []string // the secrets that revoke was called with
	ending sync.Mutex
}

func newWorld(t *testing.T) *world {
	t.Helper()
	clock := clockwork.NewFakeClock()
	server := newSignInServer(t)
	server.set(func(s *signInServer) { s.clock = clock.Now })
	base, err := url.Parse(server.URL)
	require.NoError(t, err)
	w := &world{
		t: t, clock: clock, kv: filehosttest.NewKV(clock), server: server, log: &syncBuffer{},
		host: filehost.Host{ID: filehost.DefaultHostID, Name: "Company Cloud", Kind: "nextcloud", BaseURL: base},
	}
	w.account = func(credential filehost.Credential) (string, error) {
		if credential.Scheme == filehost.Basic && credential.Secret.Reveal() != "canary-app-password" {
			return "", filehost.E(filehost.CredentialRejected, "no", nil)
		}
		return "alice-as-the-host-says", nil
	}
	w.revoke = func(filehost.Credential) error { return nil }
	return w
}

// node returns a Store of its own on the shared world. Its process ends with the test.
func (w *world) node(edits ...func(*Config)) *Store {
	w.t.Helper()
	cipher, err := NewCipher(filehost.NewSecret("canary-encryption-key"))
	require.NoError(w.t, err)
	transport := &http.Transport{}
	lifetime, stop := context.WithCancel(context.Background())
	config := Config{
		Host: w.host, Methods: []filehost.Method{filehost.MethodOAuth}, AllowHTTP: true,
		OAuth:       OAuth{ClientID: "mattermost", ClientSecret: filehost.NewSecret("canary-client-secret")},
		RedirectURI: "https://chat.example.com/plugins/filehost-attach/api/connection/callback/default",
		KV:          w.kv, Cipher: cipher, Client: &http.Client{Transport: transport},
		Identify: func(_ context.Context, userID string) (filehost.Identity, error) {
			return filehost.Identity{UserID: userID, Username: userID, Active: true}, nil
		},
		AutomaticFor: filehost.Audience{Everyone: true}, Members: &chosen{everyone: true},
		Account: func(_ context.Context, c filehost.Credential) (string, error) { return w.account(c) },
		Revoke: func(_ context.Context, c filehost.Credential) error {
			w.ending.Lock()
			defer w.ending.Unlock()
			w.ended = append(w.ended, c.Secret.Reveal())
			return w.revoke(c)
		},
		Pending: NewPending(), Lifetime: lifetime, Node: "node", Clock: w.clock,
		Log: slog.New(slog.NewTextHandler(w.log, nil)),
	}
	for _, edit := range edits {
		edit(&config)
	}
	store, err := New(config)
	require.NoError(w.t, err)
	w.t.Cleanup(func() {
		stop()
		config.Pending.Wait()
		transport.CloseIdleConnections()
	})
	return store
}

// impatient makes the node poll without waiting.
func impatient(config *Config) { config.Clock = eagerClock{config.Clock.(*clockwork.FakeClock)} }

// eagerClock stands still, but what waits on a timer of it doesn't.
type eagerClock struct{ *clockwork.FakeClock }

func (c eagerClock) NewTimer(time.Duration) clockwork.Timer { return c.FakeClock.NewTimer(0) }

func (w *world) begin(node *Store, userID string) (state, code string) {
	w.t.Helper()
	address, err := node.Authorize(w.t.Context(), userID)
	require.NoError(w.t, err)
	return w.server.allow(w.t, address)
}

func callback(userID, state, code string) filehost.Callback {
	return filehost.Callback{UserID: userID, HostID: filehost.DefaultHostID, State: state, Code: code}
}

// connect signs a user in and returns the credential he got.
func (w *world) connect(node *Store, userID string) filehost.Credential {
	w.t.Helper()
	state, code := w.begin(node, userID)
	result, err := node.Callback(w.t.Context(), callback(userID, state, code))
	require.NoError(w.t, err)
	require.Equal(w.t, filehost.CallbackResult{Connected: true}, result)
	return w.credential(node, userID)
}

func (w *world) credential(node *Store, userID string) filehost.Credential {
	w.t.Helper()
	credential, err := node.For(w.t.Context(), userID)
	require.NoError(w.t, err)
	return credential
}

func (w *world) state(node *Store, userID string) filehost.ConnectionState {
	w.t.Helper()
	connection, err := node.Connection(w.t.Context(), userID)
	require.NoError(w.t, err)
	return connection.State
}

// expire lets the access tokens of everybody run out.
func (w *world) expire() { w.clock.Advance(2 * time.Hour) }

func requireKind(t *testing.T, want filehost.Kind, err error) {
	t.Helper()
	require.Error(t, err)
	require.Equal(t, want, filehost.KindOf(err), "%v", err)
}

// eventually waits for what other goroutines are about to do.
func eventually(t *testing.T, what func() bool) {
	t.Helper()
	require.Eventually(t, what, 10*time.Second, time.Millisecond)
}

// waiting returns when that many wait for the clock, and fails the test where they don't come.
func (w *world) waiting(timers int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 10*time.Second)
	defer cancel()
	require.NoError(w.t, w.clock.BlockUntilContext(ctx, timers), "nobody waits")
}

// outcomes runs call n times at once and returns the errors.
func outcomes(n int, call func(i int) error) []error {
	errs := make([]error, n)
	var group sync.WaitGroup
	for i := range n {
		group.Go(func() { errs[i] = call(i) })
	}
	group.Wait()
	return errs
}

// meet makes n operations of a kind wait for each other, so that each has read what the others have read.
func (w *world) meet(n int, op filehosttest.Op) {
	var here sync.WaitGroup
	here.Add(n)
	var passed atomic.Int32
	w.kv.Fail(func(now filehosttest.Op, _ string) error {
		if now == op && passed.Add(1) <= int32(n) {
			here.Done()
			here.Wait()
		}
		return nil
	})
}

// syncBuffer is a buffer that many may write to.
type syncBuffer struct {
	mu     sync.Mutex
	buffer bytes.Buffer
}

func (b *syncBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.Write(p)
}

func (b *syncBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.buffer.String()
}

// quiet is for servers whose complaints are expected.
func quiet() *log.Logger { return log.New(io.Discard, "", 0) }
