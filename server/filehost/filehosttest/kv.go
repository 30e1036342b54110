// Package filehosttest holds doubles of the domain's ports that behave as the real ones do.
package filehosttest

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Op names an operation of the store for Fail.
type Op string

// The operations.
const (
	Get              Op = "get"
	CompareAndSet    Op = "compare-and-set"
	CompareAndDelete Op = "compare-and-delete"
	List             Op = "list" // of keys; Fail gets their prefix
)

// KV is a filehost.KV in memory. Its values expire by the given clock. It is safe for concurrent use.
type KV struct {
	clock  clockwork.Clock
	mu     sync.Mutex
	values map[string]value
	writes int
	fail   func(op Op, key string) error
}

type value struct {
	bytes   []byte
	expires time.Time // zero = never
	version int
}

var _ filehost.KV = (*KV)(nil)

// NewKV returns an empty store.
func NewKV(clock clockwork.Clock) *KV {
	return &KV{clock: clock, values: map[string]value{}}
}

// Fail makes every later operation fail for which decide returns an error. nil ends it. decide may block; it is called
// outside the store's own lock.
func (kv *KV) Fail(decide func(op Op, key string) error) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	kv.fail = decide
}

// Get implements filehost.KV.
func (kv *KV) Get(ctx context.Context, key string) ([]byte, error) {
	if err := kv.refusal(ctx, Get, key); err != nil {
		return nil, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	return bytes.Clone(kv.live(key).bytes), nil
}

// CompareAndSet implements filehost.KV.
func (kv *KV) CompareAndSet(ctx context.Context, key string, old, new []byte, ttl time.Duration) (bool, error) {
	if err := kv.refusal(ctx, CompareAndSet, key); err != nil {
		return false, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	current := kv.live(key)
	if (current.bytes == nil) != (old == nil) || !bytes.Equal(current.bytes, old) {
		return false, nil
	}
	kv.writes++
	stored := value{bytes: append([]byte{}, new...), version: kv.writes}
	if ttl > 0 {
		stored.expires = kv.clock.Now().Add(ttl)
	}
	kv.values[key] = stored
	return true, nil
}

// CompareAndDelete implements filehost.KV.
func (kv *KV) CompareAndDelete(ctx context.Context, key string, old []byte) (bool, error) {
	if err := kv.refusal(ctx, CompareAndDelete, key); err != nil {
		return false, err
	}
	kv.mu.Lock()
	defer kv.mu.Unlock()
	current := kv.live(key)
	if current.bytes == nil || !bytes.Equal(current.bytes, old) {
		return false, nil
	}
	kv.writes++
	delete(kv.values, key)
	return true, nil
}

// List implements filehost.KV.
func (kv *KV) List(ctx context.Context, prefix string) ([]string, error) {
	if err := kv.refusal(ctx, List, prefix); err != nil {
		return nil, err
	}
	return slices.DeleteFunc(kv.Keys(), func(key string) bool { return !strings.HasPrefix(key, prefix) }), nil
}

// Keys returns the keys that hold a value, sorted.
func (kv *KV) Keys() []string {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	for key := range kv.values {
		kv.live(key)
	}
	return slices.Sorted(maps.Keys(kv.values))
}

// Put stores bytes under a key, whatever it held: a fault or a forgery of a test.
func (kv *KV) Put(key string, bytes []byte) {
	kv.mu.Lock()
	defer kv.mu.Unlock()
	kv.writes++
	kv.values[key] = value{bytes: append([]byte{}, bytes...), version: kv.writes}
}

func (kv *KV) refusal(ctx context.Context, op Op, key string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	kv.mu.Lock()
	fail := kv.fail
	kv.mu.Unlock()
	if fail == nil {
		return nil
	}
	return fail(op, key)
}

// live returns the value of a key and drops it when its time is over. The caller holds the lock.
func (kv *KV) live(key string) value {
	current, ok := kv.values[key]
	if ok && !current.expires.IsZero() && !kv.clock.Now().Before(current.expires) {
		delete(kv.values, key)
		return value{}
	}
	return current
}

// Replica returns the store as a node sees it whose reads lag behind: after each change of a key, its first lag reads
// still return what the node has read before. What it hasn't read before, it reads as it is. Its writes go to the store
// itself.
func (kv *KV) Replica(lag int) filehost.KV {
	return &replica{KV: kv, lag: lag, seen: map[string]*snapshot{}}
}

type replica struct {
	*KV
	lag  int
	mu   sync.Mutex
	seen map[string]*snapshot
}

type snapshot struct {
	value value
	stale int // reads since the store moved on
}

// Get implements filehost.KV.
func (r *replica) Get(ctx context.Context, key string) ([]byte, error) {
	if err := r.refusal(ctx, Get, key); err != nil {
		return nil, err
	}
	r.KV.mu.Lock()
	current := r.live(key)
	r.KV.mu.Unlock()

	r.mu.Lock()
	defer r.mu.Unlock()
	known, ok := r.seen[key]
	switch {
	case !ok:
		known = &snapshot{value: current}
		r.seen[key] = known
	case known.value.version == current.version:
	case known.stale < r.lag:
		known.stale++
	default:
		*known = snapshot{value: current}
	}
	return bytes.Clone(known.value.bytes), nil
}
