package filehost

import (
	"context"
	"strings"
	"unicode"
	"unicode/utf8"
)

// View is a choice of entries.
type View string

// The views.
const (
	FolderView View = "folder"    // what is in one folder; with a Text, what is anywhere below it
	Recent     View = "recent"    // files, the newest first
	Favorites  View = "favorites" // what the user has marked
	SharedView View = "shared"    // what others share with the user
)

// MaxTextBytes is the longest text that is looked for.
const MaxTextBytes = 255

// MaxFound is how many entries a search or a view has at most. The host makes it anew for each page.
const MaxFound = 500

// Query asks for entries that may be anywhere below a folder.
type Query struct {
	View   View   // FolderView = by Text
	Text   string // a part of the name, case ignored; the host may look into files as well
	Folder Path
	Types  []string // as of Listing: a host that can tell leaves out what is of none
	Most   int      // entries
}

// checkView refuses what is no view, and a search in a view other than a folder's.
func (l *Listing) checkView() error {
	switch l.View {
	case "":
		l.View = FolderView
	case FolderView, Recent, Favorites, SharedView:
	default:
		return Invalid("view", "view must be folder, recent, favorites or shared.")
	}
	switch {
	case l.Text == "":
		return nil
	case l.View != FolderView:
		return Invalid("q", "q searches below a folder: leave view out.")
	case len(l.Text) > MaxTextBytes:
		return &Error{Kind: InvalidRequest, Field: "q", Limit: MaxTextBytes, Message: "q is longer than 255 bytes."}
	case !utf8.ValidString(l.Text) || strings.ContainsFunc(l.Text, func(r rune) bool { return unicode.IsControl(r) || r == 0xFFFE || r == 0xFFFF }):
		return Invalid("q", "q must be text without control characters.")
	}
	return nil
}

// found tells whether the entries come of a query, not of one folder.
func (l *Listing) found() bool { return l.View != FolderView || l.Text != "" }

// checkOffered refuses a search or view that the host doesn't have.
func (s *Service) checkOffered(listing Listing, offered Capabilities) error {
	field, ok := "view", true
	switch {
	case listing.Text != "":
		field, ok = "q", offered.Search
	case listing.View == Recent:
		ok = offered.Recent
	case listing.View == Favorites:
		ok = offered.Favorites
	case listing.View == SharedView:
		ok = offered.Shared
	}
	switch {
	case ok:
		return nil
	case field == "q":
		return &Error{Kind: Unsupported, Field: field, Message: s.Host.Name + " can't search."}
	}
	return &Error{Kind: Unsupported, Field: field, Message: s.Host.Name + " has no such view."}
}

// find makes a page of what the host finds, after an entry's place in the order.
func (s *Service) find(ctx context.Context, credential Credential, listing Listing, binding string, after *Entry) (Page, error) {
	keyset := newKeysetPage(&listing, after)
	query := Query{View: listing.View, Text: listing.Text, Folder: listing.Folder, Types: listing.Types, Most: MaxFound}
	truncated, err := s.Remote.Find(ctx, credential, query, func(entry Entry) error {
		keyset.add(entry)
		return nil
	})
	if err != nil {
		return Page{}, err
	}
	page, err := s.finishKeyset(keyset, nil, binding)
	if page.Truncated = truncated; truncated {
		page.Total = nil
	}
	return page, err
}
