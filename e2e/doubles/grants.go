package doubles

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"slices"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

const (
	codeLife = 10 * time.Minute
	hour     = time.Hour
)

// grant is what a user allowed a client: tokens that live, by what they are.
type grant struct {
	user    string
	access  map[string]time.Time // until when
	refresh map[string]bool
}

// begun is a code that was handed out.
type begun struct {
	user, redirectURI, challenge, nonce string
	scopes                              []string
	issuedAt                            time.Time
}

// grants keeps codes and grants in memory.
type grants struct {
	clock clockwork.Clock

	mu     sync.Mutex
	life   time.Duration // 0 = the host's own
	codes  map[string]begun
	all    []*grant
	issued []string // all codes and tokens ever
}

func newGrants(clock clockwork.Clock, life time.Duration) *grants {
	return &grants{clock: clock, life: life, codes: map[string]begun{}}
}

// token is a random word of letters and digits, as long as the host's.
func token(length int) string {
	var word string
	for len(word) < length {
		word += rand.Text()
	}
	return word[:length]
}

// remember keeps a secret for the search of the logs. It wants the lock held.
func (g *grants) remember(secrets ...string) { g.issued = append(g.issued, secrets...) }

// keep remembers secrets that are no grants.
func (g *grants) keep(secrets ...string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.remember(secrets...)
}

func (g *grants) everIssued() []string {
	g.mu.Lock()
	defer g.mu.Unlock()
	return slices.Clone(g.issued)
}

func (g *grants) setLife(life time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.life = life
}

// newCode hands out a code.
func (g *grants) newCode(code string, b begun) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b.issuedAt = g.clock.Now()
	g.codes[code] = b
	g.remember(code)
}

// code looks at a code that is neither spent nor expired.
func (g *grants) code(code string) (begun, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	b, ok := g.codes[code]
	return b, ok && g.clock.Since(b.issuedAt) <= codeLife
}

// spend ends a code; false when another request has.
func (g *grants) spend(code string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	_, ok := g.codes[code]
	delete(g.codes, code)
	return ok
}

// tokens are one answer of a token endpoint.
type tokens struct {
	access, refresh string
	life            time.Duration
}

// open makes a grant with its first tokens. An empty refresh token is none.
func (g *grants) open(user string, t tokens) tokens {
	g.mu.Lock()
	defer g.mu.Unlock()
	opened := &grant{user: user, access: map[string]time.Time{}, refresh: map[string]bool{}}
	g.all = append(g.all, opened)
	return g.add(opened, t)
}

// add wants the lock held.
func (g *grants) add(to *grant, t tokens) tokens {
	if g.life != 0 {
		t.life = g.life
	}
	to.access[t.access] = g.clock.Now().Add(t.life)
	g.remember(t.access)
	if t.refresh != "" {
		to.refresh[t.refresh] = true
		g.remember(t.refresh)
	}
	return t
}

// renew gives the grant of a refresh token new tokens. With rotate, all that it had before end.
func (g *grants) renew(refresh string, t tokens, rotate bool) (user string, renewed tokens, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, each := range g.all {
		if !each.refresh[refresh] {
			continue
		}
		if rotate {
			clear(each.access)
			clear(each.refresh)
		}
		return each.user, g.add(each, t), true
	}
	return "", tokens{}, false
}

// refreshable tells whose live refresh token this is.
func (g *grants) refreshable(refresh string) (user string, ok bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, each := range g.all {
		if each.refresh[refresh] {
			return each.user, true
		}
	}
	return "", false
}

// user tells whose live access token this is.
func (g *grants) user(access string) (string, bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, each := range g.all {
		if until, ok := each.access[access]; ok && g.clock.Now().Before(until) {
			return each.user, true
		}
	}
	return "", false
}

// revoke ends the grant of an access token.
func (g *grants) revoke(access string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.all)
	g.all = slices.DeleteFunc(g.all, func(each *grant) bool { _, ok := each.access[access]; return ok })
	return len(g.all) < before
}

func (g *grants) revokeAll(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.all = slices.DeleteFunc(g.all, func(each *grant) bool { return each.user == user })
}

func (g *grants) expire(user string) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, each := range g.all {
		if each.user == user {
			clear(each.access)
		}
	}
}

func (g *grants) count(user string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	count := 0
	for _, each := range g.all {
		if each.user == user {
			count += len(each.refresh)
		}
	}
	return count
}

// s256 is the challenge of a verifier (RFC 7636 4.2).
func s256(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
