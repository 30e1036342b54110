package doubles

import (
	"encoding/xml"
	"net/http"
	"path"
	"strconv"
	"strings"
	"sync"
)

// marks are what users have marked as their favorites, by user and id.
type marks struct {
	mu  sync.Mutex
	all map[mark]bool
}

type mark struct {
	user string
	id   uint64
}

func (m *marks) set(of mark) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.all == nil {
		m.all = map[mark]bool{}
	}
	m.all[of] = true
}

func (m *marks) has(of mark) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.all[of]
}

// Favor marks a file or folder as one of its user's favorites.
func (s *sabre) Favor(user, name string) error {
	n, err := s.disk.find(user, name)
	if err == nil {
		s.favorites.set(mark{user, n.id()})
	}
	return err
}

// report serves REPORT (RFC 3253 3.6): of favorites below any folder, and in ownCloud of names below the user's top folder.
func (s *sabre) report(w http.ResponseWriter, r *http.Request, user, name string) {
	top, err := s.disk.find(user, name)
	if err != nil {
		s.notFound(w, user, name)
		return
	}
	var asked element
	if err := xml.NewDecoder(r.Body).Decode(&asked); err != nil {
		s.fail(w, http.StatusBadRequest, "BadRequest", err.Error())
		return
	}
	var chosen func(node) bool
	limit := endless
	switch pattern, named := asked.at(ocName("search")).child(ocName("pattern")); {
	case top.isDir() && asked.XMLName == ocName("filter-files"):
		if rules := asked.at(ocName("filter-rules")).Children; len(rules) != 1 || rules[0].XMLName != ocName("favorite") {
			s.fail(w, http.StatusBadRequest, "BadRequest", "No filter criteria specified")
			return
		}
		chosen = func(n node) bool { return s.favorites.has(mark{user, n.id()}) }
	case top.isDir() && s.searchFiles && asked.XMLName == ocName("search-files") && name != "/":
		s.fail(w, http.StatusNotImplemented, "NotImplemented", "Search report only available in the root folder of the user")
		return
	case top.isDir() && s.searchFiles && asked.XMLName == ocName("search-files") && named:
		chosen = func(n node) bool { return like("%"+pattern.Text+"%", n.name()) }
		limit = number(asked.at(ocName("search"), ocName("limit")).Text, 30)
	default:
		s.fail(w, http.StatusUnsupportedMediaType, "ReportNotSupported", "")
		return
	}
	s.writeReport(w, top, asked.at(davName("prop")).asked(), limit, chosen)
}

func (s *sabre) writeReport(w http.ResponseWriter, top node, asked propfind, limit int, chosen func(node) bool) {
	all, err := s.gather(top, endless)
	if err != nil {
		s.notFound(w, top.user, top.path)
		return
	}
	var entries []string
	for _, each := range all[1:] {
		if chosen(each) && len(entries) < limit {
			entries = append(entries, s.entry(each, asked, true))
		}
	}
	s.multistatus(w, entries)
}

// meta serves /remote.php/dav/meta/{fileid}, of which a client learns where the file is (apps/dav/lib/Meta).
func (s *sabre) meta(w http.ResponseWriter, r *http.Request, user string) {
	s.faults.Serve(w, r, user, r.URL.Path, func(w http.ResponseWriter, r *http.Request) {
		asked, err := readPropfind(r.Body)
		if r.Method != "PROPFIND" || err != nil {
			s.unknown(w, r)
			return
		}
		id := path.Base(r.URL.Path)
		all, _ := s.everything(user) // none of a user who has gone
		for _, each := range all {
			if strconv.FormatUint(each.id(), 10) != id {
				continue
			}
			s.multistatus(w, []string{s.response(davPrefix+"/meta/"+id+"/", asked.names, isMinimal(r), func(name xml.Name) value {
				if name == ocName("meta-path-for-user") {
					return text(each.path)
				}
				return absent
			})})
			return
		}
		s.fail(w, http.StatusNotFound, "NotFound", "")
	})
}

// isMeta tells whether a request is about a file's own resource.
func isMeta(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, davPrefix+"/meta/") }
