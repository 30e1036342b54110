package embedded

import (
	"slices"
	"time"
)

// SetTokenLife says how long access tokens issued from now on last.
func (h *Host) SetTokenLife(life time.Duration) {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	h.storage.life = life
}

// ExpireAccessTokens ends the access tokens of a user; his refresh tokens stay good.
func (h *Host) ExpireAccessTokens(user string) {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	for id, token := range h.storage.access {
		if token.subject == user {
			delete(h.storage.access, id)
		}
	}
	for token, of := range h.storage.foreign {
		if of == user {
			h.storage.ended[token] = true
		}
	}
}

// RevokeGrants ends everything that a user has allowed, as an administrator of the host would.
func (h *Host) RevokeGrants(user string) {
	h.ExpireAccessTokens(user)
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	for token, g := range h.storage.refresh {
		if g.subject == user {
			delete(h.storage.refresh, token)
		}
	}
}

// Grants tells how many live refresh tokens a user has out.
func (h *Host) Grants(user string) int {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	count := 0
	for _, g := range h.storage.refresh {
		if g.subject == user {
			count++
		}
	}
	return count
}

// Secrets gives everything secret that the host has handed out or been shown: codes, refresh
// tokens, the client's secret, users' passwords, and the access tokens that were used.
func (h *Host) Secrets() []string {
	h.storage.mu.Lock()
	defer h.storage.mu.Unlock()
	secrets := append(slices.Clone(h.storage.issued), h.storage.client.secret)
	for _, user := range h.users {
		secrets = append(secrets, user.Password)
	}
	return secrets
}

// knows remembers whose access token of another server this is, and tells whether ExpireAccessTokens has ended it.
func (s *storage) knows(user, token string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.foreign[token] = user
	return !s.ended[token]
}

// see remembers an access token that was used.
func (s *storage) see(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.issued, token) {
		s.issued = append(s.issued, token)
	}
}
