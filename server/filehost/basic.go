package filehost

import (
	"container/list"
	"context"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The bounds of the pages that are kept in memory, and how long one is.
const (
	keptBytesPerUser = 1 << 20
	keptBytesPerNode = 32 << 20
	keptPagesPerNode = 4096
	keptFor          = 10 * time.Minute
)

// basic leaves of an entry what changes with the folder that it is in. Favorites, shares and permissions change by
// themselves.
func (e Entry) basic() Entry {
	e.Favorite, e.Shared, e.Permissions = nil, nil, nil
	return e
}

func (p *Page) makeBasic() {
	for i := range p.Entries {
		p.Entries[i] = p.Entries[i].basic()
	}
	if p.Folder != nil {
		folder := p.Folder.basic()
		p.Folder = &folder
	}
}

// listBasic is a page of a folder without what is not kept. One that was made before is given again when the host has told,
// for this user and just now, that the folder is the same.
func (s *Service) listBasic(ctx context.Context, credential Credential, ask paged) (Page, error) {
	key := ask.binding + "\n" + strconv.Itoa(ask.Limit) + "\n" + ask.Cursor
	if kept, ok := s.pages.get(key, s.Clock.Now()); ok {
		now, err := s.folderNow(ctx, credential, ask)
		switch {
		case err != nil:
			return Page{}, err
		case now.Tracked && now.ETag == kept.Folder.ETag:
			kept.Folder = &now
			return kept, nil
		}
		s.pages.remove(key)
	}
	page, tracked, err := s.listKeyset(ctx, credential, ask)
	if err == nil && tracked && IsStrongETag(page.Folder.ETag) {
		s.pages.put(credential.UserID, key, page, s.Clock.Now())
	}
	return page, err
}

// folderNow is what the host has told of the folder a moment ago, or tells now.
func (s *Service) folderNow(ctx context.Context, credential Credential, ask paged) (Entry, error) {
	if ask.resolved != nil {
		return *ask.resolved, nil
	}
	return s.Remote.Stat(ctx, credential, ask.Folder)
}

// pages are those that a node keeps. They may be lost. The zero value is ready, and safe for concurrent use.
type pages struct {
	mu     sync.Mutex
	order  list.List // of *keptPage, the one that was used last first
	byKey  map[string]*list.Element
	byUser map[string]int64 // bytes
	bytes  int64
}

type keptPage struct {
	userID, key string
	page        Page
	made        time.Time
	bytes       int64
}

// get returns a page, if it isn't too old.
func (p *pages) get(key string, now time.Time) (Page, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at, ok := p.byKey[key]
	if !ok {
		return Page{}, false
	}
	kept := keptAt(at)
	if now.Sub(kept.made) >= keptFor {
		p.drop(at)
		return Page{}, false
	}
	p.order.MoveToFront(at)
	page := kept.page
	page.Entries = slices.Clone(page.Entries)
	return page, true
}

// put keeps a page in the place of those that were not used for longest: of the user's own first, so that nobody drives out
// the others'. One that is larger than a user's share is not kept.
func (p *pages) put(userID, key string, page Page, now time.Time) {
	folder := page.Folder.compact() // as the entries are
	page.Folder, page.Entries = &folder, slices.Clone(page.Entries)
	page.makeBasic()
	kept := &keptPage{userID, key, page, now, page.weight() + int64(len(key))}
	if kept.bytes > keptBytesPerUser {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.byKey[key]; ok {
		p.drop(at)
	}
	p.dropIf(func(each *keptPage) bool { return now.Sub(each.made) >= keptFor })
	p.dropIf(func(each *keptPage) bool {
		return each.userID == userID && p.byUser[userID]+kept.bytes > keptBytesPerUser
	})
	p.dropIf(func(*keptPage) bool {
		return p.bytes+kept.bytes > keptBytesPerNode || p.order.Len() >= keptPagesPerNode
	})
	if p.byKey == nil {
		p.byKey, p.byUser = map[string]*list.Element{}, map[string]int64{}
	}
	p.byKey[key] = p.order.PushFront(kept)
	p.byUser[userID] += kept.bytes
	p.bytes += kept.bytes
}

// remove forgets a page.
func (p *pages) remove(key string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.byKey[key]; ok {
		p.drop(at)
	}
}

// forget forgets all pages of a user.
func (p *pages) forget(userID string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.dropIf(func(each *keptPage) bool { return each.userID == userID })
}

// dropIf drops the pages that are to go, the one that was used last as the last. The caller holds the lock.
func (p *pages) dropIf(goes func(*keptPage) bool) {
	for at := p.order.Back(); at != nil; {
		before := at.Prev()
		if goes(keptAt(at)) {
			p.drop(at)
		}
		at = before
	}
}

func (p *pages) drop(at *list.Element) {
	kept := keptAt(at)
	p.order.Remove(at)
	delete(p.byKey, kept.key)
	p.bytes -= kept.bytes
	if p.byUser[kept.userID] -= kept.bytes; p.byUser[kept.userID] == 0 {
		delete(p.byUser, kept.userID)
	}
}

func keptAt(at *list.Element) *keptPage {
	kept, _ := at.Value.(*keptPage) // nothing else is in the list
	return kept
}

// The memory that a page and an entry take beside their texts, in bytes; rather more than less.
const (
	pageBytes  = 512
	entryBytes = 256
)

// weight is about what a page takes in memory, in bytes.
func (p *Page) weight() int64 {
	total := pageBytes + int64(len(p.NextCursor)+len(p.State)) + p.Folder.weight()
	for i := range p.Entries {
		total += p.Entries[i].weight()
	}
	return total
}

func (e *Entry) weight() int64 {
	return entryBytes + int64(e.Path.Len()+len(e.HostID)+len(e.MIMEType)+len(e.ETag)+len(e.WebURL))
}
