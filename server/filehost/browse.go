package filehost

import (
	"context"
	"encoding/json"
	"strings"
	"time"
)

// The bounds of a page.
const (
	DefaultPageSize = 100
	MaxPageSize     = 1000
)

// The listings under way at once, others wait: each reads a whole folder, which for a large one costs a second of work.
const (
	listingsPerUser = 8
	listingsPerNode = 32
)

// Listing asks for one page of a folder.
type Listing struct {
	Folder     Path     // not known where FolderID is set
	FolderID   string   // the host's id of the folder, instead of its path
	View       View     // "" = FolderView
	Text       string   // to search for, below Folder; "" = no search
	Types      []string // "file", "folder" or a MIME prefix such as "image/"; empty = all
	Sort       Sort     // "" = ByName
	Descending bool
	Limit      int    // entries; 0 = DefaultPageSize, at most MaxPageSize
	Basic      bool   // of the entries only what changes with their folder: no favorites, shares and permissions
	Cursor     string // Page.NextCursor of the page before; "" = the first page
}

// Page is a part of a folder or of what was found, in the order asked for.
type Page struct {
	Folder       *Entry // nil of what was found
	Entries      []Entry
	Truncated    bool   // more was found than all pages show
	NextCursor   string // "" on the last page
	Total        *int   // entries that match Types, on all pages; nil when the host leaves it open
	Capabilities Capabilities
	State        string // what NextCursor seals, and for whom: user, connection, query. For a validator, not for a caller.
}

// Browse lists a folder as the user, or what the host finds for him. The whole folder is streamed through a heap of one page, so that memory does not
// grow with the folder. A page continues after the place in the order that the last one ended at, whatever came or went
// since: an entry that stays as it is shows exactly once on all pages together. One that is renamed, or whose sort key
// changes, may show in its old place, in its new one, in both or in neither. In HostOrder, a host that pages gives all of
// them from one listing that it keeps, as the folder was at the first page.
func (s *Service) Browse(ctx context.Context, userID string, listing Listing) (Page, error) {
	if err := listing.complete(); err != nil {
		return Page{}, err
	}
	leave, err := s.Listings.Wait(ctx, userID, listingsPerUser, listingsPerNode)
	if err != nil {
		return Page{}, err
	}
	defer leave()
	var page Page
	event := AuditEvent{Action: AuditList}
	event.name(Ref{listing.Folder, listing.FolderID})
	err = s.using(ctx, event, func(ctx context.Context) error {
		return s.asUser(ctx, userID, func(credential Credential) (err error) {
			if listing.found() {
				err = s.checkOffered(listing, s.Remote.Capabilities(ctx, credential))
			}
			if err == nil {
				page, err = s.list(ctx, userID, credential, listing)
			}
			if err == nil {
				// The host has taken the credential by now: one that it refuses is not to be refused twice.
				page.offer(s.Remote.Capabilities(ctx, credential))
			}
			if listing.Basic {
				page.makeBasic()
			}
			return err
		})
	}, nil)
	return page, err
}

func (l *Listing) complete() error {
	if l.Sort == "" {
		l.Sort = ByName
	}
	if err := l.checkView(); err != nil {
		return err
	}
	if l.Limit == 0 {
		l.Limit = DefaultPageSize
	}
	if l.Limit < 1 || l.Limit > MaxPageSize {
		return &Error{Kind: InvalidRequest, Field: "limit", Message: "limit must be from 1 to 1000.", Limit: MaxPageSize}
	}
	switch l.Sort {
	case ByName, ByModified, BySize, HostOrder:
	default:
		return Invalid("sort", "sort must be name, modified, size or host.")
	}
	for _, t := range l.Types {
		if t != string(File) && t != string(Folder) && !strings.Contains(t, "/") {
			return Invalid("type", `type must be file, folder, or a MIME type or its beginning up to the slash, such as "image/".`)
		}
	}
	return nil
}

func (l *Listing) matches(entry Entry) bool {
	if len(l.Types) == 0 {
		return true
	}
	for _, t := range l.Types {
		if t == string(entry.Kind) || strings.Contains(t, "/") && entry.Kind == File && strings.HasPrefix(entry.MIMEType, strings.ToLower(t)) {
			return true
		}
	}
	return false
}

func (s *Service) list(ctx context.Context, userID string, credential Credential, listing Listing) (Page, error) {
	resolved, err := s.resolve(ctx, credential, &listing)
	if err != nil {
		return Page{}, err
	}
	binding := listing.binding(s.Host.ID, userID, credential)
	if listing.Cursor == "" && listing.Sort == HostOrder && !listing.found() {
		return s.listAsHost(ctx, credential, &listing, binding)
	}
	var after *Entry
	if listing.Cursor != "" {
		at, err := s.openCursor(binding, listing.Cursor)
		if err == nil && at.Listing != "" {
			return s.continueAsHost(ctx, credential, &listing, binding, at)
		}
		var last Entry
		if err == nil {
			last, err = at.entry()
		}
		if err != nil {
			return Page{}, staleCursor(err)
		}
		after = &last
	}
	if listing.found() {
		return s.find(ctx, credential, listing, binding, after)
	}
	ask := paged{&listing, binding, after, resolved}
	if listing.Basic {
		return s.listBasic(ctx, credential, ask)
	}
	page, _, err := s.listKeyset(ctx, credential, ask)
	return page, err
}

// paged asks for the page of a folder after an entry's place in an order.
type paged struct {
	*Listing
	binding  string
	after    *Entry // nil = the first page
	resolved *Entry // what the host has told of the folder; nil = it was not asked by its id
}

// listKeyset reads the whole folder, and tells whether whatever changes in it shows in its ETag.
func (s *Service) listKeyset(ctx context.Context, credential Credential, ask paged) (page Page, tracked bool, err error) {
	keyset := newKeysetPage(ask.Listing, ask.after)
	folder, err := s.Remote.List(ctx, credential, ask.Folder, func(entry Entry) error {
		keyset.add(entry)
		return nil
	})
	if err != nil {
		return Page{}, false, err
	}
	page, err = s.finishKeyset(keyset, &folder, ask.binding)
	return page, keyset.untracked == 0 && folder.Tracked, err
}

// resolve finds out where a folder is that was asked for by the host's id, and returns it; nil = it was asked for by its path.
func (s *Service) resolve(ctx context.Context, credential Credential, listing *Listing) (*Entry, error) {
	if listing.FolderID == "" {
		return nil, nil //nolint:nilnil // see above
	}
	folder, err := s.Remote.StatID(ctx, credential, listing.FolderID)
	switch {
	case err != nil:
		return nil, err
	case folder.Kind != Folder:
		return nil, Invalid("id", folder.Path.String()+" is a file, not a folder.")
	}
	listing.Folder = folder.Path
	return &folder, nil
}

// keysetPage gathers the page after an entry's place in an order.
type keysetPage struct {
	listing *Listing
	order   *order
	after   *ranked // nil = the first page
	first   firstOf
	total   int // entries that match
	further int // of these, those after

	untracked int // entries, whether they match or not
}

func newKeysetPage(listing *Listing, after *Entry) *keysetPage {
	order := newOrder(listing.Sort, listing.Descending)
	page := &keysetPage{listing: listing, order: order, first: firstOf{order: order, limit: listing.Limit}}
	if after != nil {
		last := order.rank(*after).keep()
		page.after = &last
	}
	return page
}

func (k *keysetPage) add(entry Entry) {
	if !entry.Tracked {
		k.untracked++
	}
	if !k.listing.matches(entry) {
		return
	}
	k.total++
	r := k.order.rank(entry)
	if k.after == nil || k.order.compare(r, *k.after) > 0 {
		k.further++
		k.first.add(r)
	}
}

func (s *Service) finishKeyset(keyset *keysetPage, folder *Entry, binding string) (Page, error) {
	page := newPage(folder, keyset.first.sorted(), binding)
	page.Total = &keyset.total
	if keyset.further <= keyset.listing.Limit {
		return page, nil
	}
	last := page.Entries[len(page.Entries)-1]
	err := s.continueAt(&page, position{ID: last.Path.ID(), Kind: last.Kind, Size: last.Size, Modified: last.ModifiedAt})
	return page, err
}

func newPage(folder *Entry, entries []Entry, binding string) Page {
	return Page{Folder: folder, Entries: entries, State: binding}
}

// offer says what the host can do, here.
func (p *Page) offer(capabilities Capabilities) {
	p.Capabilities = capabilities
	if p.Folder != nil && (!capabilities.Spaces || !p.Folder.Path.IsRoot()) { // which holds no files
		p.Capabilities.ChangeDetection = p.Folder.ETag != "" || !p.Folder.ModifiedAt.IsZero()
	}
}

// position is what a cursor holds: the sort keys of the last entry of a page, or a place in a listing that the host keeps.
type position struct {
	ID       string    `json:"i,omitempty"`
	Kind     EntryKind `json:"k,omitempty"`
	Size     int64     `json:"s,omitempty"`
	Modified time.Time `json:"m,omitzero"`
	Listing  string    `json:"l,omitempty"`
	Offset   int       `json:"o,omitempty"`
	Total    int       `json:"t,omitempty"`
}

// entry has the sort keys of the last entry of a page.
func (p position) entry() (Entry, error) {
	path, err := ParseID("cursor", p.ID)
	return Entry{Path: path, Kind: p.Kind, Size: p.Size, ModifiedAt: p.Modified}, err
}

// binding is the associated data of the cursors of a listing: they continue no other user's, connection's or query's.
func (l *Listing) binding(hostID, userID string, credential Credential) string {
	parts := []any{"cursor", hostID, userID, credential.Connection, l.Folder.ID(), l.Types, l.Sort, l.Descending, l.View, l.Text}
	text, _ := json.Marshal(parts) // strings and booleans always marshal
	return string(text)
}

// continueAt gives the page the cursor of the one that begins there.
func (s *Service) continueAt(page *Page, at position) error {
	plain, err := json.Marshal(at)
	if err != nil {
		return err
	}
	page.NextCursor, err = s.Sealer.Seal(page.State, plain)
	page.State += string(plain)
	return err
}

func (s *Service) openCursor(binding, cursor string) (at position, err error) {
	plain, err := s.Sealer.Open(binding, cursor)
	if err == nil {
		err = json.Unmarshal(plain, &at)
	}
	return at, err
}

// staleCursor is the error for a cursor that continues nothing, or nothing any more.
func staleCursor(cause error) error {
	stale := Invalid("cursor", "cursor is not one that was given to you for this listing, or is too old; start again without it.")
	stale.Err = cause
	return stale
}
