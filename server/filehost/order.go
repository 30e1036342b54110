package filehost

import (
	"bytes"
	"cmp"
	"container/heap"
	"slices"
)

// Sort is what a listing is ordered by. Folders come first.
type Sort string

// The orders.
const (
	ByName     Sort = "name"     // natural order: 9 before 10, case ignored
	ByModified Sort = "modified" // then by name
	BySize     Sort = "size"     // then by name
	HostOrder  Sort = "host"     // the host's own order, folders anywhere; by name where the host knows no pages
)

// ranked is an entry with its place in an order.
type ranked struct {
	entry Entry
	key   []byte // collation key of the name
}

// order compares entries. It is not safe for concurrent use.
type order struct {
	by         Sort
	descending bool
	collation  *collation
}

func newOrder(by Sort, descending bool) *order {
	return &order{by: by, descending: descending, collation: newCollation()}
}

// rank gives an entry its place. It is valid until the next call, unless it is kept.
func (o *order) rank(entry Entry) ranked {
	return ranked{entry, o.collation.key(entry.Path.DisplayName())}
}

// keep makes a place valid for good.
func (r ranked) keep() ranked { return ranked{r.entry.compact(), bytes.Clone(r.key)} }

// compare is a total order: two entries of one folder are equal only if they have the same name.
func (o *order) compare(a, b ranked) int {
	if a.entry.Kind != b.entry.Kind {
		if a.entry.Kind == Folder {
			return -1
		}
		return 1
	}
	byValue := 0
	switch o.by {
	case ByModified:
		byValue = a.entry.ModifiedAt.Compare(b.entry.ModifiedAt)
	case BySize:
		byValue = cmp.Compare(a.entry.Size, b.entry.Size)
	case ByName, HostOrder:
	}
	result := cmp.Or(byValue, bytes.Compare(a.key, b.key), cmp.Compare(a.entry.Path.segments, b.entry.Path.segments))
	if o.descending {
		return -result
	}
	return result
}

// firstOf keeps the first entries of an order, at most limit of them, whatever is added. It is a heap with the last of
// them on top, so that most entries of a large folder are compared once and forgotten.
type firstOf struct {
	order *order
	limit int
	kept  []ranked
}

func (f *firstOf) Len() int           { return len(f.kept) }
func (f *firstOf) Less(i, j int) bool { return f.order.compare(f.kept[i], f.kept[j]) > 0 }
func (f *firstOf) Swap(i, j int)      { f.kept[i], f.kept[j] = f.kept[j], f.kept[i] }
func (f *firstOf) Push(x any)         { f.kept = append(f.kept, x.(ranked)) }
func (f *firstOf) Pop() any {
	last := f.kept[len(f.kept)-1]
	f.kept = f.kept[:len(f.kept)-1]
	return last
}

func (f *firstOf) add(r ranked) {
	switch {
	case len(f.kept) < f.limit:
		heap.Push(f, r.keep())
	case f.order.compare(r, f.kept[0]) < 0:
		f.kept[0] = r.keep()
		heap.Fix(f, 0)
	}
}

// sorted returns the kept entries in order.
func (f *firstOf) sorted() []Entry {
	slices.SortFunc(f.kept, f.order.compare)
	entries := make([]Entry, len(f.kept))
	for i, r := range f.kept {
		entries[i] = r.entry
	}
	return entries
}
