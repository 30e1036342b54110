package doubles

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"strings"
)

// ShareWith shares what an owner has at a path with another user, who takes it at once: it lies among his own, and he may
// do with it what the role says. What is in a folder is not to be seen there.
func (s *sabre) ShareWith(owner, name, with string, role Role) (unshare func()) {
	n, err := s.disk.find(owner, name)
	if err != nil {
		panic(err) // a test's own file
	}
	at := s.disk.file(with, "/"+path.Base(name))
	if n.isDir() {
		err = os.Mkdir(at, 0o755)
	} else {
		err = os.Link(s.disk.file(owner, name), at) // it is the same file, by its id too
	}
	if err != nil {
		panic(err)
	}
	permissions, _ := linkPermissions(n.isDir(), map[Role]string{Viewer: "view", Editor: "edit"}[role])
	made := s.shares.add(n, madeShare{kind: shareUser, permissions: permissions, with: with})
	return func() {
		s.shares.remove(made.id)
		if err := os.Remove(at); err != nil && !errors.Is(err, fs.ErrNotExist) {
			panic(err)
		}
	}
}

// received finds what others share with a user at a path of his.
func (s *sabre) received(n node) (madeShare, bool) {
	for _, each := range s.shares.with(n.user) {
		if n.path == "/"+path.Base(each.path) {
			return each, true
		}
	}
	return madeShare{}, false
}

// letters tells of what is a user's own, and of what others share with him.
func letters(folder, file string) func(*sabre, node) value {
	return func(s *sabre, n node) value {
		if n.isDir() {
			return text(s.lent(n, folder))
		}
		return text(s.lent(n, file))
	}
}

// lent are the letters of oc:permissions of what others share, if n is.
func (s *sabre) lent(n node, own string) string {
	share, ok := s.received(n)
	if !ok {
		return own
	}
	for letter, needs := range map[string]int{"W": mayUpdate, "NV": mayUpdate, "CK": mayCreate, "R": mayShare} {
		if share.permissions&needs == 0 {
			own = strings.ReplaceAll(own, letter, "")
		}
	}
	return "S" + own
}
