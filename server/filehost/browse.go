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
	Folder     Path
	Types      []string // "file", "folder" or a MIME prefix such as "image/"; empty = all
	Sort       Sort     // "" = ByName
	Descending bool
	Limit      int    // entries; 0 = DefaultPageSize, at most MaxPageSize
	Cursor     string // Page.NextCursor of the page before; "" = the first page
}

// Page is a part of a folder, in the order asked for.
type Page struct {
	Folder       Entry
	Entries      []Entry
	NextCursor   string // "" on the last page
	Total        int    // entries of the folder that match Types, on all pages
	Capabilities Capabilities
	State        string // what NextCursor seals, and for whom: user, connection, query. For a validator, not for a caller.
}

// Browse lists a folder as the user. The whole folder is streamed through a heap of one page, so that memory does not
// grow with the folder. A page continues after the entry that the last one ended with, whatever came or went since.
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
	err = s.asUser(ctx, userID, func(credential Credential) (err error) {
		page, err = s.list(ctx, userID, credential, listing)
		return err
	})
	return page, err
}

func (l *Listing) complete() error {
	if l.Sort == "" {
		l.Sort = ByName
	}
	if l.Limit == 0 {
		l.Limit = DefaultPageSize
	}
	if l.Limit < 1 || l.Limit > MaxPageSize {
		return &Error{Kind: InvalidRequest, Field: "limit", Message: "limit must be from 1 to 1000.", Limit: MaxPageSize}
	}
	switch l.Sort {
	case ByName, ByModified, BySize:
	default:
		return Invalid("sort", "sort must be name, modified or size.")
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
	order := newOrder(listing.Sort, listing.Descending)
	binding := listing.binding(s.Host.ID, userID, credential)
	var after *ranked
	if listing.Cursor != "" {
		position, err := s.openCursor(binding, listing.Cursor)
		if err != nil {
			return Page{}, err
		}
		last := order.rank(position)
		after = &last
	}
	first := &firstOf{order: order, limit: listing.Limit}
	total, further := 0, 0
	folder, err := s.Remote.List(ctx, credential, listing.Folder, func(entry Entry) error {
		if !listing.matches(entry) {
			return nil
		}
		total++
		r := order.rank(entry)
		if after == nil || order.compare(r, *after) > 0 {
			further++
			first.add(r)
		}
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	page := Page{Folder: folder, Entries: first.sorted(), Total: total, Capabilities: s.Remote.Capabilities(), State: binding}
	page.Capabilities.ChangeDetection = folder.ETag != "" || !folder.ModifiedAt.IsZero()
	if further > listing.Limit {
		err = s.continueAfter(&page, page.Entries[len(page.Entries)-1])
	}
	return page, err
}

// position is what a cursor holds: the sort keys of the last entry of a page.
type position struct {
	ID       string    `json:"i"`
	Kind     EntryKind `json:"k"`
	Size     int64     `json:"s,omitempty"`
	Modified time.Time `json:"m,omitzero"`
}

// binding is the associated data of the cursors of a listing: they continue no other user's, connection's or query's.
func (l *Listing) binding(hostID, userID string, credential Credential) string {
	parts := []any{"cursor", hostID, userID, credential.Connection, l.Folder.ID(), l.Types, l.Sort, l.Descending}
	text, _ := json.Marshal(parts) // strings and booleans always marshal
	return string(text)
}

// continueAfter gives the page the cursor of the one that begins after last.
func (s *Service) continueAfter(page *Page, last Entry) error {
	plain, err := json.Marshal(position{ID: last.Path.ID(), Kind: last.Kind, Size: last.Size, Modified: last.ModifiedAt})
	if err != nil {
		return err
	}
	page.NextCursor, err = s.Sealer.Seal(page.State, plain)
	page.State += string(plain)
	return err
}

func (s *Service) openCursor(binding, cursor string) (Entry, error) {
	var last position
	plain, err := s.Sealer.Open(binding, cursor)
	if err == nil {
		err = json.Unmarshal(plain, &last)
	}
	path, idErr := ParseID("cursor", last.ID)
	if err != nil || idErr != nil {
		return Entry{}, Invalid("cursor", "cursor is not one that was given to you for this listing; start again without it.")
	}
	return Entry{Path: path, Kind: last.Kind, Size: last.Size, ModifiedAt: last.Modified}, nil
}
