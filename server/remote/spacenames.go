package remote

import (
	"strings"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// newSpaces makes the top-level folders of a user's drives, in the host's order, and of what is shared with him what is in
// the one of shares.
func newSpaces(drives []drive) *spaces {
	s := &spaces{}
	seen := map[string]bool{}
	for _, each := range drives {
		kind, isSpace := spaceKinds[each.Type]
		if !isSpace || each.Root.Deleted != nil || !filehost.IsHostID(each.ID) || seen[each.ID] {
			continue
		}
		seen[each.ID] = true
		s.list = append(s.list, space{id: each.ID, mount: mount{space: kind}})
	}
	names := map[string]string{}
	for _, each := range drives {
		names[each.ID] = each.Name
	}
	s.name(names)
	for _, shares := range s.list {
		if shares.space == filehost.SharesSpace {
			s.addIncoming(shares, drives)
			break
		}
	}
	return s
}

// name gives each space its folder. Those that no other is taken for have their name. The others have a part of their id
// behind it, and each of them: who has opened one by its name never comes to another when that is made. The user's own
// space and that of shares keep theirs, whatever other spaces he is invited to are called.
func (s *spaces) name(names map[string]string) {
	plain := make([]string, len(s.list))
	most := map[string]int{}      // by looks, of how high a rank the highest is...
	holders := map[string]int{}   // ...and how many have it
	suffixes := map[string]bool{} // that tell spaces apart
	for i, each := range s.list {
		plain[i] = folderName(names[each.id], each.space)
		suffixes[suffix(shortID(each.id))], suffixes[suffix(each.id)] = true, true
		switch rank, look := ranks[each.space], looks(plain[i]); {
		case holders[look] == 0 || rank > most[look]:
			most[look], holders[look] = rank, 1
		case rank == most[look]:
			holders[look]++
		}
	}
	short := map[string]int{}
	for i, each := range s.list {
		short[looks(plain[i])+suffix(shortID(each.id))]++
	}
	for i, each := range s.list {
		name, look := plain[i], looks(plain[i])
		_, behind, ok := cutLast(look, " (")
		lookalike := ok && suffixes[" ("+behind]
		if ranks[each.space] < most[look] || holders[look] > 1 || lookalike {
			name = plain[i] + suffix(shortID(each.id))
			if short[look+suffix(shortID(each.id))] > 1 {
				name = plain[i] + suffix(each.id)
			}
		}
		s.list[i].path, _ = filehost.Root.Join(name) // a segment, as folderName makes it
	}
}

// ranks say whose name counts where two have the same: the highest's.
var ranks = map[filehost.SpaceKind]int{filehost.PersonalSpace: 2, filehost.SharesSpace: 1, filehost.ProjectSpace: 0}

// looks is the same for names that look the same but for the joiners and spaces in them.
func looks(name string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("\u200c", "", "\u200d", "").Replace(name)), " ")
}

func suffix(id string) string { return " (" + id + ")" }

// shortID is enough of a drive's id to tell it from most others: the first digits of the space's own.
func shortID(id string) string {
	if at := strings.LastIndexByte(id, '$'); at >= 0 && at < len(id)-1 {
		id = id[at+1:]
	}
	return id[:min(len(id), shortIDBytes)]
}

const shortIDBytes = 8

func cutLast(text, separator string) (before, after string, found bool) {
	at := strings.LastIndex(text, separator)
	if at < 0 {
		return text, "", false
	}
	return text[:at], text[at+len(separator):], true
}

// maxSpaceNameBytes is the longest name of a space that is shown whole.
const maxSpaceNameBytes = 255

// folderName is the name of a space as a folder can have it: a user's own space has his display name, which may be any.
func folderName(name string, kind filehost.SpaceKind) string {
	name = norm.NFC.String(name)
	name = strings.Map(func(r rune) rune {
		if r == '/' || r == '\\' || !filehost.Shown(string(r), utf8.UTFMax) { // what can't be seen would make two names look the same
			return '_'
		}
		return r
	}, name)
	for len(name) > maxSpaceNameBytes {
		name = name[:len(name)-1]
		name = strings.ToValidUTF8(name, "")
	}
	if strings.TrimSpace(name) == "" || name == "." || name == ".." {
		return string(kind)
	}
	return name
}

// addIncoming adds what others share with the user, as it lies in the space of shares.
func (s *spaces) addIncoming(shares space, drives []drive) {
	for _, each := range drives {
		_, share, ok := strings.Cut(each.ID, "!")
		path, named := shares.path.Join(each.Name)
		owner, _, owned := strings.Cut(each.Root.Remote.RootID, "!")
		if each.Type != incomingDrive || !ok || !named || !owned || !filehost.IsHostID(each.ID) {
			continue
		}
		s.incoming = append(s.incoming, incoming{
			mount: mount{path: path, id: each.ID}, share: share, drive: owner, item: each.Root.Remote.ID, name: each.Root.Remote.Name,
		})
	}
}
