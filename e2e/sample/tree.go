// Package sample writes the tree of files that the embedded host serves: names that break naive
// code, a folder too large for one page, and a file too large for memory.
package sample

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Folders of the tree, as paths on the host.
const (
	// HostileFolder holds HostileNames, one file each, whose content is its name.
	HostileFolder = "/Hostile names"
	// ManyFolder holds ManyCount empty-ish files.
	ManyFolder = "/Many"
	// KindsFolder holds one file of each kind in Kinds.
	KindsFolder = "/Kinds"
	// NestedFolder is the deepest of several folders in one another.
	NestedFolder = "/Projects/2026/Résumé & plans/drafts"
	// HugeFile is HugeSize bytes of nothing, sparse on disk.
	HugeFile = "/Large/1 GiB.bin"
)

const (
	// ManyCount is how many entries ManyFolder has.
	ManyCount = 10_000
	// HugeSize is the size of HugeFile in bytes.
	HugeSize = int64(1) << 30
	// PartSize is the size at which Mattermost starts to split uploads, in bytes.
	PartSize = 5 << 20
)

// HostileNames are names that a file may have on a host and that careless code loses: each must
// be listed, opened and attached byte for byte.
var HostileNames = []string{
	"with spaces  twice.txt",
	"hash #1.txt",
	"100% done.txt",
	"a+b=c.txt",
	"this & that; and.txt",
	"what?.txt",
	"back\\slash.txt",
	"two\nlines.txt",
	"it's.txt",
	`"quoted".txt`,
	"party 🎉👩‍👩‍👧.txt",
	"cafe\u0301 decomposed.txt",
	"café composed.txt",
	"trailing dots...",
	"a%2Fb.txt",
	"%00.txt",
	"..hidden",
	".dot",
	"-rf.txt",
	"שלום right to left.txt",
	"invoice\u202efdp.exe",
	"zero\u200bwidth.txt",
	"[x](javascript:alert(1)).txt",
	"@all.txt",
	"<img src=x onerror=alert(1)>.txt",
	"{user}.txt",
	"~tilde$(id)`id`.txt",
	longName(),
}

// longName is 255 bytes, the most that common file systems take.
func longName() string {
	const end = ".txt"
	return strings.Repeat("long", 63)[:255-len(end)] + end
}

// LatinName is not UTF-8, as old hosts may have it; it lies in KindsFolder and has no path that JSON
// could hold, only an id.
const LatinName = "latin-1 caf\xe9.txt"

// modified is the time of every file, so that listings are the same at each run.
var modified = time.Date(2026, 3, 14, 15, 9, 26, 0, time.UTC)

// Write lays the whole tree below dir, which is created.
func Write(dir string) error {
	if err := WriteSmall(dir); err != nil {
		return err
	}
	for i := range ManyCount {
		name := fmt.Sprintf("%s/file %d.txt", ManyFolder, i)
		if err := write(dir, name, bytes.Repeat([]byte{'x'}, i%7)); err != nil {
			return err
		}
	}
	return sparse(dir, HugeFile, HugeSize)
}

// WriteSmall lays the tree below dir without the folder and the file that are large.
func WriteSmall(dir string) error {
	for _, name := range HostileNames {
		if err := write(dir, HostileFolder+"/"+name, []byte(name)); err != nil {
			return err
		}
	}
	for name, content := range Kinds() {
		if err := write(dir, KindsFolder+"/"+name, content); err != nil {
			return err
		}
	}
	if err := write(dir, NestedFolder+"/plan.md", []byte("# Plan\n\nShip it.\n")); err != nil {
		return err
	}
	if err := write(dir, KindsFolder+"/"+LatinName, []byte(LatinName)); err != nil {
		return err
	}
	return write(dir, "/Welcome.txt", []byte("Hello from the embedded file host.\n"))
}

func write(dir, name string, content []byte) error {
	file, err := prepare(dir, name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return err
	}
	return os.Chtimes(file, modified, modified)
}

func sparse(dir, name string, size int64) error {
	file, err := prepare(dir, name)
	if err != nil {
		return err
	}
	if err := os.WriteFile(file, nil, 0o644); err != nil {
		return err
	}
	if err := os.Truncate(file, size); err != nil {
		return err
	}
	return os.Chtimes(file, modified, modified)
}

func prepare(dir, name string) (string, error) {
	file := dir + filepath.FromSlash(name)
	return file, os.MkdirAll(filepath.Dir(file), 0o755)
}
