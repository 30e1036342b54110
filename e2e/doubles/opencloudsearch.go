package doubles

import (
	"encoding/xml"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// kql is the part of KQL that clients use: a value of the name, quoted or not, with * and ?, after its key or alone, and
// the id of the folder to look below (services/search/pkg/search, pkg/kql/dictionary.peg).
var (
	kql      = regexp.MustCompile(`^(?:name:)?(?:"([^"]*)"|([^ ":()]+))$`)
	kqlScope = regexp.MustCompile(`scope:\s*([^" \n\r]*)`)
)

// report serves REPORT with oc:search-files. Below /dav/spaces/{id} the search is in that space; an id with a slash at its
// end is of no space.
func (o *OpenCloud) report(w http.ResponseWriter, r *http.Request, user string) {
	var asked element
	err := xml.NewDecoder(r.Body).Decode(&asked)
	if err != nil || asked.XMLName != ocName("search-files") {
		davError(w, http.StatusBadRequest, "BadRequest", "missing search-files tag")
		return
	}
	query := asked.at(ocName("search"), ocName("pattern")).Text
	var scoped *place
	if scope := kqlScope.FindStringSubmatch(query); scope != nil {
		query = strings.TrimSpace(strings.ReplaceAll(query, scope[0], ""))
		folder, at, ok := o.find(user, scope[1])
		if !ok {
			o.surprise(r, "no such scope: "+scope[1])
		}
		at.path = folder.path
		scoped = &at
	}
	value := kql.FindStringSubmatch(query)
	if value == nil {
		o.surprise(r, "no KQL that is known: "+query)
		davError(w, http.StatusBadRequest, "BadRequest", "error parsing the query")
		return
	}
	limit := number(asked.at(ocName("search"), ocName("limit")).Text, 200)
	var hits []string
	for _, at := range o.searched(r, user) {
		at.path = "/"
		if scoped != nil && (scoped.user != at.user || scoped.base != at.base) {
			continue
		}
		if scoped != nil {
			at.path = scoped.path
		}
		for _, n := range o.indexed(at, value[1]+value[2]) {
			hits = append(hits, o.hit(n, at))
		}
	}
	o.writeHits(w, hits, limit)
}

// searched are the places that a request is about: one space, or by any other address all. The space of shares has nothing
// of its own.
func (o *OpenCloud) searched(r *http.Request, user string) []place {
	all := o.places(user)
	if id, ok := strings.CutPrefix(r.URL.Path, "/dav/spaces/"); ok {
		return slices.DeleteFunc(all, func(at place) bool { return at.root != davPrefix+"/spaces/"+strings.TrimSuffix(id, "/") })
	}
	return all
}

// find gives the file or folder with an id, where a user has it.
func (o *OpenCloud) find(user, id string) (node, place, bool) {
	for _, at := range o.places(user) {
		for _, n := range o.nodes(at) {
			if resourceID(n) == id || at.resourceID(n) == id {
				return n, at, true
			}
		}
	}
	return node{}, place{}, false
}

// indexed gives what is in the index under a name, below a folder of a place. Anything with the folder's own name is left out
// when that is at the top, and so are the tops of spaces.
func (o *OpenCloud) indexed(at place, pattern string) []node {
	expression := regexp.MustCompile(`(?is)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern)) + `$`)
	return slices.DeleteFunc(o.nodes(at), func(n node) bool {
		below := at.path == "/" || n.path == at.path || strings.HasPrefix(n.path, at.path+"/")
		return n.path == "/" || !below || !expression.MatchString(n.name()) || at.path == "/"+n.name()
	})
}

func (o *OpenCloud) writeHits(w http.ResponseWriter, found []string, limit int) {
	var out strings.Builder
	out.WriteString(`<d:multistatus xmlns:s="http://sabredav.org/ns" xmlns:d="DAV:" xmlns:oc="` + nsOC + `">`)
	shown := found[:min(len(found), limit)]
	for _, hit := range shown {
		out.WriteString(hit)
	}
	out.WriteString("</d:multistatus>")
	header := w.Header()
	if len(shown) > 0 {
		header.Set("Content-Range", fmt.Sprintf("rows 0-%d/%d", len(shown)-1, len(found)))
	}
	header.Set("Content-Type", "application/xml; charset=utf-8")
	header.Set("Content-Length", strconv.Itoa(out.Len()))
	header.Set("Dav", "1, 3, extended-mkcol")
	w.WriteHeader(http.StatusMultiStatus)
	writeXML(w, out.String())
}

// hit is what the index has of an entry, whatever was asked for. It has no ETag.
func (o *OpenCloud) hit(n node, at place) string {
	parent := node{user: n.user, path: path.Dir(n.path)}
	if found, err := o.disk.find(n.user, parent.path); err == nil {
		parent = found
	}
	letters, size := "RDNVCK", "<oc:size>"+strconv.FormatInt(o.disk.size(n), 10)+"</oc:size>"
	kind, mime := "<d:collection/>", "httpd/unix-directory"
	if !n.isDir() {
		letters, kind, mime = "RDNVW", "", n.mimeType()
		size = "<d:getcontentlength>" + strconv.FormatInt(n.info.Size(), 10) + "</d:getcontentlength>"
	}
	switch {
	case at.role == Viewer && at.share != nil:
		letters = "SM"
	case at.role == Viewer:
		letters = ""
	case at.share != nil:
		letters = "SD"
	}
	href := at.root + strings.TrimPrefix(n.path, at.base)
	return "<d:response><d:href>" + escapeText((&url.URL{Path: href}).EscapedPath()) + "</d:href><d:propstat><d:prop>" +
		"<oc:fileid>" + resourceID(n) + "</oc:fileid><oc:file-parent>" + resourceID(parent) + "</oc:file-parent>" +
		"<oc:name>" + escapeText(n.name()) + "</oc:name><d:getlastmodified>" + n.modified("GMT") + "</d:getlastmodified>" +
		"<d:getcontenttype>" + mime + "</d:getcontenttype><oc:permissions>" + letters + "</oc:permissions>" +
		"<oc:highlights></oc:highlights><oc:tags></oc:tags><d:getetag></d:getetag>" +
		"<d:resourcetype>" + kind + "</d:resourcetype>" + size +
		"<oc:score>2.238161325454712</oc:score></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response>"
}

// meta serves /remote.php/dav/meta/{id}, of which a client learns where the file is in its space.
func (o *OpenCloud) meta(w http.ResponseWriter, r *http.Request, user string) {
	o.faults.Serve(w, r, user, r.URL.Path, func(w http.ResponseWriter, r *http.Request) {
		asked, err := readPropfind(r.Body)
		if r.Method != "PROPFIND" || err != nil || !slices.Contains(asked.names, ocName("meta-path-for-user")) {
			o.surprise(r, "a meta resource tells its path to who asks for it")
			w.WriteHeader(http.StatusBadRequest)
			return
		}
		id := path.Base(r.URL.Path)
		space, _, _ := strings.Cut(id, "!")
		told, known := o.told(user, id)
		if !known {
			davError(w, http.StatusNotFound, "NotFound", "Resource "+id+" not found")
			return
		}
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.Header().Set("Dav", "1, 3, extended-mkcol")
		w.WriteHeader(http.StatusMultiStatus)
		writeXML(w, `<d:multistatus xmlns:s="http://sabredav.org/ns" xmlns:d="DAV:" xmlns:oc="`+nsOC+`"><d:response><d:href>`+
			escapeText((&url.URL{Path: davPrefix + "/meta/" + id + "/"}).EscapedPath())+`</d:href><d:propstat><d:prop>`+
			"<oc:meta-path-for-user>"+escapeText(told)+"</oc:meta-path-for-user><oc:id>"+id+"</oc:id><oc:fileid>"+id+"</oc:fileid>"+
			"<oc:spaceid>"+space+"</oc:spaceid></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>")
	})
}

// told is the path that the host tells of an id: in its space, or of what is shared from the first folder that the user may
// see. Of what is gone, and of what has never been, it is empty; of a space that he doesn't know at all it tells nothing.
func (o *OpenCloud) told(user, id string) (told string, known bool) {
	n, at, ok := o.find(user, id)
	switch {
	case ok && at.share != nil && id == at.share.mountID():
		return "/" + at.share.name, true
	case ok && at.share != nil:
		return "/" + path.Base(at.share.path) + strings.TrimPrefix(n.path, at.share.path), true
	case ok:
		return n.path, true
	case id == sharesSpace+"!"+shareStorage:
		return "/", true
	}
	space, _, _ := strings.Cut(id, "!")
	return "", slices.ContainsFunc(o.places(user), func(at place) bool { return spaceID(at.user) == space })
}
