package doubles

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path"
	"slices"
	"strings"
)

// Role is what a member may do in a space, or with what is shared with him.
type Role string

// The roles.
const (
	Manager Role = "manager"
	Editor  Role = "editor"
	Viewer  Role = "viewer"
)

// shareStorage is the id of the storage of what is shared, and the first half of the id of the space that shows it.
const shareStorage = "a0ca6a90-a365-4782-871e-d44447bbc668"

const sharesSpace = shareStorage + "$" + shareStorage

// project is a space of several users. Its files lie on the disk as if they were a user's who is called dir.
type project struct {
	name, dir string
	members   map[string]Role
	disabled  bool
}

// shared is what one user shares with another.
type shared struct {
	id    string // of the share
	name  string // where the other has it
	owner string
	path  string
	role  Role
}

func (s *shared) mountID() string { return sharesSpace + "!" + s.id }

// AddSpace makes a space of several users and returns where its files lie.
func (o *OpenCloud) AddSpace(name string, members map[string]Role) (dir string, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	added := &project{name: name, dir: fmt.Sprintf("space %d", len(o.projects)+1), members: members}
	o.projects = append(o.projects, added)
	return o.Dir(added.dir), os.MkdirAll(o.Dir(added.dir), 0o755)
}

// DisableSpace disables a space by where its files lie: nobody can open it any more. Its managers still see it in the list.
func (o *OpenCloud) DisableSpace(dir string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, each := range o.projects {
		if o.Dir(each.dir) == dir {
			each.disabled = true
		}
	}
}

// ShareWith shares what an owner has at a path with another user, who takes it at once, as the host does by itself.
func (o *OpenCloud) ShareWith(owner, name, with string, role Role) (unshare func()) {
	n, err := o.disk.find(owner, name)
	if err != nil {
		panic(err) // a test's own file
	}
	permissions, _ := linkPermissions(n.isDir(), map[Role]string{Viewer: "view", Editor: "edit"}[role])
	made := o.shares.add(n, madeShare{kind: shareUser, permissions: permissions, with: with})
	return func() { o.shares.remove(made.id) }
}

// projectsOf are the spaces that a user is a member of.
func (o *OpenCloud) projectsOf(user string) []project {
	o.mu.Lock()
	defer o.mu.Unlock()
	var all []project
	for _, each := range o.projects {
		if each.members[user] != "" {
			all = append(all, *each)
		}
	}
	return all
}

// sharedWith is what others share with a user. What has the name of another has a number behind it.
func (o *OpenCloud) sharedWith(user string) []shared {
	var all []shared
	for _, each := range o.shares.with(user) {
		role := Viewer
		if each.permissions&mayUpdate != 0 {
			role = Editor
		}
		added := shared{
			id:   strings.Join([]string{openCloudStorage, userID(each.owner), uuid("share " + each.id)}, ":"),
			name: path.Base(each.path), owner: each.owner, path: each.path, role: role,
		}
		taken := func(s shared) bool { return s.name == added.name }
		for n := 1; slices.ContainsFunc(all, taken); n++ {
			added.name = fmt.Sprintf("%s (%d)", path.Base(each.path), n)
		}
		all = append(all, added)
	}
	return all
}

// place is what a request is about, and below which address. user and path are those of the disk.
type place struct {
	user, path string
	root       string // the address of what is at base
	base       string // a path on the disk; "" = the top
	role       Role
	share      *shared
}

// resourceID is the id of a node as the caller sees it: what is shared with him has one of its own.
func (p place) resourceID(n node) string {
	if p.share != nil && n.path == p.share.path {
		return p.share.mountID()
	}
	return resourceID(n)
}

// letters are the permissions of a node (reva's ocdav).
func (p place) letters(n node) string {
	root := p.share != nil && n.path == p.share.path
	switch {
	case p.role == Viewer && root:
		return "S"
	case p.role == Viewer:
		return ""
	case p.share == nil:
		return openCloudLetters(n)
	}
	letters := "DNVW"
	if n.isDir() {
		letters = "DNVCK"
	}
	if root {
		letters = "S" + letters
	}
	return letters
}

// spaceAt finds what a path below /dav/spaces/{id} is about, for a user who has it. The space of shares itself has no place.
func (o *OpenCloud) spaceAt(user, id, name, root string) (at place, ok bool) {
	if id == spaceID(user) || id == spaceID(user)+"!"+userID(user) {
		return place{user: user, path: name, root: root, role: Manager}, true
	}
	for _, each := range o.projectsOf(user) {
		if id == spaceID(each.dir) && !each.disabled {
			return place{user: each.dir, path: name, root: root, role: each.members[user]}, true
		}
	}
	if id != sharesSpace {
		return place{}, false
	}
	first, rest, deeper := strings.Cut(strings.TrimPrefix(name, "/"), "/")
	for _, each := range o.sharedWith(user) {
		if each.name == first {
			return each.place(root, "/"+rest, deeper), true
		}
	}
	return place{}, false
}

// place is where something in the share is, for who has it below an address of the space of shares.
func (s *shared) place(root, rest string, deeper bool) place {
	name := s.path
	if deeper && rest != "/" {
		name = s.path + rest
	}
	return place{user: s.owner, path: name, root: root + "/" + s.name, base: s.path, role: s.role, share: s}
}

// sharesFolder lists the space of shares: itself, and each share as it is.
func (o *OpenCloud) sharesFolder(w http.ResponseWriter, r *http.Request, user, root string) {
	asked, err := readPropfind(r.Body)
	if r.Method != "PROPFIND" || err != nil {
		o.unknown(w, r)
		return
	}
	id := sharesSpace + "!" + shareStorage
	own := map[xml.Name]value{
		davName("resourcetype"): markup("<d:collection/>"), davName("getetag"): markup(`"022005cc491aa9d9e71dde01291bad4d"`),
		davName("getlastmodified"): markup(o.clock.Now().UTC().Format(http.TimeFormat)), ocName("size"): markup("0"),
		ocName("permissions"): markup(""), ocName("fileid"): markup(id), ocName("id"): markup(id), ocName("favorite"): markup("0"),
		ocName("privatelink"): markup(escapeText(o.Origin() + (&url.URL{Path: "/f/" + id}).EscapedPath())),
	}
	rows := []string{o.row(root+"/", asked, isMinimal(r), func(name xml.Name) value { return own[name] })}
	if r.Header.Get("Depth") == "1" {
		for _, each := range o.sharedWith(user) {
			if n, err := o.disk.find(each.owner, each.path); err == nil {
				rows = append(rows, o.response(n, each.place(root, "", false), asked, isMinimal(r)))
			}
		}
	}
	o.multistatus(w, r, rows, true)
}

// drives tells of the spaces that a user has: his own, projects, what others share, and the one that holds the last.
func (o *OpenCloud) drives(w http.ResponseWriter, r *http.Request) {
	user, ok := o.come(w, r)
	if !ok {
		return
	}
	if r.Method != http.MethodGet || r.URL.RawQuery != "" {
		o.unknown(w, r)
		return
	}
	o.faults.Serve(w, r, user, r.URL.Path, func(w http.ResponseWriter, _ *http.Request) {
		name := cmp.Or(o.config.PersonalSpace, o.users[user].DisplayName)
		all := []any{o.drive("personal", "personal/"+user, name, user)}
		for _, each := range o.projectsOf(user) {
			drive := o.drive("project", "project/"+strings.ToLower(strings.ReplaceAll(each.name, " ", "-")), each.name, each.dir)
			switch {
			case each.disabled && each.members[user] != Manager:
				continue
			case each.disabled:
				drive["root"].(map[string]any)["deleted"] = map[string]any{"state": "trashed"} //nolint:forcetypeassert // as drive makes it
			}
			all = append(all, drive)
		}
		all = append(all, map[string]any{
			"driveAlias": "virtual/shares", "driveType": "virtual", "id": sharesSpace, "name": "Shares",
			"root":   map[string]any{"eTag": "DECAFC00FEE", "id": sharesSpace, "webDavUrl": o.Origin() + "/dav/spaces/" + sharesSpace},
			"webUrl": o.Origin() + "/f/" + sharesSpace,
		})
		for _, each := range o.sharedWith(user) {
			if n, err := o.disk.find(each.owner, each.path); err == nil {
				all = append(all, o.mountpoint(each, n))
			}
		}
		writePlainJSON(w, http.StatusOK, map[string]any{"value": all})
	})
}

// drive is a space as Graph tells it. Its files lie on the disk as if they were a user's.
func (o *OpenCloud) drive(kind, alias, name, dir string) map[string]any {
	top, err := o.disk.find(dir, "/")
	if err != nil {
		panic(err) // each has a folder since it was made
	}
	return map[string]any{
		"driveAlias": alias, "driveType": kind, "id": spaceID(dir), "name": name,
		"lastModifiedDateTime": top.info.ModTime().UTC(),
		"owner":                map[string]any{"user": map[string]any{"displayName": "", "id": userID(dir)}},
		"quota":                map[string]any{"remaining": int64(1<<63 - 1), "state": "normal", "total": 0, "used": o.disk.size(top)},
		"root":                 map[string]any{"eTag": openCloudETag(top), "id": spaceID(dir), "webDavUrl": o.Origin() + "/dav/spaces/" + spaceID(dir)},
		"webUrl":               o.Origin() + "/f/" + spaceID(dir),
	}
}

// mountpoint is a share as Graph tells it among the drives of who has it.
func (o *OpenCloud) mountpoint(s shared, n node) map[string]any {
	return map[string]any{
		"driveAlias": "mountpoint/" + strings.ToLower(s.name), "driveType": "mountpoint", "id": s.mountID(), "name": s.name,
		"owner": map[string]any{"user": map[string]any{"displayName": "", "id": userID(s.owner)}},
		"root": map[string]any{
			"id": s.mountID(), "webDavUrl": o.Origin() + "/dav/spaces/" + url.PathEscape(s.mountID()),
			"remoteItem": map[string]any{
				"driveAlias": "personal/" + s.owner, "eTag": openCloudETag(n), "id": resourceID(n), "name": path.Base(s.path), "path": s.path,
				"rootId": spaceID(s.owner) + "!" + userID(s.owner), "size": o.disk.size(n),
			},
		},
		"webUrl": o.Origin() + "/f/" + url.PathEscape(s.mountID()),
	}
}

// places are all parts of the disk that a user has, each with its files' addresses as a search tells them.
func (o *OpenCloud) places(user string) []place {
	root := func(id string) string { return davPrefix + "/spaces/" + id }
	all := []place{{user: user, root: root(spaceID(user)), role: Manager}}
	for _, each := range o.projectsOf(user) {
		if !each.disabled {
			all = append(all, place{user: each.dir, root: root(spaceID(each.dir)), role: each.members[user]})
		}
	}
	for _, each := range o.sharedWith(user) {
		all = append(all, place{user: each.owner, root: root(shareStorage + "!" + each.id), base: each.path, role: each.role, share: &each})
	}
	return all
}

// nodes are what is in a place of the disk.
func (o *OpenCloud) nodes(at place) []node {
	all, _ := o.everything(at.user) // none of a user who has gone
	return slices.DeleteFunc(all, func(n node) bool {
		return at.base != "" && n.path != at.base && !strings.HasPrefix(n.path, at.base+"/")
	})
}
