package tokens

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The grants of people, as a record and the connection's owner know them. Every other grant has the name of its method.
const (
	codeGrant     = filehost.GrantAuthorizationCode
	passwordGrant = string(filehost.MethodPassword)
)

// grantOf is the grant that a method makes.
func grantOf(method filehost.Method) string {
	if method == filehost.MethodOAuth {
		return codeGrant
	}
	return string(method)
}

// state is where a record stands.
type state string

// The states that are stored.
const (
	active        state = "active"
	refreshing    state = "refreshing"    // one node, which Lease names, spends the refresh token
	dead          state = "dead"          // the host or the sign-in server no longer accepts it
	disconnecting state = "disconnecting" // a tombstone: nothing of before comes back
	refused       state = "refused"       // by the automatic method; Reason says why
	declined      state = "declined"      // by the user: the automatic method is not to connect him
)

// The states of an entry that has no usable record.
const (
	absent     state = ""
	foreign    state = "foreign"    // made for another origin, client or sign-in server than is configured now
	outdated   state = "outdated"   // by a method that the admin no longer lets this user connect by
	unreadable state = "unreadable" // encrypted with a key that is gone, or not made for this place
)

// generation tells one credential from its successor. Its first 16 digits grow with every connect and every refresh.
type generation string

const serialDigits = 16

// next returns a generation after g. It starts from the time, so that it also comes after those of a connection that is
// already deleted.
func (g generation) next(now time.Time) generation {
	serial := now.UnixMilli()
	var last int64
	if _, err := fmt.Sscanf(string(g.serial()), "%016x", &last); err == nil && last >= serial {
		serial = last + 1
	}
	return generation(fmt.Sprintf("%016x-%s", serial, rand.Text()))
}

func (g generation) serial() generation { return g[:min(len(g), serialDigits)] }

// after tells whether g replaces other.
func (g generation) after(other generation) bool { return g.serial() > other.serial() }

// lease says who is spending the refresh token.
type lease struct {
	Owner    string    `json:"owner"`
	Deadline time.Time `json:"deadline"`
	Attempt  int       `json:"attempt"` // 2: the owner has taken it over from one who never came back
}

// record is what is kept of a user's connection.
type record struct {
	State      state      `json:"state"`
	Generation generation `json:"generation"`
	Connection string     `json:"connection"`
	Grant      string     `json:"grant"`
	Account    string     `json:"account,omitempty"`
	Since      time.Time  `json:"since"`
	Lease      *lease     `json:"lease,omitempty"` // refreshing only

	Reason string `json:"reason,omitempty"` // refused only
	// Until: before then, the automatic method is not asked again (refused), and nobody else ends what the record holds
	// (disconnecting).
	Until time.Time `json:"until,omitzero"`

	// What the credential was made for.
	Origin   string `json:"origin"`
	ClientID string `json:"client_id,omitempty"`
	Server   string `json:"server,omitempty"` // the sign-in server, as provider.binding

	// A token.
	AccessToken  filehost.Secret `json:"-"`
	RefreshToken filehost.Secret `json:"-"`                 // empty when the server gave none
	Subject      string          `json:"subject,omitempty"` // of the first ID token; "" = there was none
	Nonce        string          `json:"nonce,omitempty"`   // of that ID token
	UsableUntil  time.Time       `json:"usable_until"`      // by the clock of who received the token; zero = until it is rejected

	// A user name and a password, or what is used as one.
	Username string          `json:"username,omitempty"`
	Password filehost.Secret `json:"-"`
	Scheme   filehost.Scheme `json:"scheme,omitempty"` // by which the host has proved to take the password; "" = Basic

	// Before is what the store held when an automatic method, or a disconnect, took its place: a grant of the user's own. It
	// is there until that has come to an end, so that a node that dies loses nothing. nil = there was nothing to be kept.
	Before *record `json:"-"`

	flow string // the login flow that it comes from, while it is saved
}

// Format implements fmt.Formatter without the secrets, whatever holds the record.
func (r record) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "record(%s %s %s)", r.Grant, r.State, r.Generation)
}

// plainRecord is a record with its secrets spelled out. It exists only between the record and the cipher.
type plainRecord struct {
	record
	AccessToken  string `json:"access_token,omitempty"`
	RefreshToken string `json:"refresh_token,omitempty"`
	Password     string `json:"password,omitempty"`

	Before *plainRecord `json:"before,omitempty"`
}

// plain spells the secrets of a record out.
func (r record) plain() plainRecord {
	plain := plainRecord{record: r, AccessToken: r.AccessToken.Reveal(), RefreshToken: r.RefreshToken.Reveal(), Password: r.Password.Reveal()}
	if r.Before != nil {
		before := r.Before.plain()
		plain.Before = &before
	}
	return plain
}

// sealed is the record whose secrets were spelled out.
func (p plainRecord) sealed() record {
	r := p.record
	r.AccessToken, r.RefreshToken, r.Password = filehost.NewSecret(p.AccessToken), filehost.NewSecret(p.RefreshToken), filehost.NewSecret(p.Password)
	if p.Before != nil {
		before := p.Before.sealed()
		r.Before = &before
	}
	return r
}

// Format implements fmt.Formatter without the secrets.
func (p plainRecord) Format(out fmt.State, verb rune) { p.record.Format(out, verb) }

func (r record) credential() filehost.Credential {
	credential := filehost.Credential{
		Scheme:     filehost.Bearer,
		Secret:     r.AccessToken,
		Account:    r.Account,
		Connection: r.Connection,
		Generation: string(r.Generation),
		Grant:      r.Grant,
	}
	if r.Username != "" {
		credential.Scheme, credential.Username = cmp.Or(r.Scheme, filehost.Basic), r.Username
		if !r.Password.IsEmpty() {
			credential.Secret = r.Password
		}
	}
	return credential
}

// renewable tells whether a successor of the credential can be had without its user.
func (s *Store) renewable(r record) bool {
	return r.Grant == codeGrant && !r.RefreshToken.IsEmpty() || s.isAutomatic(r)
}

// gaveAccess tells whether there is something in a record that could be revoked.
func (r record) gaveAccess() bool { return r.Grant != "" && r.State != refused }

// ofSignInServer tells whether a record's credential was made by the sign-in server.
func (r record) ofSignInServer() bool {
	return r.Grant == codeGrant || filehost.Method(r.Grant).UsesSignInServer()
}

// empty tells whether a lease is one under which a first credential is made.
func (r record) empty() bool { return r.AccessToken.IsEmpty() && r.RefreshToken.IsEmpty() }

func (r record) usable(now time.Time) bool {
	return r.UsableUntil.IsZero() || now.Before(r.UsableUntil)
}

// as returns the record in another state, held by nobody. A dead one keeps its tokens, to be revoked, and no password.
func (r record) as(next state) record {
	r.State, r.Lease = next, nil
	if next == dead {
		r.Password = filehost.Secret{}
	}
	return r
}

// entry is a record as it was read, with the bytes that a compare-and-set needs.
type entry struct {
	record        // as it stands under the present settings
	stored record // as it was written
	raw    []byte
	cause  error // unreadable: errUnknownKey or errForged
	anew   bool  // encrypted anew by this very read
}

// load reads a user's record. It fails only when the store does, or the look-up of who is a bot.
func (s *Store) load(ctx context.Context, userID string) (entry, error) {
	raw, err := s.config.KV.Get(ctx, s.key("conn_", userID))
	if err != nil {
		return entry{}, storeFailed(err)
	}
	if raw == nil {
		return entry{}, nil
	}
	return s.open(ctx, userID, raw)
}

// open reads a user's record of its bytes.
func (s *Store) open(ctx context.Context, userID string, raw []byte) (entry, error) {
	var plain plainRecord
	if err := s.config.Cipher.decryptJSON(s.place(connectionPurpose, userID), raw, &plain); err != nil {
		return entry{record: record{State: unreadable}, raw: raw, cause: err}, nil
	}
	raw, anew := s.underCurrentKey(ctx, userID, raw)
	stored := plain.sealed()
	if stored.State != disconnecting && !s.isAutomatic(stored) || stored.State == refused && !s.config.Clock.Now().Before(stored.Until) {
		for stored.Before != nil { // what took its place has come to nothing
			stored = *stored.Before
		}
	}
	found, err := s.stands(ctx, userID, stored)
	return entry{record: found, stored: stored, raw: raw, anew: anew}, err
}

// stands returns a stored record as it stands under the present settings.
func (s *Store) stands(ctx context.Context, userID string, found record) (record, error) {
	none := record{Generation: found.Generation}
	switch {
	case found.State == disconnecting:
		return found, nil
	case found.State == declined && !s.connectsByItself(),
		found.State == refused && (!s.isAutomatic(found) || !s.config.Clock.Now().Before(found.Until)):
		return none, nil
	case found.State == declined, found.State == refused:
		return found, nil
	case !s.made(found):
		none.State = foreign
		return none, nil
	case found.State != active && found.State != refreshing:
		return found, nil
	}
	allowed, err := s.allows(ctx, userID, found.Grant)
	if err == nil && !allowed {
		found.State = outdated
	}
	return found, err
}

// allows tells whether a user may be connected by a grant: people by that of a method which the admin has chosen, bots by
// a password.
func (s *Store) allows(ctx context.Context, userID, grant string) (bool, error) {
	if slices.ContainsFunc(s.config.Methods, func(m filehost.Method) bool { return grantOf(m) == grant }) {
		return true, nil
	}
	if grant != passwordGrant {
		return false, nil
	}
	who, err := s.config.Identify(ctx, userID)
	if err != nil && filehost.KindOf(err) != filehost.NotFound {
		return false, err
	}
	return who.Bot && err == nil, nil
}

// made tells whether a record was made for what is configured now.
func (s *Store) made(r record) bool {
	switch {
	case r.Origin != s.config.Host.Origin():
		return false
	case r.ofSignInServer():
		return s.provider != nil && r.ClientID == s.config.OAuth.ClientID && r.Server == s.provider.binding
	}
	return true
}

// swap replaces what was read by next, and returns the new entry, if nobody has changed it in between.
func (s *Store) swap(ctx context.Context, userID string, read entry, next record) (entry, bool, error) {
	raw, err := s.config.Cipher.encryptJSON(s.place(connectionPurpose, userID), next.plain())
	if err != nil {
		return entry{}, false, filehost.E(filehost.Internal, "The connection could not be encrypted.", err)
	}
	won, err := s.config.KV.CompareAndSet(ctx, s.key("conn_", userID), read.raw, raw, kept(next))
	if err != nil {
		return entry{}, false, storeFailed(err)
	}
	return entry{record: next, stored: next, raw: raw}, won, nil
}

// kept is how long the store keeps a record; 0 = until it is replaced. What a node that dies leaves behind does not stay,
// but for what it holds of a user's own.
func kept(r record) time.Duration {
	switch {
	case r.State == disconnecting && r.Before != nil:
		return unrevokedTime
	case r.State == disconnecting:
		return tombstoneTime
	case r.Before != nil:
		return 0
	case r.State == refused:
		return refusalTime
	case filehost.Method(r.Grant).Automatic():
		return automaticKept
	}
	return 0
}

// grants are the credentials that an entry stands for, as they stand: its own, and what it took the place of.
func (s *Store) grants(ctx context.Context, userID string, read entry) []record {
	all := []record{read.record}
	for before := read.stored.Before; before != nil; before = before.Before {
		standing, err := s.stands(ctx, userID, *before)
		if err != nil {
			standing = before.as(outdated) // whoever may use it: it is to be ended
		}
		all = append(all, standing)
	}
	return all
}

// own is the grant in an entry that a person has made; nil = there is none.
func (e entry) own() *record {
	for r := &e.stored; r != nil; r = r.Before {
		if r.Grant != "" && !filehost.Method(r.Grant).Automatic() {
			own := *r
			own.Before = nil
			return &own
		}
	}
	return nil
}

// outcome is how an attempt to save refreshed tokens ended.
type outcome int

const (
	notStored  outcome = iota // the store failed, or its replica is stale: try again
	stored                    // by this attempt or an earlier one that seemed to fail
	superseded                // the connection they belong to is gone
)

// store puts next in the place of the lease it was made under, or of what another node has made of that lease since:
// whatever has the lease's own generation holds tokens older than next's.
func (s *Store) store(ctx context.Context, userID string, held entry, next record) outcome {
	read := held
	for range 2 {
		_, won, err := s.swap(ctx, userID, read, next)
		if won {
			return stored
		}
		if err == nil {
			read, err = s.load(ctx, userID)
		}
		switch {
		case err != nil:
			return notStored
		case read.State == absent, read.State == disconnecting, read.State == declined, read.State == foreign, read.State == unreadable:
			return superseded
		case read.Generation == next.Generation:
			return stored
		case read.Generation.after(held.Generation):
			return superseded
		case read.Generation != held.Generation:
			return notStored // a stale replica
		}
	}
	return notStored
}

// key names a value of the store in at most 50 characters, the limit of old servers, and tells nothing about whose it is.
func (s *Store) key(prefix, id string) string {
	hash := sha256.Sum256(fmt.Appendf(nil, "%s|%s", s.config.Host.ID, id))
	return prefix + base64.RawURLEncoding.EncodeToString(hash[:])
}

func (s *Store) place(purpose purpose, userID string) place {
	return place{Purpose: purpose, User: userID, Host: s.config.Host.ID, Kind: s.config.Host.Kind}
}

// save keeps a new connection in place of whatever there was, which is then revoked.
func (s *Store) save(ctx context.Context, userID string, fresh record) error {
	_, err := s.replace(ctx, userID, fresh)
	return err
}

// replace is save, and returns what was there.
func (s *Store) replace(ctx context.Context, userID string, fresh record) (replaced entry, err error) {
	now := s.config.Clock.Now().UTC()
	fresh.State, fresh.Connection, fresh.Since, fresh.Origin = active, rand.Text(), now, s.config.Host.Origin()
	if err := s.dropFlows(ctx, userID, fresh.flow); err != nil {
		return entry{}, err // else a flow that is under way could take the place of this connection
	}
	err = s.contest(ctx, func() (bool, error) {
		read, err := s.load(ctx, userID)
		if err != nil {
			return false, err
		}
		replaced = read
		fresh.Generation = read.Generation.next(now)
		_, won, err := s.swap(ctx, userID, read, fresh)
		return won, err
	})
	if err == nil {
		s.revokeReplaced(fresh, append(s.grants(ctx, userID, replaced), s.dropUnsaved(userID))...)
		s.used.forget(userID)
	}
	return replaced, err
}

const (
	contestRounds = 50
	contestPause  = 100 * time.Millisecond
)

func (s *Store) contest(ctx context.Context, round func() (won bool, err error)) error {
	return contest(ctx, s.config.Clock, round)
}

// contest repeats a read and compare-and-set until it is won. Losing means that another was quicker, or that the read
// came from a replica that lags behind.
func contest(ctx context.Context, clock clockwork.Clock, round func() (won bool, err error)) error {
	for range contestRounds {
		won, err := round()
		if won || err != nil {
			return err
		}
		if err := pause(ctx, clock, contestPause); err != nil {
			return storeFailed(err)
		}
	}
	return storeFailed(errors.New("the compare-and-set was lost too often"))
}

// Connection implements filehost.Connections.
func (s *Store) Connection(ctx context.Context, userID string) (filehost.Connection, error) {
	found, err := s.load(ctx, userID)
	if err != nil {
		return filehost.Connection{}, err
	}
	why, err := s.barred(ctx, userID, found.record)
	if err != nil {
		return filehost.Connection{}, err
	}
	if why != nil && !replaceable(found.record) {
		found = entry{} // he has nothing else
	}
	connection, err := s.connection(ctx, userID, found)
	if why == nil && s.sharing(found.record) {
		connection, err = s.shared.connection(ctx, userID)
	}
	if err == nil {
		err = s.flowStory(ctx, userID, &connection)
	}
	if why == nil && err == nil {
		why, err = s.noFlowFor(ctx, userID, connection)
	}
	if why != nil {
		connection.Refused = &filehost.Refusal{Method: s.config.Methods[0], Reason: why.reason}
	}
	return connection, err
}

// connection is what a record tells.
func (s *Store) connection(ctx context.Context, userID string, found entry) (filehost.Connection, error) {
	connection := filehost.Connection{Account: found.Account, Grant: found.Grant, Since: found.Since}
	switch found.State {
	case active, refreshing:
		connection.State = filehost.Connected
		if !s.renewable(found.record) && !found.usable(s.config.Clock.Now()) {
			connection.State = filehost.Reconnect
		}
	case dead, outdated:
		connection.State = filehost.Reconnect
	case refused:
		connection = filehost.Connection{State: filehost.Disconnected, Refused: &filehost.Refusal{Method: filehost.Method(found.Grant), Reason: found.Reason}}
	case declined:
		connection = filehost.Connection{State: filehost.Disconnected, Declined: true}
	case unreadable:
		connection = filehost.Connection{State: filehost.Reconnect}
	default:
		connection = filehost.Connection{State: filehost.Disconnected}
	}
	var err error
	if connection.Grant != "" {
		connection.LastUsed, err = s.lastUsed(ctx, userID, found.Since)
	}
	return connection, err
}
