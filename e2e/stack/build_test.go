package stack

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestRemoveOthers shows that the cache keeps one build of a program, and those of the others.
func TestRemoveOthers(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"server-1-aaa", "server-1-bbb", "server-1.lock", "server-2-aaa"} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(dir, "server-1")
	if err := removeOthers(name, name+"-bbb"); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, entry := range entries {
		left = append(left, entry.Name())
	}
	if want := []string{"server-1-bbb", "server-1.lock", "server-2-aaa"}; !slices.Equal(left, want) {
		t.Errorf("left are %q, want %q", left, want)
	}
}
