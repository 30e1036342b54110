package tokens

import (
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// rejectionTime is how long a host that is starting may reject what is good: OpenCloud takes about five seconds.
	rejectionTime = time.Minute
	// rejectionMemory is how long a rejection is remembered. A later one may be of another start.
	rejectionMemory = 10 * time.Minute
)

// rejections are those of credentials by a host that answers 401, too, when it can't ask who they belong to. Its zero value
// has none. It is safe for concurrent use.
type rejections struct {
	mu    sync.Mutex
	first map[string]time.Time // by credential
}

// stands takes a rejection down, and tells whether there was one of the same credential before, long enough ago.
func (r *rejections) stands(credential string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	for each, at := range r.first {
		if now.Sub(at) > rejectionMemory {
			delete(r.first, each)
		}
	}
	first, before := r.first[credential]
	switch {
	case !before && r.first == nil:
		r.first = map[string]time.Time{credential: now}
	case !before:
		r.first[credential] = now
	case now.Sub(first) >= rejectionTime:
		return true
	}
	return false
}

// forget is for a credential that the host has accepted.
func (r *rejections) forget(credential string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.first, credential)
}

// believed tells whether the host's rejection of a credential is a judgement on it. At OpenCloud and ownCloud Infinite Scale the
// first one may only mean that a service behind the proxy is not up; they count no failed sign-ins that sending it again could
// add to.
func (s *Store) believed(credential string) bool {
	return s.config.Host.Kind != "opencloud" || s.rejections.stands(credential, s.config.Clock.Now())
}

// notBelieved is the error for who has met a rejection that is not believed yet.
func (s *Store) notBelieved() error {
	return &filehost.Error{Kind: filehost.HostUnavailable, RetryAfter: rejectionTime,
		Message: s.config.Host.Name + " does not accept your sign-in at the moment; it may be starting. Try again in a minute."}
}
