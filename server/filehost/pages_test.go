package filehost_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// changingFolder is a folder in which others work while it is listed.
type changingFolder struct {
	*world
	random  *rand.Rand
	made    int
	paths   []string        // those that are there
	touched map[string]bool // added, removed, renamed or changed since the listing began
}

func newChangingFolder(seed uint64) *changingFolder {
	//nolint:gosec // a seed's folder is always the same
	f := &changingFolder{world: newWorld(), random: rand.New(rand.NewPCG(seed, 1)), touched: map[string]bool{}}
	for range f.random.IntN(60) {
		f.add()
	}
	clear(f.touched)
	return f
}

// add puts an entry into the folder. Its size and time are those of others as well, and so is the place of its name.
func (f *changingFolder) add() {
	stems := []string{"a", "Ä", "file ", "文", "A", "file 0", "ä", "z-", "a\u0308", "."}
	path := fmt.Sprintf("/%s%d", stems[f.made%len(stems)], f.made/len(stems))
	f.made++
	if f.random.IntN(5) == 0 {
		f.remote.AddFolder(path)
	} else {
		f.remote.AddFile(path, make([]byte, f.random.IntN(4)), noon.Add(time.Duration(f.random.IntN(4))*time.Nanosecond))
	}
	f.paths = append(f.paths, path)
	f.touched[path] = true
}

func (f *changingFolder) remove(path string) {
	f.remote.Remove(path)
	f.paths = slices.DeleteFunc(f.paths, func(each string) bool { return each == path })
	f.touched[path] = true
}

// disturb does what others may do to an entry.
func (f *changingFolder) disturb(path string) {
	switch f.random.IntN(3) {
	case 0:
		f.remove(path)
	case 1: // renamed
		f.remove(path)
		f.add()
	case 2:
		f.touched[path] = true
		f.remote.Change(path, func(e *filehost.Entry) {
			e.Size, e.ModifiedAt = f.random.Int64N(4), noon.Add(time.Duration(f.random.IntN(4)))
		})
	}
}

// work changes the folder, and above all the entry that the next page goes on after.
func (f *changingFolder) work(last string) {
	if f.random.IntN(2) == 0 && slices.Contains(f.paths, last) {
		f.disturb(last)
	}
	for range f.random.IntN(4) {
		f.add()
		if i := f.random.IntN(len(f.paths)); f.random.IntN(2) == 0 {
			f.disturb(f.paths[i])
		}
	}
}

// walk lists the folder to its end, while it changes.
func (f *changingFolder) walk(t *testing.T, listing filehost.Listing) []string {
	t.Helper()
	shown := []string{}
	for {
		listing.Limit = 1 + f.random.IntN(9)
		page, err := f.Browse(t.Context(), alice, listing)
		require.NoError(t, err)
		shown = append(shown, allPaths(page.Entries)...)
		if listing.Cursor = page.NextCursor; listing.Cursor == "" {
			return shown
		}
		f.work(shown[len(shown)-1])
	}
}

func allPaths(entries []filehost.Entry) []string {
	paths := []string{}
	for _, entry := range entries {
		paths = append(paths, entry.Path.String())
	}
	return paths
}

// TestWhatStaysAsItIsShowsExactlyOnceWhateverElseHappens walks through folders in which others add, remove, rename and
// change entries between the pages.
func TestWhatStaysAsItIsShowsExactlyOnceWhateverElseHappens(t *testing.T) {
	for seed := range uint64(100) {
		for _, sort := range []filehost.Sort{filehost.ByName, filehost.BySize, filehost.ByModified, filehost.HostOrder} {
			for _, descending := range []bool{false, true} {
				f := newChangingFolder(seed)
				listing := filehost.Listing{Sort: sort, Descending: descending}
				if seed%3 == 0 {
					listing.Types = []string{"file"}
				}
				whole := listing
				whole.Limit = filehost.MaxPageSize
				before, err := f.Browse(t.Context(), alice, whole)
				require.NoError(t, err)

				shown := f.walk(t, listing)

				what := fmt.Sprintf("seed %d, by %s, descending %v", seed, sort, descending)
				untouched := func(path string) bool { return !f.touched[path] }
				assert.Equal(t, filter(allPaths(before.Entries), untouched), filter(shown, untouched), what)
				changed := func(path string) bool {
					return f.touched[path] && sort != filehost.ByName && sort != filehost.HostOrder
				}
				once := filter(shown, func(path string) bool { return !changed(path) })
				slices.Sort(once)
				assert.Len(t, slices.Compact(slices.Clone(once)), len(once), "%s: only an entry whose size or time changes may show twice", what)
			}
		}
	}
}

// TestAListingThatTheHostKeepsIsWhatWasThereAtItsBeginning does the same with a host that pages.
func TestAListingThatTheHostKeepsIsWhatWasThereAtItsBeginning(t *testing.T) {
	for seed := range uint64(100) {
		f := newChangingFolder(seed)
		f.remote.Page()
		before := filter(f.paths, func(string) bool { return true })
		shown := f.walk(t, filehost.Listing{Sort: filehost.HostOrder})
		assert.Equal(t, before, shown, "seed %d", seed)
	}
}

func filter(paths []string, keep func(string) bool) []string {
	kept := []string{}
	for _, path := range paths {
		if keep(path) {
			kept = append(kept, path)
		}
	}
	return kept
}
