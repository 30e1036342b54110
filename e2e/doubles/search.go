package doubles

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/text/unicode/norm"
)

// element is one of a request's body.
type element struct {
	XMLName  xml.Name
	Text     string    `xml:",chardata"`
	Children []element `xml:",any"`
}

func (e element) child(name xml.Name) (element, bool) {
	for _, each := range e.Children {
		if each.XMLName == name {
			return each, true
		}
	}
	return element{}, false
}

// at follows names downwards; the zero element where there is none.
func (e element) at(names ...xml.Name) element {
	for _, name := range names {
		e, _ = e.child(name)
	}
	return e
}

// asked are the properties that a prop element names.
func (e element) asked() propfind {
	var asked propfind
	for _, each := range e.Children {
		asked.names = append(asked.names, each.XMLName)
	}
	return asked
}

// everything gives all of a user's files and folders.
func (s *server) everything(user string) ([]node, error) {
	top, err := s.disk.find(user, "/")
	if err != nil {
		return nil, err
	}
	return s.gather(top, endless)
}

// searchLimit is how many rows a search has that names no limit, and operatorLimit how many comparisons it may
// have (apps/dav/lib/Files/FileSearchBackend.php).
const (
	searchLimit   = 100
	operatorLimit = 100
)

// errQuery is what the search plugin refuses (3rdparty/icewind/searchdav/src/DAV/SearchHandler.php).
var errQuery = errors.New("requested search property is not a valid property for this scope")

// arbiter serves SEARCH (RFC 5323), which there is at one address alone.
func (n *Nextcloud) arbiter(w http.ResponseWriter, r *http.Request, user string) {
	n.faults.Serve(w, r, user, "/", func(w http.ResponseWriter, r *http.Request) {
		kind := r.Header.Get("Content-Type")
		if r.Method != "SEARCH" || !strings.Contains(kind, "text/xml") && !strings.Contains(kind, "application/xml") {
			n.unknown(w, r)
			return
		}
		var request element
		if err := xml.NewDecoder(r.Body).Decode(&request); err != nil {
			http.Error(w, "Parse error: "+err.Error(), http.StatusBadRequest)
			return
		}
		n.search(w, r, user, request.at(davName("basicsearch")))
	})
}

func (n *Nextcloud) search(w http.ResponseWriter, r *http.Request, user string, query element) {
	owner, name, ok := strings.Cut(strings.TrimPrefix(query.at(davName("from"), davName("scope"), davName("href")).Text, "/files/"), "/")
	top, err := n.disk.find(user, "/"+name)
	switch {
	case owner != user || err != nil:
		n.fail(w, http.StatusNotFound, "NotFound", "File not found: "+name)
		return
	case ok && !top.isDir():
		n.fail(w, http.StatusInternalServerError, "InvalidArgumentException", "Search is only supported on directories")
		return
	}
	where := query.at(davName("where"))
	if len(where.Children) != 1 || operators(where) > operatorLimit {
		n.surprise(r, fmt.Sprintf("where has %d operands, %d comparisons", len(where.Children), operators(where)))
		n.fail(w, http.StatusInternalServerError, "InvalidArgumentException", "Invalid search query")
		return
	}
	found, err := n.matching(top, where.Children[0])
	if err != nil {
		n.surprise(r, err.Error())
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	if _, newest := query.at(davName("orderby"), davName("order")).child(davName("descending")); newest {
		slices.SortStableFunc(found, func(a, b node) int { return b.info.ModTime().Compare(a.info.ModTime()) })
	}
	limit, _ := strconv.Atoi(query.at(davName("limit"), davName("nresults")).Text)
	found = found[:min(len(found), cmp.Or(limit, searchLimit))]
	var entries []string
	for _, each := range found {
		if each.path != top.path { // counted, and left out
			entries = append(entries, n.entry(each, query.at(davName("select"), davName("prop")).asked(), false))
		}
	}
	n.multistatus(w, entries)
}

func operators(e element) int {
	switch e.XMLName.Local {
	case "where", "and", "or", "not":
		count := 0
		for _, each := range e.Children {
			count += operators(each)
		}
		return count
	}
	return 1
}

func (n *Nextcloud) matching(top node, where element) ([]node, error) {
	all, err := n.gather(top, endless)
	if err != nil {
		return nil, err
	}
	var found []node
	for _, each := range all {
		ok, err := n.matches(each, where)
		if err != nil {
			return nil, err
		}
		if ok {
			found = append(found, each)
		}
	}
	return found, nil
}

func (n *Nextcloud) matches(each node, where element) (bool, error) {
	switch where.XMLName.Local {
	case "and", "or":
		some, every := false, true
		for _, operand := range where.Children {
			ok, err := n.matches(each, operand)
			if err != nil {
				return false, err
			}
			some, every = some || ok, every && ok
		}
		return where.XMLName.Local == "and" && every || where.XMLName.Local == "or" && some, nil
	case "not":
		if len(where.Children) != 1 || len(where.Children[0].Children) != 2 || where.Children[0].XMLName.Local == "and" || where.Children[0].XMLName.Local == "or" {
			return false, errors.New(`Binary operators inside "not" is not supported`) //nolint:revive,staticcheck // the host's words
		}
		ok, err := n.matches(each, where.Children[0])
		return !ok, err
	}
	return n.compares(each, where)
}

// compares looks at one property. A MIME type is compared as a whole, or up to its slash.
func (n *Nextcloud) compares(each node, where element) (bool, error) {
	properties, literal := where.at(davName("prop")).Children, where.at(davName("literal")).Text
	if len(properties) != 1 {
		return false, errQuery
	}
	kind := each.mimeType()
	if each.isDir() {
		kind = "httpd/unix-directory"
	}
	switch comparison := where.XMLName.Local + " " + properties[0].XMLName.Local; comparison {
	case "eq fileid":
		if _, err := strconv.ParseUint(literal, 10, 63); err != nil {
			return false, errors.New("Invalid property value for {http://owncloud.org/ns}fileid") //nolint:revive,staticcheck // the host's words
		}
		return literal == strconv.FormatUint(each.id(), 10), nil
	case "like displayname":
		return like(literal, each.name()), nil
	case "eq getcontenttype":
		return literal == kind, nil
	case "like getcontenttype":
		part, ok := strings.CutSuffix(literal, "/%")
		if !ok || strings.Contains(part, "%") {
			return false, errors.New("Unsupported query value for mimetype: " + literal) //nolint:revive,staticcheck // the host's words
		}
		return strings.HasPrefix(kind, part+"/"), nil
	}
	return false, errQuery
}

// like is the operator of SQL, case ignored, with its escapes.
func like(pattern, text string) bool {
	var expression strings.Builder
	expression.WriteString("(?is)^")
	escaped := false
	for _, r := range pattern {
		switch {
		case escaped:
			expression.WriteString(regexp.QuoteMeta(string(r)))
			escaped = false
		case r == '\\':
			escaped = true
		case r == '%':
			expression.WriteString(".*")
		case r == '_':
			expression.WriteString(".")
		default:
			expression.WriteString(regexp.QuoteMeta(string(r)))
		}
	}
	return regexp.MustCompile(expression.String() + "$").MatchString(norm.NFC.String(text))
}
