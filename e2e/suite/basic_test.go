package suite

import (
	"crypto/rand"
	"os"
	"testing"
)

// TestBasicListings asks for little of each entry: what changes shows at once, and what doesn't is not read again where the
// host's ETags tell so.
func TestBasicListings(t *testing.T) {
	folder := "/basic " + rand.Text()
	below := site.Host.Dir("alice") + folder
	must(t, os.MkdirAll(below+"/deep", 0o755))
	t.Cleanup(func() { _ = os.RemoveAll(below) })
	write := func(name, content string) { must(t, os.WriteFile(below+"/"+name, []byte(content), 0o600)) }
	write("one.txt", "one")
	for _, change := range []func(){
		func() {},
		func() {},
		func() { write("two.txt", "two") },
		func() { write("two.txt", "longer") },
		func() { write("deep/three.txt", "three") },
		func() { must(t, os.Remove(below+"/one.txt")) },
	} {
		change()
		full, basic := list(t, in(folder)), list(t, in(folder, "fields", "basic"))
		if len(full.Entries) != len(basic.Entries) || basic.Folder.ETag != full.Folder.ETag {
			t.Fatalf("%+v is not %+v", basic, full)
		}
		for i, entry := range basic.Entries {
			want := full.Entries[i]
			if entry.Permissions != nil || entry.Favorite != nil || want.Permissions == nil {
				t.Errorf("%+v of %+v", entry, want)
			}
			if entry.Name != want.Name || entry.Size != want.Size || entry.ETag != want.ETag || !entry.ModifiedAt.Equal(want.ModifiedAt) {
				t.Errorf("%+v is not %+v", entry, want)
			}
		}
	}
}
