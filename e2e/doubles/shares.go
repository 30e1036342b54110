package doubles

import (
	"encoding/json"
	"path"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jonboulle/clockwork"
)

// The kinds of share of OCS, and its permissions.
const (
	shareUser, shareGroup, shareLink = 0, 1, 3

	mayRead, mayUpdate, mayCreate, mayDelete, mayShare = 1, 2, 4, 8, 16
)

// LinkRules are what an administrator demands of public links.
type LinkRules struct {
	Off      bool // there are none
	Password bool // each needs one
	Days     int  // of life at most; 0 = any
	Default  bool // a link that asks for no end gets one after Days, which is then no limit
	Most     int  // shares that a user makes in ten minutes; 0 = any. Nextcloud is installed with 20
	// Careless makes links of more than was asked for: without a password, without an end, to edit.
	Careless bool
	// Hidden makes links that no list shows.
	Hidden bool
}

// madeShare is one share.
type madeShare struct {
	id          string
	kind        int
	owner       string // whose the entry is; only he shares it here
	item        uint64
	path        string
	folder      bool
	permissions int
	ends        time.Time // zero = never
	password    string
	label       string
	with        string // a user, or a group
	token       string
	at          time.Time
	hidden      bool
}

// shares are those that a host has.
type shares struct {
	clock clockwork.Clock

	mu    sync.Mutex
	rules LinkRules
	next  int
	all   []madeShare
	made  map[string][]time.Time // when a user has tried to make one
}

func newShares(clock clockwork.Clock) *shares {
	return &shares{clock: clock, made: map[string][]time.Time{}}
}

// SetLinkRules changes what the administrator demands of links from now on.
func (s *server) SetLinkRules(rules LinkRules) {
	s.shares.mu.Lock()
	defer s.shares.mu.Unlock()
	s.shares.rules = rules
}

// Share is a share that a host has, for tests.
type Share struct {
	ID, Path, With, Password, Label string
	Public                          bool
	Ends                            time.Time
}

// Shares are those of a user's entries, in the order in which they were made.
func (s *server) Shares(user string) []Share {
	s.shares.mu.Lock()
	defer s.shares.mu.Unlock()
	var told []Share
	for _, each := range s.shares.all {
		if each.owner == user {
			told = append(told, Share{each.id, each.path, each.with, each.password, each.label, each.kind == shareLink, each.ends})
		}
	}
	return told
}

// ShareWithGroup shares an entry of a user's as he does at the host itself.
func (s *server) ShareWithGroup(user, name, group string) {
	n, err := s.disk.find(user, name)
	if err != nil {
		panic(err) // a test's own file
	}
	s.shares.add(n, madeShare{kind: shareGroup, permissions: mayRead, with: group})
}

func (s *shares) current() LinkRules {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rules
}

// limited counts a try to share, and tells whether it is one too many.
func (s *shares) limited(user string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.clock.Now()
	tries := slices.DeleteFunc(s.made[user], func(at time.Time) bool { return now.Sub(at) >= 10*time.Minute })
	if s.rules.Most > 0 && len(tries) >= s.rules.Most {
		return true
	}
	s.made[user] = append(tries, now)
	return false
}

// add makes a share of a node. A link that the rules make careless is not what was asked for.
func (s *shares) add(n node, made madeShare) madeShare {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.next++
	made.id, made.owner, made.item, made.path, made.folder, made.at = strconv.Itoa(s.next), n.user, n.id(), n.path, n.isDir(), s.clock.Now()
	if made.kind == shareLink {
		made.token = token(15)
		made.hidden = s.rules.Hidden
		if s.rules.Careless {
			made.password, made.ends, made.permissions = "", time.Time{}, made.permissions|mayUpdate
		}
	}
	s.all = append(s.all, made)
	return made
}

// with are the shares that others have made with a user.
func (s *shares) with(user string) []madeShare {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []madeShare
	for _, each := range s.all {
		if each.kind == shareUser && each.with == user {
			found = append(found, each)
		}
	}
	return found
}

// of are the shares of an entry that are in force.
func (s *shares) of(n node) []madeShare {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []madeShare
	for _, each := range s.all {
		if each.owner == n.user && each.item == n.id() && !each.hidden && (each.ends.IsZero() || s.clock.Now().Before(each.ends)) {
			found = append(found, each)
		}
	}
	return found
}

// by finds a share by its id.
func (s *shares) by(id string) (madeShare, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := slices.IndexFunc(s.all, func(each madeShare) bool { return each.id == id })
	if i < 0 {
		return madeShare{}, false
	}
	return s.all[i], true
}

// update replaces a share by what it is now.
func (s *shares) update(now madeShare) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, each := range s.all {
		if each.id == now.id {
			s.all[i] = now
		}
	}
}

func (s *shares) remove(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = slices.DeleteFunc(s.all, func(each madeShare) bool { return each.id == id })
}

// parents are the folders above a node, the nearest first, without the top.
func (s *server) parents(n node) []node {
	var above []node
	for name := path.Dir(n.path); name != "/"; name = path.Dir(name) {
		if folder, err := s.disk.find(n.user, name); err == nil {
			above = append(above, folder)
		}
	}
	return above
}

// ruled are recorded capabilities of OCS with what the rules change of them.
func ruled(recorded []byte, rules LinkRules) []byte {
	var answer map[string]any
	if err := json.Unmarshal(recorded, &answer); err != nil {
		panic(err) // it is part of the program
	}
	within := answer
	for _, key := range []string{"ocs", "data", "capabilities", "files_sharing"} {
		within = within[key].(map[string]any) //nolint:errcheck // see above
	}
	public := within["public"].(map[string]any)     //nolint:errcheck // see above
	password := public["password"].(map[string]any) //nolint:errcheck // see above
	kinds, told := password["enforced_for"].(map[string]any)
	lies := told && kinds["read_only"] != password["enforced"] // OpenCloud says no to the whole, whatever it says to the parts
	for kind := range kinds {
		kinds[kind] = rules.Password
	}
	password["enforced"] = rules.Password && !lies
	if rules.Days > 0 {
		public["expire_date"] = map[string]any{"enabled": true, "days": rules.Days, "enforced": !rules.Default}
	}
	if rules.Off {
		within["public"] = map[string]any{"enabled": false}
	}
	return encoded(answer)
}

func encoded(answer map[string]any) []byte {
	raw, err := json.Marshal(answer)
	if err != nil {
		panic(err) // it was read from JSON
	}
	return raw
}
