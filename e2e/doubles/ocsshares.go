package doubles

import (
	"net/http"
	"path"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"
)

const ocsSharesPath = "/ocs/v2.php/apps/files_sharing/api/v1/shares"

// ocsShares are the shares of Nextcloud and ownCloud 10 (apps/files_sharing/lib/Controller, ShareAPIController.php and
// Share20OcsController.php).
type ocsShares struct {
	*server
	nextcloud bool
}

// serve answers who has signed in.
func (o ocsShares) serve(w http.ResponseWriter, r *http.Request, user string) {
	if !asksJSON(r) {
		o.unknown(w, r)
		return
	}
	o.faults.Serve(w, r, user, strings.TrimPrefix(r.URL.Path, ocsSharesPath), func(w http.ResponseWriter, r *http.Request) {
		id := strings.Trim(strings.TrimPrefix(r.URL.Path, ocsSharesPath), "/")
		switch {
		case id == "" && r.Method == http.MethodGet:
			o.list(w, r, user)
		case id == "" && r.Method == http.MethodPost:
			o.create(w, r, user)
		case id == "inherited" && r.Method == http.MethodGet && o.nextcloud:
			o.inherited(w, r, user)
		case id != "" && id != "inherited":
			o.one(w, r, user, id)
		default:
			o.unknown(w, r)
		}
	})
}

// fine answers that all is well. ownCloud has no word for it, and counts pages of nothing.
func (o ocsShares) fine(w http.ResponseWriter, data any) {
	if o.nextcloud {
		writeOCS(w, http.StatusOK, 200, "OK", data)
		return
	}
	writeOCSAnswer(w, http.StatusOK, struct {
		ocsMeta
		Items string `json:"totalitems"`
		Page  string `json:"itemsperpage"`
	}{ocsMeta: ocsMeta{Status: "ok", StatusCode: http.StatusOK}}, data)
}

func (o ocsShares) node(w http.ResponseWriter, r *http.Request, user string) (node, bool) {
	name := path.Clean("/" + norm.NFC.String(r.FormValue("path")))
	n, err := o.disk.find(user, name)
	if err != nil {
		writeOCS(w, http.StatusNotFound, 404, "Wrong path, file/folder does not exist", []any{})
	}
	return n, err == nil
}

func (o ocsShares) list(w http.ResponseWriter, r *http.Request, user string) {
	if r.FormValue("shared_with_me") == "true" {
		writeOCS(w, http.StatusOK, 200, "OK", o.receivedBy(user))
		return
	}
	if n, ok := o.node(w, r, user); ok {
		o.fine(w, o.told(o.shares.of(n)))
	}
}

// receivedBy is what others share with a user, by his own paths.
func (o ocsShares) receivedBy(user string) []any {
	told := []any{}
	for _, each := range o.shares.with(user) {
		share := o.tell(each)
		share["path"], share["storage_id"] = "/"+path.Base(each.path), "shared::/"+path.Base(each.path)
		if !o.nextcloud {
			share["state"] = 0
		}
		told = append(told, share)
	}
	return told
}

func (o ocsShares) inherited(w http.ResponseWriter, r *http.Request, user string) {
	n, ok := o.node(w, r, user)
	if !ok {
		return
	}
	var all []madeShare
	for _, folder := range o.parents(n) {
		all = append(all, o.shares.of(folder)...)
	}
	o.fine(w, o.told(all))
}

func (o ocsShares) told(all []madeShare) []any {
	told := []any{}
	for _, each := range all {
		told = append(told, o.tell(each))
	}
	return told
}

// tell is a share as the host tells it.
func (o ocsShares) tell(s madeShare) map[string]any {
	told := map[string]any{
		"id": s.id, "share_type": s.kind, "uid_owner": s.owner, "displayname_owner": o.users[s.owner].DisplayName,
		"permissions": s.permissions, "stime": s.at.Unix(), "parent": nil, "expiration": nil, "token": nil, "uid_file_owner": s.owner,
		"displayname_file_owner": o.users[s.owner].DisplayName, "path": s.path, "item_type": "file", "mimetype": "text/plain",
		"storage_id": "home::" + s.owner, "storage": 2, "item_source": s.item, "file_source": s.item, "file_target": "/" + path.Base(s.path),
		"mail_send": 0, "attributes": nil, "file_parent": 1,
	}
	if s.folder {
		told["item_type"], told["mimetype"] = "folder", "httpd/unix-directory"
	}
	if !s.ends.IsZero() {
		told["expiration"] = s.ends.Format("2006-01-02 00:00:00")
	}
	if s.kind != shareLink {
		told["share_with"], told["share_with_displayname"] = s.with, s.with
	}
	if o.nextcloud {
		o.tellNextcloud(told, s)
		return told
	}
	told["additional_info_owner"], told["additional_info_file_owner"] = nil, nil
	if s.kind == shareLink {
		told["token"], told["name"], told["url"] = s.token, nil, o.Origin()+"/s/"+s.token
		if s.label != "" {
			told["name"] = s.label
		}
		if s.password != "" {
			told["share_with"], told["share_with_displayname"] = "***redacted***", "***redacted***"
		}
	}
	return told
}

func (o ocsShares) tellNextcloud(told map[string]any, s madeShare) {
	for field, value := range map[string]any{
		"can_edit": true, "can_delete": true, "note": "", "label": s.label, "hide_download": 0, "item_permissions": 27,
		"is-mount-root": false, "mount-type": "", "has_preview": !s.folder, "item_size": 21, "item_mtime": s.at.Unix(),
	} {
		told[field] = value
	}
	if s.kind != shareLink {
		told["share_with_displayname_unique"] = s.with
		return
	}
	told["send_password_by_talk"] = false
	told["token"], told["url"] = s.token, o.Origin()+"/index.php/s/"+s.token
	told["share_with"], told["share_with_displayname"], told["password"] = nil, "(Shared link)", nil
	if s.password != "" { // never the password, though what it becomes
		told["share_with"], told["password"] = "3|$argon2id$v=19$hash", "3|$argon2id$v=19$hash"
	}
}

func (o ocsShares) refuse(w http.ResponseWriter, status int, words string) {
	writeOCS(w, status, status, words, []any{})
}

func (o ocsShares) create(w http.ResponseWriter, r *http.Request, user string) {
	if o.shares.limited(user) {
		w.Header().Set("Content-Type", "text/html; charset=UTF-8")
		w.WriteHeader(http.StatusTooManyRequests) // with nothing else
		return
	}
	n, ok := o.node(w, r, user)
	if !ok {
		return
	}
	made := madeShare{label: r.FormValue("name")}
	if o.nextcloud {
		made.label = r.FormValue("label")
	}
	made.kind, _ = strconv.Atoi(r.FormValue("shareType"))
	made.permissions, _ = strconv.Atoi(r.FormValue("permissions"))
	if !n.isDir() {
		made.permissions &^= mayCreate | mayDelete
	}
	if made.ends, ok = o.date(w, r); !ok {
		return
	}
	switch made.kind {
	case shareLink:
		made.password = r.FormValue("password")
		made.permissions = o.linkPermissions(made.permissions)
		if !o.allowed(w, &made) {
			return
		}
	case shareUser:
		if made.with = r.FormValue("shareWith"); !o.guest(w, user, made.with) {
			return
		}
		for _, each := range o.shares.of(n) {
			if each.kind == shareUser && each.with == made.with {
				o.fine(w, o.tell(each)) // as it is, whatever was asked for
				return
			}
		}
	default:
		o.unknown(w, r)
		return
	}
	o.fine(w, o.tell(o.shares.add(n, made)))
}

// linkPermissions are those that a link gets: Nextcloud lets other servers mount it, ownCloud knows three kinds.
func (o ocsShares) linkPermissions(asked int) int {
	switch all := mayRead | mayUpdate | mayCreate | mayDelete; {
	case o.nextcloud && asked&mayRead != 0:
		return asked | mayShare
	case o.nextcloud, asked == all, asked == mayRead|mayCreate, asked == mayCreate:
		return asked
	}
	return mayRead
}

// date reads the end that is asked for. An empty one is none.
func (o ocsShares) date(w http.ResponseWriter, r *http.Request) (ends time.Time, ok bool) {
	asked := r.FormValue("expireDate")
	if asked == "" {
		return time.Time{}, true
	}
	ends, err := time.Parse(time.DateOnly, asked)
	if err != nil || !ends.After(o.clock.Now().UTC()) {
		o.refuse(w, http.StatusNotFound, "Expiration date is in the past")
		return time.Time{}, false
	}
	return ends, true
}

// allowed holds a link to the rules.
func (o ocsShares) allowed(w http.ResponseWriter, link *madeShare) bool {
	rules := o.shares.current()
	latest := o.clock.Now().UTC().Truncate(24*time.Hour).AddDate(0, 0, rules.Days)
	switch {
	case rules.Off:
		o.refuse(w, http.StatusNotFound, "Public link sharing is disabled by the administrator")
	case rules.Password && link.password == "":
		o.refuse(w, http.StatusForbidden, "Passwords are enforced for link and mail shares")
	case link.password != "" && len(link.password) < 8:
		o.refuse(w, http.StatusBadRequest, "Password needs to be at least 8 characters long")
	case rules.Days > 0 && !rules.Default && link.ends.After(latest):
		o.refuse(w, http.StatusNotFound, "Cannot set expiration date more than "+strconv.Itoa(rules.Days)+" days in the future")
	default:
		if rules.Days > 0 && link.ends.IsZero() && link.id == "" {
			link.ends = latest
		}
		return true
	}
	return false
}

// guest tells whether a user can be shared with.
func (o ocsShares) guest(w http.ResponseWriter, user, guest string) bool {
	_, known := o.users[guest]
	switch {
	case !known:
		o.refuse(w, http.StatusNotFound, "Please specify a valid account to share with")
	case guest == user:
		o.refuse(w, http.StatusForbidden, "Cannot share with yourself")
	default:
		return true
	}
	return false
}

// one serves a single share. That of another is not there.
func (o ocsShares) one(w http.ResponseWriter, r *http.Request, user, id string) {
	share, ok := o.shares.by(id)
	if !ok || share.owner != user {
		o.refuse(w, http.StatusNotFound, "Wrong share ID, share does not exist")
		return
	}
	switch r.Method {
	case http.MethodGet:
		o.fine(w, []any{o.tell(share)})
	case http.MethodPut:
		o.change(w, r, share)
	case http.MethodDelete:
		o.shares.remove(id)
		o.fine(w, []any{})
	default:
		o.unknown(w, r)
	}
}

func (o ocsShares) change(w http.ResponseWriter, r *http.Request, share madeShare) {
	_ = r.FormValue("") // reads the form
	if asked := r.PostForm["permissions"]; asked != nil {
		share.permissions, _ = strconv.Atoi(asked[0])
		if share.kind == shareLink {
			share.permissions = o.linkPermissions(share.permissions)
		}
	}
	if r.PostForm.Has("password") {
		share.password = r.PostForm.Get("password")
	}
	if r.PostForm.Has("expireDate") {
		ends, ok := o.date(w, r)
		if !ok {
			return
		}
		share.ends = ends
	}
	if share.kind == shareLink && !o.allowed(w, &share) {
		return
	}
	if rules := o.shares.current(); rules.Careless {
		share.permissions |= mayUpdate
	}
	o.shares.update(share)
	o.fine(w, o.tell(share))
}

// capabilities are the recorded ones, with the rules in force.
func (s *server) capabilities(w http.ResponseWriter, recorded []byte) {
	if rules := s.shares.current(); rules != (LinkRules{}) {
		recorded = ruled(recorded, rules)
	}
	writeRecorded(w, recorded)
}
