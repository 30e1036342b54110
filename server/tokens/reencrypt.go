package tokens

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// The pace of Reencrypt.
const (
	valuePause  = 10 * time.Millisecond // between values, so that it takes little of the database
	firstRepeat = time.Minute           // of a look that left something undone: longer than a lease lasts
	lastRepeat  = 10 * time.Minute
	nextLook    = time.Hour // after one that left nothing
)

// keyUse is what a look through the store has shown of the keys that values are encrypted with.
type keyUse struct {
	looked  bool           // through all of it, once at least
	failed  int            // values that the store did not give or take
	moved   int            // values that this look has encrypted anew
	left    map[string]int // values by the id of the key that they still use, which is known and not the current one
	waiting int            // of those, the ones that the next look may encrypt anew
	unknown int            // values of keys that are not here
}

// rotation is how far Reencrypt has come.
type rotation struct {
	mu   sync.Mutex
	last keyUse
}

func (r *rotation) set(use keyUse) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last = use
}

func (r *rotation) get() keyUse {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.last
}

// Reencrypt brings what other keys have encrypted under the current one, value by value under compare-and-set, until
// nothing is left or ctx ends. Each node does so when it starts or is configured anew; they don't get in each other's
// way, and none of them can be cut off in the middle of a value. As long as the admin has another key configured, or the
// plugin keeps one, it looks again every hour: a node that still runs with it may write.
func (s *Store) Reencrypt(ctx context.Context) {
	repeat, rotating := firstRepeat, false
	for ctx.Err() == nil {
		use := s.look(ctx)
		if ctx.Err() != nil {
			return
		}
		s.rotation.set(use)
		s.logUse(use)
		rotating = rotating || use.moved > 0 || len(use.left) > 0
		if rotating && use.failed == 0 && len(use.left) == 0 {
			rotating = false
			s.audit(ctx, filehost.AuditEvent{Action: filehost.AuditKeyRotation, Outcome: filehost.AuditSuccess})
		}
		wait := nextLook
		switch {
		case use.failed > 0 || use.waiting > 0:
			wait, repeat = repeat, min(2*repeat, lastRepeat)
		case !s.config.Cipher.hasFormer():
			return
		default:
			repeat = firstRepeat
			s.dropUnused(ctx, use)
		}
		if s.pause(ctx, wait) != nil {
			return
		}
	}
}

// logUse logs what a look has done.
func (s *Store) logUse(use keyUse) {
	if use.moved > 0 {
		s.config.Log.Info("Values were encrypted anew with the current key.", "host", s.config.Host.ID, "values", use.moved, "left", use.waiting)
	}
	if use.failed > 0 {
		s.config.Log.Warn("Some values could not be looked at for the key that they use; they are looked at again.", "host", s.config.Host.ID, "values", use.failed)
	}
}

// look goes through the store once. The nodes go through it in different orders, and so share the work.
func (s *Store) look(ctx context.Context) keyUse {
	use := keyUse{looked: true, left: map[string]int{}}
	keys, err := s.config.KV.List(ctx, "")
	if err != nil {
		use = s.rotation.get()
		use.failed, use.moved = 1, 0
		return use
	}
	keys = slices.DeleteFunc(keys, filehost.StoresPlain)
	rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] }) //nolint:gosec // no secret
	// What has no end first: it need not wait for the many values that end by themselves and are only counted.
	slices.SortStableFunc(keys, func(a, b string) int { return cmp.Compare(rankOf(a), rankOf(b)) })
	for _, key := range keys {
		if s.pause(ctx, valuePause) != nil {
			break
		}
		s.lookAt(ctx, key, &use)
	}
	return use
}

// rankOf is where a key comes in a look: 0 = among the first.
func rankOf(key string) int {
	if _, ok := longLivedAt(key); ok {
		return 0
	}
	return 1
}

func (s *Store) lookAt(ctx context.Context, key string, use *keyUse) {
	raw, err := s.config.KV.Get(ctx, key)
	if err != nil {
		use.failed++
		return
	}
	s.lookForTombstone(ctx, key, raw, use)
	id := keyIDOf(raw)
	known := s.config.Cipher.byID[id]
	switch {
	case id == "", id == s.config.Cipher.current.id, strings.HasPrefix(key, formerKeysKey("")):
		return
	case known == nil:
		use.unknown++
		return
	}
	kind, ok := longLivedAt(key)
	if !ok {
		use.left[id]++ // until it ends by itself
		return
	}
	switch _, outcome := s.reencrypt(ctx, kind, key, ownerOf(raw), raw); outcome {
	case moved:
		use.moved++
	case busy:
		use.left[id]++
		use.waiting++
	case storeDown:
		use.left[id]++
		use.failed++
	case ownersOnly:
		use.left[id]++
	}
}

// lookForTombstone finishes a disconnect whose node has died.
func (s *Store) lookForTombstone(ctx context.Context, key string, raw []byte, use *keyUse) {
	owner := ownerOf(raw)
	var plain plainRecord
	if owner == "" || key != s.key(longLivedConnection.prefix, owner) ||
		s.config.Cipher.decryptJSON(s.place(connectionPurpose, owner), raw, &plain) != nil || plain.State != disconnecting {
		return
	}
	read, err := s.open(ctx, owner, raw)
	if err != nil {
		use.failed++
		return
	}
	switch done, err := s.finishDisconnect(context.WithoutCancel(ctx), owner, read); {
	case err != nil:
		use.failed++
	case !done && keyIDOf(raw) == s.config.Cipher.current.id: // else it waits for its key already
		use.waiting++
	}
}

// reencrypted is how an attempt to encrypt a value anew ended.
type reencrypted int

const (
	moved      reencrypted = iota
	busy                   // somebody holds on to it, or has just changed it
	storeDown              // the store failed
	ownersOnly             // it doesn't say whose it is: it is encrypted anew when its owner's is read
	closed                 // it decrypts nowhere under today's settings, whatever the key
)

// reencrypt puts a value of the store under the current key if it is still what was read, and returns its bytes then.
func (s *Store) reencrypt(ctx context.Context, kind longLived, key, owner string, raw []byte) ([]byte, reencrypted) {
	var sealed envelope
	if json.Unmarshal(raw, &sealed) != nil {
		return raw, closed
	}
	if owner == "" {
		return raw, ownersOnly
	}
	at := s.place(kind.purpose, owner)
	plain, err := s.config.Cipher.decrypt(at, sealed)
	switch {
	case err != nil:
		return raw, closed
	case kind.settled != nil && !kind.settled(plain):
		return raw, busy
	}
	next, err := s.config.Cipher.wrap(at, plain)
	if err != nil {
		return raw, closed
	}
	won, err := s.config.KV.CompareAndSet(ctx, key, raw, next, 0)
	switch {
	case err != nil:
		return raw, storeDown
	case !won:
		return raw, busy
	}
	return next, moved
}

// underCurrentKey encrypts a user's record anew if another key has encrypted it, or if it doesn't say yet whose it is,
// and returns its bytes. It does so as well as it can: the record is good as it is.
func (s *Store) underCurrentKey(ctx context.Context, userID string, raw []byte) (now []byte, anew bool) {
	if keyIDOf(raw) == s.config.Cipher.current.id && ownerOf(raw) != "" {
		return raw, false
	}
	now, outcome := s.reencrypt(ctx, longLivedConnection, s.key(longLivedConnection.prefix, userID), userID, raw)
	return now, outcome == moved
}

// dropUnused gives up the keys that the plugin keeps and nothing uses any more.
func (s *Store) dropUnused(ctx context.Context, use keyUse) {
	err := s.config.Cipher.dropFormerKeys(ctx, s.config.KV, s.config.Clock, func(id string) bool { return use.left[id] == 0 })
	if err != nil {
		s.config.Log.Warn("Former encryption keys that nothing uses any more are still kept.", "host", s.config.Host.ID, "error", err.Error())
	}
}

// hasFormer tells whether there is a key that could be removed some day.
func (c *Cipher) hasFormer() bool { return len(c.byID) > 1 }

// KeyNote tells an admin where the encryption key comes from and what still uses another one, in sentences.
func (s *Store) KeyNote() string {
	cipher, use := s.config.Cipher, s.rotation.get()
	var notes []string
	switch current := cipher.current; {
	case current.origin == Made:
		notes = append(notes, "The plugin has made the encryption key itself and keeps it in Mattermost's database, beside what it encrypts: who gets hold of a whole dump of the database can read both. "+
			"To keep them apart, give the Mattermost server a key of your own in its environment (FILEHOST_ATTACH_KEY or FILEHOST_ATTACH_KEY_FILE).")
	case current.source != "":
		notes = append(notes, "The encryption key is that of "+current.source+".")
	}
	others := slices.SortedFunc(maps.Values(cipher.byID), func(a, b *masterKey) int {
		return cmp.Or(cmp.Compare(a.origin, b.origin), cmp.Compare(a.source, b.source), cmp.Compare(a.id, b.id))
	})
	for _, key := range others {
		if key != cipher.current {
			notes = append(notes, key.note(use)...)
		}
	}
	if use.unknown > 0 {
		notes = append(notes, fmt.Sprintf("%s encrypted with a key that is not here.", values(use.unknown, "was", "were")))
	}
	return strings.Join(notes, " ")
}

// note tells what still uses a key that is not the current one.
func (k *masterKey) note(use keyUse) []string {
	left := use.left[k.id]
	switch {
	case !use.looked || use.failed > 0 && left == 0:
		if k.origin == Configured {
			return []string{"Whether anything still uses the key of " + k.source + " is not known yet: leave it there."}
		}
	case left > 0 && k.origin == Configured:
		return []string{fmt.Sprintf("%s the key of %s: leave it there. It can be removed when this says none; connections follow within minutes, the answers kept for Idempotency-Keys end within a day.", values(left, "still uses", "still use"), k.source)}
	case left > 0 && k.origin == Kept:
		return []string{fmt.Sprintf("%s %s; it is given up by itself.", values(left, "still uses", "still use"), k.source)}
	case k.origin == Configured:
		return []string{"None uses the key of " + k.source + " any more: when every node says so, it can be removed."}
	}
	return nil
}

func values(n int, one, many string) string {
	if n == 1 {
		return "1 value " + one
	}
	return fmt.Sprintf("%d values %s", n, many)
}
