package filehost

import "context"

// Part asks for a part of a folder in the host's own order. The host counts rows: the folder itself is the first, then come
// its entries.
type Part struct {
	Listing string // the listing that it belongs to, as Parts named it; "" = begin one
	Offset  int    // rows before it; 0 begins a listing
	Rows    int    // at most
	Total   int    // as Parts told; 0 begins a listing
}

// Parts says, before the first entry, how the host serves a listing.
type Parts struct {
	Paged   bool   // false: the host knows no parts; the answer is the whole folder
	Listing string // what the host calls the listing that it keeps; "" = the part is the whole of it
	Total   int    // rows of that listing
}

// Begin is told, before the first entry, how the host serves a listing. What it returns takes the entries, each with the
// number of the row after it.
type Begin func(Parts) (each func(entry Entry, next int) error, err error)

// partsPage gathers a page in the host's own order.
type partsPage struct {
	listing *Listing
	parts   Parts
	entries []Entry
	read    int  // rows that are behind
	resume  int  // the row that the next page begins with
	more    bool // there is a next page
}

// add takes an entry, and the number of the row after it.
func (h *partsPage) add(entry Entry, next int) error {
	switch {
	case h.more || !h.listing.matches(entry):
	case len(h.entries) < h.listing.Limit:
		h.entries = append(h.entries, entry.compact())
	default:
		h.more, h.resume = true, next-1
	}
	return nil
}

// part is the one to ask for next; false = the page is complete. Where types are asked for, that it is full is not enough:
// whether there is another page shows in the next entry that matches.
func (h *partsPage) part() (Part, bool) {
	part := Part{Listing: h.parts.Listing, Offset: h.read, Total: h.parts.Total, Rows: h.listing.Limit - len(h.entries)}
	if len(h.listing.Types) > 0 {
		part.Rows = MaxPageSize
	}
	return part, h.parts.Listing != "" && h.read < h.parts.Total && !h.more && part.Rows > 0
}

// whole serves the folder from a host that knows no parts: by name.
func whole(page *keysetPage) func(Entry, int) error {
	return func(entry Entry, _ int) error {
		page.add(entry)
		return nil
	}
}

// listAsHost makes the first page in the host's own order, or by name where the host knows no parts.
func (s *Service) listAsHost(ctx context.Context, credential Credential, listing *Listing, binding string) (Page, error) {
	byName, host := newKeysetPage(listing, nil), &partsPage{listing: listing}
	// The first part is one page, so that a listing which is no longer than that ends on it: the host need not keep it.
	folder, err := s.Remote.ListPart(ctx, credential, listing.Folder, Part{Rows: listing.Limit + 1}, func(parts Parts) (func(Entry, int) error, error) {
		switch host.parts = parts; {
		case !parts.Paged:
			return whole(byName), nil
		case listing.Descending:
			return nil, Invalid("order", "order must be asc with sort=host: "+s.Host.Name+" gives its own order in one direction only.")
		}
		return host.add, nil
	})
	switch {
	case err != nil:
		return Page{}, err
	case !host.parts.Paged:
		return s.finishKeyset(byName, &folder, binding)
	}
	host.read = listing.Limit + 1
	err = s.fill(ctx, credential, host)
	if KindOf(err) == Changed {
		err = E(HostUnavailable, s.Host.Name+" did not keep its listing of the folder for long enough; try again.", err)
	}
	if err != nil {
		return Page{}, err
	}
	return s.finishParts(host, folder, binding)
}

// continueAsHost makes a page that goes on in a listing which the host keeps. The folder itself is looked at anew: the
// listing is as old as its first page, and what it shows may have been taken from the user since.
func (s *Service) continueAsHost(ctx context.Context, credential Credential, listing *Listing, binding string, at position) (Page, error) {
	folder, err := s.Remote.Stat(ctx, credential, listing.Folder)
	if err != nil {
		return Page{}, err
	}
	host := &partsPage{listing: listing, parts: Parts{Paged: true, Listing: at.Listing, Total: at.Total}, read: at.Offset}
	err = s.fill(ctx, credential, host)
	if KindOf(err) == Changed {
		err = staleCursor(err)
	}
	if err != nil {
		return Page{}, err
	}
	return s.finishParts(host, folder, binding)
}

// fill asks for parts until the page is complete.
func (s *Service) fill(ctx context.Context, credential Credential, host *partsPage) error {
	for part, ok := host.part(); ok; part, ok = host.part() {
		_, err := s.Remote.ListPart(ctx, credential, host.listing.Folder, part, func(Parts) (func(Entry, int) error, error) { return host.add, nil })
		if err != nil {
			return err
		}
		host.read += part.Rows
	}
	if !host.more && host.parts.Listing != "" && host.read < host.parts.Total {
		host.more, host.resume = true, host.read
	}
	return nil
}

func (s *Service) finishParts(host *partsPage, folder Entry, binding string) (Page, error) {
	page := newPage(&folder, host.entries, binding)
	if len(host.listing.Types) == 0 {
		total := len(host.entries)
		if host.parts.Listing != "" {
			total = host.parts.Total - 1 // the folder itself
		}
		page.Total = &total
	}
	if !host.more {
		return page, nil
	}
	err := s.continueAt(&page, position{Listing: host.parts.Listing, Offset: host.resume, Total: host.parts.Total})
	return page, err
}
