package doubles

import (
	"crypto/md5" //nolint:gosec // the real hosts' ETags look like it
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// disk holds the files of all users, each below a folder of his name.
type disk struct {
	root  string
	takes func(name string) bool
}

// node is a file or folder at a moment.
type node struct {
	user string
	path string // decoded, from the user's top folder "/"
	info fs.FileInfo
}

func (d disk) dir(user string) string { return filepath.Join(d.root, user) }

func (d disk) file(user, name string) string { return d.dir(user) + filepath.FromSlash(name) }

// find gives the node at a path. The error is fs.ErrNotExist too when the host can't have such a name.
func (d disk) find(user, name string) (node, error) {
	if !d.takesAll(name) {
		return node{}, fs.ErrNotExist
	}
	info, err := os.Lstat(d.file(user, name))
	if errors.Is(err, syscall.ENOTDIR) || errors.Is(err, syscall.ENAMETOOLONG) {
		err = fs.ErrNotExist
	}
	return node{user: user, path: name, info: info}, err
}

func (d disk) takesAll(name string) bool {
	if name == "/" {
		return true
	}
	for segment := range strings.SplitSeq(name[1:], "/") {
		if !d.takes(segment) {
			return false
		}
	}
	return true
}

// children gives what is in a folder and can be shown, by name.
func (d disk) children(folder node) ([]node, error) {
	entries, err := os.ReadDir(d.file(folder.user, folder.path))
	if err != nil {
		return nil, err
	}
	nodes := make([]node, 0, len(entries))
	for _, entry := range entries {
		if !d.takes(entry.Name()) {
			continue
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) {
			continue // gone meanwhile
		}
		if err != nil {
			return nil, err
		}
		nodes = append(nodes, node{folder.user, path.Join(folder.path, entry.Name()), info})
	}
	return nodes, nil
}

// size is the length of a file in bytes, or the sum of all files below a folder.
func (d disk) size(n node) int64 {
	if !n.info.IsDir() {
		return n.info.Size()
	}
	var sum int64
	children, err := d.children(n)
	if err != nil {
		return 0 // gone meanwhile
	}
	for _, child := range children {
		sum += d.size(child)
	}
	return sum
}

func (n node) name() string { return path.Base(n.path) }

func (n node) isDir() bool { return n.info.IsDir() }

// id is the same for as long as the file exists, whatever it is called.
func (n node) id() uint64 {
	stat, ok := n.info.Sys().(*syscall.Stat_t)
	if !ok {
		panic("the doubles run where files have inodes")
	}
	return stat.Ino
}

// fingerprint is 32 hexadecimal digits that change whenever the file does.
func (n node) fingerprint() string {
	sum := md5.Sum(fmt.Appendf(nil, "%d %d %d", n.id(), n.info.ModTime().UnixNano(), n.info.Size())) //nolint:gosec // see above
	return hex.EncodeToString(sum[:])
}

// risen is a fingerprint that also changes with whatever changes below a folder.
func (d disk) risen(n node) string {
	if !n.isDir() {
		return n.fingerprint()
	}
	sum := md5.New() //nolint:gosec // see above
	_, _ = io.WriteString(sum, n.fingerprint())
	children, _ := d.children(n) // none of what is gone meanwhile
	for _, child := range children {
		_, _ = io.WriteString(sum, d.risen(child))
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// modified is the time of the last change as HTTP tells it (RFC 9110 5.6.7), with this name of the zone.
func (n node) modified(zone string) string {
	return n.info.ModTime().UTC().Format("Mon, 02 Jan 2006 15:04:05 ") + zone
}

// mimeTypes are those of the real hosts for the names that the tests have.
var mimeTypes = map[string]string{
	".gif": "image/gif", ".heic": "image/heic", ".html": "text/html", ".jpeg": "image/jpeg", ".jpg": "image/jpeg",
	".json": "application/json", ".md": "text/markdown", ".mp4": "video/mp4", ".pdf": "application/pdf",
	".png": "image/png", ".svg": "image/svg+xml", ".txt": "text/plain", ".zip": "application/zip",
}

func (n node) mimeType() string {
	if known, ok := mimeTypes[strings.ToLower(path.Ext(n.path))]; ok {
		return known
	}
	return "application/octet-stream"
}

// write makes or replaces a file and gives it back.
func (d disk) write(user, name string, content []byte, at time.Time) (node, error) {
	file := d.file(user, name)
	if err := os.WriteFile(file, content, 0o644); err != nil {
		return node{}, err
	}
	if err := os.Chtimes(file, at, at); err != nil {
		return node{}, err
	}
	return d.find(user, name)
}

// split gives the segments of a decoded path.
func split(name string) []string {
	return slices.DeleteFunc(strings.Split(name, "/"), func(segment string) bool { return segment == "" })
}
