package remote

import (
	"context"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// recent keeps answers of the host for a while. It asks for the same thing once at a time.
type recent[K comparable, V any] struct {
	clock clockwork.Clock
	most  int // answers at a time; one more, and all are forgotten

	mu   sync.Mutex
	kept map[K]*remembered[V]
}

// remembered is one answer. Who has its turn may read and change it.
type remembered[V any] struct {
	turn  chan struct{}
	value V
	until time.Time
}

func newRecent[K comparable, V any](clock clockwork.Clock, most int) *recent[K, V] {
	return &recent[K, V]{clock: clock, most: most, kept: map[K]*remembered[V]{}}
}

// get returns what is kept for a key, or what ask says, which is kept for the life that ask gives it. It fails only when ctx
// ends while another one asks.
func (r *recent[K, V]) get(ctx context.Context, key K, ask func() (value V, life time.Duration)) (value V, err error) {
	slot := r.slot(key)
	select {
	case slot.turn <- struct{}{}:
	case <-ctx.Done():
		return value, ctx.Err()
	}
	defer func() { <-slot.turn }()
	if r.clock.Now().Before(slot.until) {
		return slot.value, nil
	}
	value, life := ask()
	slot.value, slot.until = value, r.clock.Now().Add(life)
	return value, nil
}

// forget lets the next get ask.
func (r *recent[K, V]) forget(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.kept, key)
}

func (r *recent[K, V]) slot(key K) *remembered[V] {
	r.mu.Lock()
	defer r.mu.Unlock()
	slot, ok := r.kept[key]
	if !ok {
		if len(r.kept) >= r.most {
			clear(r.kept)
		}
		slot = &remembered[V]{turn: make(chan struct{}, 1)}
		r.kept[key] = slot
	}
	return slot
}
