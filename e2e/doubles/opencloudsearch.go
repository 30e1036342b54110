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
	top := "/"
	if scope := kqlScope.FindStringSubmatch(query); scope != nil {
		query = strings.TrimSpace(strings.ReplaceAll(query, scope[0], ""))
		folder, ok := o.find(user, scope[1])
		if !ok {
			o.surprise(r, "no such scope: "+scope[1])
		}
		top = folder.path
	}
	value := kql.FindStringSubmatch(query)
	if value == nil {
		o.surprise(r, "no KQL that is known: "+query)
		davError(w, http.StatusBadRequest, "BadRequest", "error parsing the query")
		return
	}
	limit := number(asked.at(ocName("search"), ocName("limit")).Text, 200)
	o.writeHits(w, o.indexed(user, top, value[1]+value[2]), limit)
}

// find gives the file or folder of a user's with an id.
func (o *OpenCloud) find(user, id string) (node, bool) {
	all, _ := o.everything(user) // none of a user who has gone
	at := slices.IndexFunc(all, func(n node) bool { return resourceID(n) == id })
	if at < 0 {
		return node{}, false
	}
	return all[at], true
}

// indexed gives what is in the index under a name, below a folder. Anything with the folder's own name is left out when that
// is at the top.
func (o *OpenCloud) indexed(user, top, pattern string) []node {
	expression := regexp.MustCompile(`(?is)^` + strings.NewReplacer(`\*`, `.*`, `\?`, `.`).Replace(regexp.QuoteMeta(pattern)) + `$`)
	all, _ := o.everything(user) // none of a user who has gone
	return slices.DeleteFunc(all, func(n node) bool {
		below := top == "/" || n.path == top || strings.HasPrefix(n.path, top+"/")
		return n.path == "/" || !below || !expression.MatchString(n.name()) || top == "/"+n.name()
	})
}

func (o *OpenCloud) writeHits(w http.ResponseWriter, found []node, limit int) {
	var out strings.Builder
	out.WriteString(`<d:multistatus xmlns:s="http://sabredav.org/ns" xmlns:d="DAV:" xmlns:oc="` + nsOC + `">`)
	shown := found[:min(len(found), limit)]
	for _, n := range shown {
		out.WriteString(o.hit(n))
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
func (o *OpenCloud) hit(n node) string {
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
	href := davPrefix + "/spaces/" + spaceID(n.user) + n.path
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
		n, _ := o.find(user, id) // of what is gone, and of what has never been, the host tells an empty path
		if !strings.HasPrefix(id, spaceID(user)+"!") {
			davError(w, http.StatusNotFound, "NotFound", "Resource "+id+" not found")
			return
		}
		w.Header().Set("Content-Type", "application/xml; charset=utf-8")
		w.Header().Set("Dav", "1, 3, extended-mkcol")
		w.WriteHeader(http.StatusMultiStatus)
		writeXML(w, `<d:multistatus xmlns:s="http://sabredav.org/ns" xmlns:d="DAV:" xmlns:oc="`+nsOC+`"><d:response><d:href>`+
			escapeText((&url.URL{Path: davPrefix + "/meta/" + id + "/"}).EscapedPath())+`</d:href><d:propstat><d:prop>`+
			"<oc:meta-path-for-user>"+escapeText(n.path)+"</oc:meta-path-for-user><oc:id>"+id+"</oc:id><oc:fileid>"+id+"</oc:fileid>"+
			"<oc:spaceid>"+spaceID(user)+"</oc:spaceid></d:prop><d:status>HTTP/1.1 200 OK</d:status></d:propstat></d:response></d:multistatus>")
	})
}
