package remote

import (
	"sync"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// keepSpaces is how long a user's spaces are taken to be those that the host has told.
const keepSpaces = time.Minute

// maxKeptSpaces is how many spaces and shares are kept, of all users together.
const maxKeptSpaces = 50_000

// spaceCache keeps what spaces users have, each for himself. It may be lost. The zero value is empty. It is safe for
// concurrent use.
type spaceCache struct {
	mu   sync.Mutex
	kept map[holder]keptSpaces
	size int // spaces and shares
}

// holder is whose spaces they are: a user by one connection of his, as one account.
type holder struct{ userID, connection, account, username string }

type keptSpaces struct {
	spaces *spaces
	until  time.Time
}

func (k keptSpaces) size() int { return 1 + len(k.spaces.list) + len(k.spaces.incoming) }

// holderOf returns whose a credential is; false = it can't be told from another's, as while somebody connects.
func holderOf(credential filehost.Credential) (holder, bool) {
	return holder{credential.UserID, credential.Connection, credential.Account, credential.Username},
		credential.UserID != "" && credential.Connection != ""
}

// of returns the spaces of who a credential is for; nil = they are not known.
func (c *spaceCache) of(credential filehost.Credential, now time.Time) *spaces {
	key, ok := holderOf(credential)
	if !ok {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	kept, ok := c.kept[key]
	if !ok || !now.Before(kept.until) {
		return nil
	}
	return kept.spaces
}

// keep keeps what the host has told when it was asked.
func (c *spaceCache) keep(credential filehost.Credential, told *spaces, asked time.Time) {
	key, ok := holderOf(credential)
	if !ok {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.kept == nil {
		c.kept = map[holder]keptSpaces{}
	}
	c.forget(key)
	for other, kept := range c.kept {
		if !asked.Before(kept.until) {
			c.forget(other)
		}
	}
	next := keptSpaces{told, asked.Add(keepSpaces)}
	for other := range c.kept {
		if c.size+next.size() <= maxKeptSpaces {
			break
		}
		c.forget(other)
	}
	c.kept[key] = next
	c.size += next.size()
}

func (c *spaceCache) forget(key holder) {
	if kept, ok := c.kept[key]; ok {
		c.size -= kept.size()
		delete(c.kept, key)
	}
}
