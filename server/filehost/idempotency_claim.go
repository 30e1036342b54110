package filehost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jonboulle/clockwork"
)

// Process tells one run of the plugin from all others, on all nodes.
type Process interface {
	// ID names this run.
	ID() string
	// Ended tells whether the run of that id is over for certain. It is false where that can't be told from here.
	Ended(id string) bool
}

// owner is the call that holds a key.
type owner struct {
	Process string `json:"process"`
	Call    string `json:"call"`
}

// Claims knows which calls of this run of the plugin hold a key. It outlives changes of the configuration.
type Claims struct {
	process Process
	mu      sync.Mutex
	calls   map[string]bool
	since   time.Time      // the beginning of the day of keys
	keys    map[string]int // taken since, by user
}

// NewClaims returns the claims of a run of the plugin that has just begun.
func NewClaims(process Process) *Claims {
	return &Claims{process: process, calls: map[string]bool{}, keys: map[string]int{}}
}

func (c *Claims) begin() owner {
	begun := owner{c.process.ID(), rand.Text()}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls[begun.Call] = true
	return begun
}

func (c *Claims) end(ended owner) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.calls, ended.Call)
}

// count counts a key that the user takes now, and fails with RateLimited when he has taken too many: each is a row in the
// server's database for as long as it is kept.
func (c *Claims) count(now time.Time, userID string) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if now.Sub(c.since) >= keyTime {
		c.since = now
		clear(c.keys)
	}
	if c.keys[userID] >= keysPerDay {
		return &Error{Kind: RateLimited, Limit: keysPerDay, LimitOwner: OwnerPlugin, RetryAfter: keyTime - now.Sub(c.since),
			Message: fmt.Sprintf("You have used %d Idempotency-Keys within a day, as many as are allowed.", keysPerDay)}
	}
	c.keys[userID]++
	return nil
}

// ended tells whether a call is over for certain.
func (c *Claims) ended(by owner) bool {
	if by.Process != c.process.ID() {
		return c.process.Ended(by.Process)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return !c.calls[by.Call]
}

// claim is one call's hold on its key. Its methods do nothing on a nil claim, that of a call without a key.
type claim struct {
	*Service
	owner      owner
	userID     string
	key        string // in the store
	associated string
	request    []byte
	draft      bool
	ours       bool // the key is of the plugin's own making: who asks again asks for another try

	mu     sync.Mutex
	record record
	// raws are what the store may hold of this claim: what was written last, and after a write whose answer was lost
	// what that was to write. nil = nothing.
	raws [][]byte

	loss  atomic.Pointer[Error] // why the work must end
	stop  context.CancelFunc    // ends it
	lapse clockwork.Timer
}

// newClaim returns a claim that holds nothing yet.
func (s *Service) newClaim(userID string, attachment Attachment) (*claim, error) {
	request, err := s.fingerprint(attachment)
	if err != nil {
		return nil, err
	}
	scope := sha256.Sum256([]byte(strings.Join([]string{userID, attachRoute, attachment.IdempotencyKey}, "\x00")))
	key := base64.RawURLEncoding.EncodeToString(scope[:])
	return &claim{Service: s, owner: s.Claims.begin(), userID: userID, request: request, draft: attachment.Draft, ours: attachment.newerOf != "", raws: [][]byte{nil},
		key: "idem_" + key, associated: strings.Join([]string{"idempotency", userID, attachRoute, key}, "\x00")}, nil
}

// fingerprint tells requests apart by what they ask for, not by how that is written.
func (s *Service) fingerprint(attachment Attachment) ([]byte, error) {
	type item struct{ ID, ETag string }
	asked := struct {
		Host, Channel, Root, Message string
		Draft                        bool
		Items                        []item
		Link                         *linkAsked `json:",omitempty"`
	}{s.Host.ID, attachment.ChannelID, attachment.RootID, attachment.Message, attachment.Draft, nil, attachment.Link.asked()}
	for _, wanted := range attachment.Items {
		asked.Items = append(asked.Items, item{Ref{wanted.Path, wanted.HostID}.ID(), wanted.ETag})
	}
	encoded, err := json.Marshal(asked)
	sum := sha256.Sum256(encoded)
	return sum[:], err
}

// pendingID is the same for all posts under a key, and can't be guessed: on old servers who knows it is given the post.
func (c *claim) pendingID() string {
	if c == nil {
		return ""
	}
	return "filehost-attach:" + c.current().Pending
}

// end tells this run of the plugin that the call is over. What it still holds may be taken over at once.
func (c *claim) end() { c.Claims.end(c.owner) }

// open reads what the store has under the key.
func (c *claim) open(raw []byte) (record, error) {
	plain, err := c.Sealer.Open(c.associated, string(raw))
	if err != nil {
		return record{}, E(Conflict, "What was done under this Idempotency-Key can't be read any more, as the plugin's encryption key has changed. Look into the channel, and use another key.", err)
	}
	var found record
	if err = json.Unmarshal(plain, &found); err != nil {
		return record{}, errors.New("a record of an idempotency key is no record")
	}
	return found, nil
}

// write puts a sign of life of this call, with next, in the place of what the claim has written before. It reports false
// when another call has taken the key.
func (c *claim) write(ctx context.Context, next record) (bool, error) {
	now := c.Clock.Now()
	next.Owner, next.Alive = c.owner, now.UTC()
	plain, err := json.Marshal(next)
	if err != nil {
		return false, err
	}
	sealed, err := c.Sealer.Seal(c.associated, plain)
	if err != nil {
		return false, err
	}
	for _, old := range slices.Backward(c.raws) {
		won, err := c.KV.CompareAndSet(ctx, c.key, old, []byte(sealed), keyTime)
		if err != nil {
			c.raws = append(c.raws, []byte(sealed))
			return false, storeFailed(err)
		}
		if won {
			c.record, c.raws = next, [][]byte{[]byte(sealed)}
			if c.lapse != nil {
				c.lapse.Reset(stopTime - c.Clock.Since(now))
			}
			return true, nil
		}
	}
	return false, nil
}

// takeOver makes this call the holder of what another has left behind.
func (c *claim) takeOver(ctx context.Context, found record) error {
	won, err := c.write(ctx, found)
	if err == nil && !won {
		err = inUse(claimRetry, nil)
	}
	return err
}

// settle keeps the answer to a call that has died. Where the store fails now, the next call comes to the same answer.
func (c *claim) settle(ctx context.Context, found record, postID string, err error) {
	found.Stage, found.PostID, found.Error, found.Items, found.Attempt = done, postID, keepError(err), found.Attempt, nil
	if err != nil {
		found.Items = nil
	}
	c.record = found
	_, _ = c.write(ctx, found)
}

// errTakenOver and errLapsed end the work of a call that doesn't hold its key any more, or can't be sure of it.
var (
	errTakenOver = inUse(claimRetry, errors.New("another call has taken the key over"))
	errLapsed    = E(Internal, "Mattermost's key-value store has not answered for too long, so the copy was stopped; try again.", errors.New("no sign of life could be written"))
)

// hold gives signs of life until release is called, also when the request's time is over and its post is still being
// made. The context that it returns ends when that fails for so long that another call may take over.
func (c *claim) hold(ctx context.Context) (held context.Context, release func()) {
	held, c.stop = context.WithCancel(ctx)
	c.lapse = c.Clock.AfterFunc(stopTime-c.Clock.Since(c.record.Alive), func() { c.lose(errLapsed) })
	ticker := c.Clock.NewTicker(beatTime)
	released, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-released:
				return
			case <-ticker.Chan():
				_ = Recovered(func() error { return c.change(context.WithoutCancel(ctx), func(*record) {}) }) // else the next one, or the end
			}
		}
	}()
	return held, func() {
		ticker.Stop()
		c.lapse.Stop()
		c.stop()
		close(released)
		<-stopped
	}
}

// lose ends the work under the claim.
func (c *claim) lose(why *Error) {
	c.loss.CompareAndSwap(nil, why)
	c.stop()
}

// lost returns why the work under the claim must end, or nil.
func (c *claim) lost() error {
	if why := c.loss.Load(); why != nil {
		return why
	}
	return nil
}

// change writes the record with a change. It fails, and the work ends, when the claim is lost.
func (c *claim) change(ctx context.Context, apply func(*record)) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if lost := c.lost(); lost != nil {
		return lost
	}
	next := c.record
	apply(&next)
	won, err := c.write(ctx, next)
	if err == nil && !won {
		c.lose(errTakenOver)
		err = errTakenOver
	}
	return err
}

// copied notes what has been copied so far. It fails only when the claim is lost.
func (c *claim) copied(ctx context.Context, items []AttachedItem) error {
	if c == nil {
		return nil
	}
	kept := keepCopies(items, c.draft)
	for i := range kept {
		kept[i].Error = nil // another call tries again
	}
	_ = c.change(ctx, func(next *record) { next.Items = kept }) // what is not noted is copied again
	return c.lost()
}

// posting notes that the post is being created, with its card if it has one. Nothing may be posted before it has succeeded.
func (c *claim) posting(ctx context.Context, items []AttachedItem, card string) error {
	if c == nil {
		return nil
	}
	return c.change(context.WithoutCancel(ctx), func(next *record) {
		next.Stage, next.Posting, next.Items = posting, c.Clock.Now().UTC(), keepCopies(items, c.draft)
		next.Attempt, next.Card = next.Items, card
	})
}

// conclude keeps the answer, or frees the key when the same request may do better next time. Where the store fails now,
// the next call finds what this one has left and comes to the same: a post is told by its files.
func (c *claim) conclude(ctx context.Context, attached Attached, err error) error {
	if lost := c.lost(); lost != nil && err != nil {
		return lost
	}
	switch {
	case err == nil && attached.PostID != "":
		_ = c.change(ctx, func(next *record) {
			next.Stage, next.PostID, next.Items, next.Attempt = done, attached.PostID, keepItems(attached.Items, c.draft), nil
			next.Grants = keepGrants(attached.Grants)
		})
	case err == nil:
		return c.change(ctx, func(next *record) { next.Stage, next.Items = done, keepItems(attached.Items, c.draft) })
	case c.mayBePosted(err):
	case finalKinds[KindOf(err)] && !c.ours:
		_ = c.change(ctx, func(next *record) { next.Stage, next.Items, next.Attempt, next.Error = done, nil, nil, keepError(err) })
	default:
		c.free(ctx)
	}
	return err
}

// mayBePosted tells whether a post may be there, or still come, after a failure. It is left to the next call to look for
// it: without the record nobody would know it.
func (c *claim) mayBePosted(err error) bool {
	last := c.current()
	refused := last.Stage == posting && KindOf(err) == Forbidden
	return len(last.Attempt) > 0 && !refused
}

// current is the record as this call has last written it, or found it.
func (c *claim) current() record {
	if c == nil {
		return record{}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.record
}

func (c *claim) free(ctx context.Context) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, old := range slices.Backward(c.raws) {
		if deleted, err := c.KV.CompareAndDelete(ctx, c.key, old); deleted || err != nil {
			return
		}
	}
}
