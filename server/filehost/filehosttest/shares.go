package filehosttest

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// Shares are the shares of a host in memory. As real hosts do, it makes an equal link without a password only once, and
// tells nobody but its maker of a share.
type Shares struct {
	mu       sync.Mutex
	made     []madeShare
	ids      int
	policy   filehost.Policy
	told     bool // LinkPolicy tells the policy
	access   map[filehost.Path]filehost.Access
	fail     func(call string) error
	password map[string]string
	url      string
}

type madeShare struct {
	filehost.HostShare
	account string
	path    filehost.Path
}

// NewShares returns a host without shares.
func NewShares() *Shares {
	return &Shares{access: map[filehost.Path]filehost.Access{}, password: map[string]string{}, told: true, url: "https://cloud.example.com/s/"}
}

// Demand sets the policy; told = LinkPolicy tells it.
func (s *Shares) Demand(policy filehost.Policy, told bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy, s.told = policy, told
}

// At sets what the addresses of links begin with.
func (s *Shares) At(url string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.url = url
}

// Open says who may open an entry.
func (s *Shares) Open(path string, access filehost.Access) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.access[MustPath(path)] = access
}

// Fail makes each later call fail for whose name decide returns an error: create, access, invite, read, change, remove,
// policy.
func (s *Shares) Fail(decide func(call string) error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.fail = decide
}

// Made returns the shares that there are.
func (s *Shares) Made() []filehost.HostShare {
	s.mu.Lock()
	defer s.mu.Unlock()
	var made []filehost.HostShare
	for _, share := range s.made {
		made = append(made, share.HostShare)
	}
	return made
}

// PasswordOf returns the password of a link; "" = none.
func (s *Shares) PasswordOf(shareID string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.password[shareID]
}

func (s *Shares) failure(call string) error {
	if s.fail == nil {
		return nil
	}
	return s.fail(call)
}

// CreateLink implements filehost.Shares.
func (s *Shares) CreateLink(_ context.Context, credential filehost.Credential, entry filehost.Entry, wish filehost.LinkWish) (filehost.HostShare, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failure("create"); err != nil {
		return filehost.HostShare{}, false, err
	}
	if s.policy.PasswordRequired && wish.Password.IsEmpty() {
		return filehost.HostShare{}, false, filehost.Invalid("password", "The host demands a password.")
	}
	for _, share := range s.made {
		if share.account == credential.Account && share.path == entry.Path && share.With == filehost.WithAnyone && !share.Password && wish.Password.IsEmpty() &&
			share.Permission == wish.Permission && share.ExpiresAt.Equal(wish.ExpiresAt) {
			return share.HostShare, true, nil
		}
	}
	share := filehost.HostShare{ID: s.id(), With: filehost.WithAnyone, Permission: wish.Permission, Password: !wish.Password.IsEmpty(), ExpiresAt: wish.ExpiresAt, Label: wish.Label}
	share.URL = s.url + share.ID
	s.password[share.ID] = wish.Password.Reveal()
	s.made = append(s.made, madeShare{share, credential.Account, entry.Path})
	return share, false, nil
}

func (s *Shares) id() string {
	s.ids++
	return "share" + strconv.Itoa(s.ids)
}

// Access implements filehost.Shares.
func (s *Shares) Access(_ context.Context, _ filehost.Credential, entry filehost.Entry) (filehost.Access, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.access[entry.Path], s.failure("access")
}

// Invite implements filehost.Shares.
func (s *Shares) Invite(_ context.Context, credential filehost.Credential, entry filehost.Entry, account string, permission filehost.SharePermission) (filehost.HostShare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failure("invite"); err != nil {
		return filehost.HostShare{}, err
	}
	share := filehost.HostShare{ID: s.id(), With: filehost.WithUser, Account: account, Permission: permission}
	s.made = append(s.made, madeShare{share, credential.Account, entry.Path})
	return share, nil
}

func (s *Shares) find(credential filehost.Credential, shareID string) (int, error) {
	at := slices.IndexFunc(s.made, func(share madeShare) bool { return share.ID == shareID && share.account == credential.Account })
	if at < 0 {
		return 0, filehost.E(filehost.NotFound, "There is no such share.", nil)
	}
	return at, nil
}

// ShareOf implements filehost.Shares.
func (s *Shares) ShareOf(_ context.Context, credential filehost.Credential, _ filehost.Entry, shareID string) (filehost.HostShare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := s.find(credential, shareID)
	if err = firstError(s.failure("read"), err); err != nil {
		return filehost.HostShare{}, err
	}
	return s.made[at].HostShare, nil
}

// ChangeShare implements filehost.Shares.
func (s *Shares) ChangeShare(_ context.Context, credential filehost.Credential, _ filehost.Entry, shareID string, change filehost.ShareChange) (filehost.HostShare, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at, err := s.find(credential, shareID)
	if err = firstError(s.failure("change"), err); err != nil {
		return filehost.HostShare{}, err
	}
	share := &s.made[at]
	if change.Permission != nil {
		share.Permission = *change.Permission
	}
	if change.Password != nil {
		share.Password = !change.Password.IsEmpty()
		s.password[shareID] = change.Password.Reveal()
	}
	if change.ExpiresAt != nil {
		if s.policy.ExpiryRequired && change.ExpiresAt.IsZero() {
			return filehost.HostShare{}, filehost.Invalid("expires_at", "The host demands an end.")
		}
		share.ExpiresAt = *change.ExpiresAt
	}
	return share.HostShare, nil
}

// RemoveShare implements filehost.Shares.
func (s *Shares) RemoveShare(_ context.Context, credential filehost.Credential, _ filehost.Entry, shareID string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.failure("remove"); err != nil {
		return fmt.Errorf("remove: %w", err)
	}
	if at, err := s.find(credential, shareID); err == nil {
		s.made = slices.Delete(s.made, at, at+1)
	}
	return nil
}

// LinkPolicy implements filehost.Shares.
func (s *Shares) LinkPolicy(context.Context, filehost.Credential) (filehost.Policy, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.told {
		return filehost.Policy{}, s.failure("policy")
	}
	return s.policy, s.failure("policy")
}
