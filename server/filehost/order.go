package filehost

import (
	"bytes"
	"cmp"
	"container/heap"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/text/collate"
	"golang.org/x/text/language"
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

// order compares entries. It is not safe for concurrent use: the collator isn't.
type order struct {
	by         Sort
	descending bool
	collator   *collate.Collator
	buffer     collate.Buffer
}

func newOrder(by Sort, descending bool) *order {
	return &order{by: by, descending: descending, collator: collate.New(language.Und, collate.IgnoreCase)}
}

func (o *order) rank(entry Entry) ranked {
	o.buffer.Reset()
	return ranked{entry, bytes.Clone(o.collator.KeyFromString(&o.buffer, naturalText(entry.Path.DisplayName())))}
}

var digits = regexp.MustCompile(`[0-9]+`)

// naturalText is a text that collates as name does in natural order: before the digits of each number stands how many
// they are, without leading zeros. The collator's own Numeric option puts "0 x" after "9999 x".
func naturalText(name string) string {
	return digits.ReplaceAllStringFunc(name, func(number string) string {
		number = strings.TrimLeft(number, "0")
		return fmt.Sprintf("%04d%s", len(number), number)
	})
}

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
// them on top.
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
		heap.Push(f, r)
	case f.order.compare(r, f.kept[0]) < 0:
		f.kept[0] = r
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
