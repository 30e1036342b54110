package filehosttest

import (
	"cmp"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Tokens gives every connected user a credential, which Renew replaces. It implements filehost.Tokens and
// filehost.Connections; the sign-in server behind it accepts everything.
type Tokens struct {
	Account string // of every user at the host; set it before the first use
	Keys    string // the key set of the plugin as an issuer; "" = it signs nothing
	Grant   string // of every credential; set it before the first use

	mu          sync.Mutex
	generations map[string]int // by user
	connections map[string]int // by user: how often he has connected
	dead        map[string]bool
	confirms    map[string]string // code to user
	pending     map[string]filehost.Pending
	refused     map[string]filehost.Refusal
	begun       []string
	names       map[string]string // accounts by user
}

// NewTokens returns a double in which the users are connected.
func NewTokens(users ...string) *Tokens {
	t := &Tokens{generations: map[string]int{}, connections: map[string]int{}, dead: map[string]bool{}, confirms: map[string]string{},
		pending: map[string]filehost.Pending{}, refused: map[string]filehost.Refusal{}, names: map[string]string{}}
	for _, user := range users {
		t.Connect(user)
	}
	return t
}

// Connect connects a user, again if he was.
func (t *Tokens) Connect(userID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.connect(userID)
}

func (t *Tokens) connect(userID string) {
	t.generations[userID] = 1
	t.connections[userID]++
}

var errNone = filehost.E(filehost.NotConnected, "You are not connected.", nil)

func (t *Tokens) credential(userID string) (filehost.Credential, error) {
	generation := t.generations[userID]
	if generation == 0 || t.dead[userID] {
		return filehost.Credential{}, errNone
	}
	return filehost.Credential{Scheme: filehost.Bearer, Account: cmp.Or(t.names[userID], t.Account), Secret: filehost.NewSecret("token"), Connection: fmt.Sprintf("connection %d", t.connections[userID]), Generation: strconv.Itoa(generation), Grant: t.Grant}, nil
}

// For implements filehost.Tokens.
func (t *Tokens) For(_ context.Context, userID string) (filehost.Credential, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.credential(userID)
}

// Renew implements filehost.Tokens.
func (t *Tokens) Renew(_ context.Context, userID string, rejected filehost.Credential) (filehost.Credential, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if current, err := t.credential(userID); err != nil || current.Generation != rejected.Generation {
		return current, err
	}
	t.generations[userID]++
	return t.credential(userID)
}

// Reject implements filehost.Tokens.
func (t *Tokens) Reject(_ context.Context, userID string, _ filehost.Credential) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.dead[userID] = true
	return nil
}

// Connection implements filehost.Connections.
func (t *Tokens) Connection(_ context.Context, userID string) (filehost.Connection, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case t.dead[userID]:
		return filehost.Connection{State: filehost.Reconnect}, nil
	case t.generations[userID] == 0:
		connection := filehost.Connection{State: filehost.Disconnected}
		if pending, ok := t.pending[userID]; ok {
			connection.Pending = &pending
		}
		if refused, ok := t.refused[userID]; ok {
			connection.Refused = &refused
		}
		return connection, nil
	default:
		return filehost.Connection{State: filehost.Connected, Account: "account", Grant: cmp.Or(t.Grant, "password")}, nil
	}
}

// AccountsOf implements filehost.Accounts: each user's account is his id, unless Name has given him another.
func (t *Tokens) AccountsOf(_ context.Context, userIDs []string) (map[string]string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	accounts := map[string]string{}
	for _, userID := range userIDs {
		if t.generations[userID] > 0 && !t.dead[userID] {
			accounts[userID] = cmp.Or(t.names[userID], userID)
		}
	}
	return accounts, nil
}

// Name gives a user an account at the host.
func (t *Tokens) Name(userID, account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.names[userID] = account
}

// Kept implements filehost.Keeper, in the order of the users' ids, which are the positions.
func (t *Tokens) Kept(ctx context.Context, after string) iter.Seq2[filehost.Kept, error] {
	t.mu.Lock()
	users := slices.Sorted(maps.Keys(t.connections))
	t.mu.Unlock()
	return func(yield func(filehost.Kept, error) bool) {
		for _, user := range users {
			connection, err := t.Connection(ctx, user)
			if user > after && !yield(filehost.Kept{Connection: connection, UserID: user, Position: user}, err) {
				return
			}
		}
	}
}

// Keeps implements filehost.Keeper.
func (t *Tokens) Keeps(_ context.Context, userID string) (bool, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.connections[userID] > 0, nil
}

// EndSignIns implements filehost.Connections.
func (t *Tokens) EndSignIns(_ context.Context, userID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.pending, userID)
	return nil
}

// Authorize implements filehost.Connections.
func (t *Tokens) Authorize(_ context.Context, userID string) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.begun = append(t.begun, userID)
	return "https://login.example.com/authorize?state=state", nil
}

// Begun returns the users whose sign-ins Authorize began.
func (t *Tokens) Begun() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.begun)
}

// BeginLoginFlow implements filehost.Connections.
func (t *Tokens) BeginLoginFlow(context.Context, string) (filehost.Begun, error) {
	return filehost.Begun{LoginURL: "https://cloud.example.com/login/v2/flow/1", ExpiresAt: time.Date(2026, 11, 21, 12, 20, 0, 0, time.UTC)}, nil
}

// Offer lets an account wait for the user's word.
func (t *Tokens) Offer(userID string, pending filehost.Pending) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pending[userID] = pending
}

// Accept implements filehost.Connections.
func (t *Tokens) Accept(_ context.Context, userID, shown string, accept bool) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch pending, ok := t.pending[userID]; {
	case !ok:
		return filehost.E(filehost.NotFound, "No account waits to be connected.", nil)
	case shown != "" && shown != pending.Account:
		return filehost.E(filehost.Conflict, "You have signed in with another account since. Press “Connect again” to see it.", nil)
	}
	delete(t.pending, userID)
	if accept {
		t.connect(userID)
	}
	return nil
}

// Refuse lets an automatic method refuse a user.
func (t *Tokens) Refuse(userID string, refusal filehost.Refusal) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused[userID] = refusal
}

// ConnectAutomatically implements filehost.Connections.
func (t *Tokens) ConnectAutomatically(_ context.Context, userID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if refusal, ok := t.refused[userID]; ok {
		return filehost.E(filehost.NotConnected, refusal.Reason, nil)
	}
	if t.generations[userID] == 0 {
		t.connect(userID)
	}
	return nil
}

// JWKS implements filehost.Issuer.
func (t *Tokens) JWKS(context.Context) ([]byte, error) {
	if t.Keys == "" {
		return nil, filehost.E(filehost.NotFound, "Nothing is signed.", nil)
	}
	return []byte(t.Keys), nil
}

// ReplaceKeys implements filehost.Issuer.
func (t *Tokens) ReplaceKeys(ctx context.Context) error {
	if _, err := t.JWKS(ctx); err != nil {
		return err
	}
	t.Keys = `{"keys":[]}`
	return nil
}

// Callback implements filehost.Connections: the code "good" connects, others do not.
func (t *Tokens) Callback(_ context.Context, callback filehost.Callback) (filehost.CallbackResult, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch {
	case callback.Code != "good":
		return filehost.CallbackResult{}, filehost.Invalid("state", "This sign-in has expired or was used before.")
	case callback.UserID == "":
		return filehost.CallbackResult{ConfirmPage: "handle"}, nil
	}
	t.connect(callback.UserID)
	return filehost.CallbackResult{Connected: true}, nil
}

// Confirmation implements filehost.Connections: the page "handle" exists, for the user who is set by BeginConfirm.
func (t *Tokens) Confirmation(_ context.Context, handle string) (filehost.Confirmation, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if user, ok := t.confirms["ABCD-EFGH"]; ok && handle == "handle" {
		return filehost.Confirmation{BeganBy: user, Code: "ABCD-EFGH"}, nil
	}
	return filehost.Confirmation{}, filehost.E(filehost.NotFound, "There is no such page.", nil)
}

// BeginConfirm lets the user confirm with the code ABCD-EFGH.
func (t *Tokens) BeginConfirm(userID string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.confirms["ABCD-EFGH"] = userID
}

// Confirm implements filehost.Connections.
func (t *Tokens) Confirm(_ context.Context, userID, code string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.confirms[code] != userID {
		return filehost.Invalid("confirm", "The code is not the one shown.")
	}
	t.connect(userID)
	return nil
}

// ConnectWithPassword implements filehost.Connections: the password is "right".
func (t *Tokens) ConnectWithPassword(_ context.Context, userID, _ string, password filehost.Secret) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if password.Reveal() != "right" {
		return filehost.Invalid("password", "The host did not accept them.")
	}
	t.connect(userID)
	return nil
}

// Disconnect implements filehost.Connections.
func (t *Tokens) Disconnect(_ context.Context, userID string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.generations, userID)
	delete(t.connections, userID)
	return nil
}

// Sealer binds and doesn't hide.
type Sealer struct{}

// Seal implements filehost.Sealer.
func (Sealer) Seal(associated string, plain []byte) (string, error) {
	return base64.RawURLEncoding.EncodeToString([]byte(associated + "\x00" + string(plain))), nil
}

// Open implements filehost.Sealer.
func (Sealer) Open(associated, sealed string) ([]byte, error) {
	raw, err := base64.RawURLEncoding.DecodeString(sealed)
	plain, ok := strings.CutPrefix(string(raw), associated+"\x00")
	if err != nil || !ok {
		return nil, errors.New("not sealed by us")
	}
	return []byte(plain), nil
}
