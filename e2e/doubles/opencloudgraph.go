package doubles

import (
	_ "embed"
	"encoding/json"
	"net/http"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
)

// The roles that shares are made with here.
const (
	roleViewer       = "b1e2218d-eef8-4d4c-b82d-0f1a1b48f3b5"
	roleFileEditor   = "2d00ce52-1fc2-4dbc-8b95-a73b73395f5a"
	roleFolderEditor = "fb6c3e19-e378-47e5-b277-9732f9de6e21"
)

//go:embed testdata/opencloud-capabilities.json
var openCloudCapabilities []byte

func (o *OpenCloud) ocsCapabilities(w http.ResponseWriter, r *http.Request) {
	if r.Method != http.MethodGet || !asksJSON(r) {
		o.unknown(w, r)
		return
	}
	if _, ok := o.come(w, r); ok {
		w.Header().Set("Ocs-Api-Version", "2")
		writeRecorded(w, ruled(openCloudCapabilities, o.shares.current()))
	}
}

// graphShareRoutes are those of the shares of items (services/graph/pkg/service/v0/api_driveitem_permissions*.go). The host
// is installed so that each link has a password: SetLinkRules changes that.
func (o *OpenCloud) graphShareRoutes(mux *http.ServeMux) {
	const item = "/graph/v1beta1/drives/{drive}/items/{item}"
	for route, serve := range map[string]func(http.ResponseWriter, *http.Request, node){
		"GET /graph/v1.0/drives/{drive}/items/{item}":    o.graphItem,
		"GET " + item + "/permissions":                   o.graphPermissions,
		"POST " + item + "/createLink":                   o.graphCreateLink,
		"POST " + item + "/invite":                       o.graphInvite,
		"PATCH " + item + "/permissions/{id}":            o.graphChange,
		"POST " + item + "/permissions/{id}/setPassword": o.graphSetPassword,
		"DELETE " + item + "/permissions/{id}":           o.graphRemove,
	} {
		mux.HandleFunc(route, func(w http.ResponseWriter, r *http.Request) { o.onItem(w, r, serve) })
	}
	mux.HandleFunc("GET /graph/v1.0/drives/{drive}", o.graphDrive)
	mux.HandleFunc("GET "+item+"/permissions/{id}", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusMethodNotAllowed) })
}

func graphError(w http.ResponseWriter, status int, code, message string) {
	writeGraph(w, status, map[string]any{"error": map[string]any{
		"code": code, "message": message, "innererror": map[string]any{"date": "2026-11-20T17:49:26Z", "request-id": token(16)},
	}})
}

// writeGraph names no character set, unlike the rest of the host.
func writeGraph(w http.ResponseWriter, status int, body any) {
	raw, err := json.Marshal(body)
	if err != nil {
		panic(err) // nothing but maps and texts is written
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_, _ = w.Write(raw)
}

func invalidRequest(w http.ResponseWriter, message string) {
	graphError(w, http.StatusBadRequest, "invalidRequest", message)
}

// onItem serves what is about an item of the caller's own space. What is another's is not there.
func (o *OpenCloud) onItem(w http.ResponseWriter, r *http.Request, serve func(http.ResponseWriter, *http.Request, node)) {
	user, ok := o.come(w, r)
	if !ok {
		return
	}
	o.faults.Serve(w, r, user, r.URL.Path, func(w http.ResponseWriter, r *http.Request) {
		n, at, found := o.find(user, r.PathValue("item"))
		found = found && at.share == nil && at.role == Manager
		if r.PathValue("item") == spaceID(user)+"!"+userID(user) {
			top, err := o.disk.find(user, "/")
			n, found = top, err == nil
		}
		if !found || r.PathValue("drive") != spaceID(n.user) {
			graphError(w, http.StatusNotFound, "itemNotFound", "stat: error: not found: "+r.PathValue("item"))
			return
		}
		serve(w, r, n)
	})
}

func (o *OpenCloud) graphDrive(w http.ResponseWriter, r *http.Request) {
	user, ok := o.come(w, r)
	if !ok {
		return
	}
	if r.PathValue("drive") != spaceID(user) {
		graphError(w, http.StatusNotFound, "itemNotFound", "no drive returned from storage")
		return
	}
	writeGraph(w, http.StatusOK, map[string]any{
		"driveAlias": "personal/" + user, "driveType": "personal", "id": spaceID(user), "name": o.users[user].DisplayName,
		"owner": map[string]any{"user": map[string]any{"displayName": "", "id": userID(user)}},
		"root":  map[string]any{"id": spaceID(user)}, "webUrl": o.Origin() + "/f/" + spaceID(user),
	})
}

func (o *OpenCloud) graphItem(w http.ResponseWriter, _ *http.Request, n node) {
	told := map[string]any{
		"eTag": openCloudETag(n), "id": resourceID(n), "name": n.name(), "size": o.disk.size(n), "lastModifiedDateTime": n.info.ModTime().UTC(),
	}
	if n.path != "/" {
		if parent, err := o.disk.find(n.user, path.Dir(n.path)); err == nil {
			told["parentReference"] = map[string]any{
				"driveId": spaceID(n.user), "driveType": "personal", "id": resourceID(parent), "name": displayName(parent), "path": parent.path,
			}
		}
	}
	writeGraph(w, http.StatusOK, told)
}

func (o *OpenCloud) identity(user string) map[string]any {
	return map[string]any{"user": map[string]any{"@libre.graph.userType": "Member", "displayName": o.users[user].DisplayName, "id": userID(user)}}
}

// permission is a share as the host tells it.
func (o *OpenCloud) permission(s madeShare) map[string]any {
	told := map[string]any{"id": s.id, "createdDateTime": s.at.UTC()}
	if !s.ends.IsZero() {
		told["expirationDateTime"] = s.ends.UTC()
	}
	edit := s.permissions&mayUpdate != 0
	switch s.kind {
	case shareLink:
		kind := "view"
		if edit {
			kind = "edit"
		}
		told["hasPassword"] = s.password != ""
		told["link"] = map[string]any{
			"@libre.graph.displayName": s.label, "@libre.graph.quickLink": false, "preventsDownload": false, "type": kind,
			"webUrl": o.Origin() + "/s/" + s.token,
		}
	case shareGroup:
		told["grantedToV2"] = map[string]any{"group": map[string]any{"displayName": s.with, "id": uuid("group " + s.with)}}
		told["roles"] = []string{roleViewer}
	default:
		told["grantedToV2"], told["invitation"] = o.identity(s.with), map[string]any{"invitedBy": o.identity(s.owner)}
		told["roles"] = []string{roleViewer}
		switch {
		case edit && s.folder:
			told["roles"] = []string{roleFolderEditor}
		case edit:
			told["roles"] = []string{roleFileEditor}
		}
	}
	return told
}

func (o *OpenCloud) graphPermissions(w http.ResponseWriter, _ *http.Request, n node) {
	listed := []any{}
	for _, each := range o.shares.of(n) {
		listed = append(listed, o.permission(each))
	}
	writeGraph(w, http.StatusOK, map[string]any{
		"@libre.graph.permissions.actions.allowedValues": []string{
			"libre.graph/driveItem/permissions/create", "libre.graph/driveItem/content/read", "libre.graph/driveItem/permissions/read",
			"libre.graph/driveItem/permissions/update", "libre.graph/driveItem/permissions/delete",
		},
		"@libre.graph.permissions.roles.allowedValues": []any{map[string]any{"id": roleViewer, "displayName": "Can view"}},
		"value": listed,
	})
}

// readGraph reads a body, of which the host knows all fields.
func readGraph(w http.ResponseWriter, r *http.Request, into any) bool {
	decoder := json.NewDecoder(r.Body)
	decoder.DisallowUnknownFields()
	if decoder.Decode(into) != nil {
		invalidRequest(w, "invalid body schema definition")
		return false
	}
	return true
}

func linkPermissions(folder bool, kind string) (int, bool) {
	switch {
	case kind == "view":
		return mayRead, true
	case kind == "edit" && folder:
		return mayRead | mayUpdate | mayCreate | mayDelete, true
	case kind == "edit":
		return mayRead | mayUpdate, true
	}
	return 0, false
}

func (o *OpenCloud) graphCreateLink(w http.ResponseWriter, r *http.Request, n node) {
	var asked struct {
		Type        string     `json:"type"`
		Password    string     `json:"password"`
		Expires     *time.Time `json:"expirationDateTime"`
		DisplayName string     `json:"displayName"`
	}
	if !readGraph(w, r, &asked) {
		return
	}
	made := madeShare{kind: shareLink, label: asked.DisplayName, password: asked.Password}
	var ok bool
	switch made.permissions, ok = linkPermissions(n.isDir(), asked.Type); {
	case !ok:
		invalidRequest(w, "invalid link type")
		return
	case n.path == "/":
		invalidRequest(w, "cannot create link on personal space root")
		return
	}
	if made.ends, ok = o.lastMoment(w, asked.Expires); !ok || !o.passwordTaken(w, asked.Password) {
		return
	}
	writeGraph(w, http.StatusOK, o.permission(o.shares.add(n, made)))
}

// lastMoment fills a day up to its end.
func (o *OpenCloud) lastMoment(w http.ResponseWriter, asked *time.Time) (time.Time, bool) {
	if asked == nil {
		return time.Time{}, true
	}
	ends := time.Date(asked.Year(), asked.Month(), asked.Day(), 23, 59, 59, 0, asked.Location()).UTC()
	if ends.Before(o.clock.Now()) {
		invalidRequest(w, "expiration date is in the past: "+ends.Format(time.RFC3339))
		return time.Time{}, false
	}
	return ends, true
}

// passwordTaken holds a password to the policy with which the host is installed.
func (o *OpenCloud) passwordTaken(w http.ResponseWriter, password string) bool {
	var problems []string
	if len(password) < 8 {
		problems = append(problems, "at least 8 characters are required")
	}
	for what, is := range map[string]func(rune) bool{
		"lowercase letters": unicode.IsLower, "uppercase letters": unicode.IsUpper, "numbers": unicode.IsDigit,
		"special characters": func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) },
	} {
		if !strings.ContainsFunc(password, is) {
			problems = append(problems, "at least 1 "+what+" are required")
		}
	}
	switch {
	case password == "" && o.shares.current().Password:
		invalidRequest(w, "password protection is enforced")
	case password != "" && len(problems) > 0:
		slices.Sort(problems)
		invalidRequest(w, strings.Join(problems, "\n"))
	default:
		return true
	}
	return false
}

func (o *OpenCloud) graphInvite(w http.ResponseWriter, r *http.Request, n node) {
	var asked struct {
		Recipients []struct {
			ID   string `json:"objectId"`
			Type string `json:"@libre.graph.recipient.type"`
		} `json:"recipients"`
		Roles []string `json:"roles"`
	}
	if !readGraph(w, r, &asked) {
		return
	}
	if len(asked.Recipients) != 1 || len(asked.Roles) != 1 {
		invalidRequest(w, "invalid request body")
		return
	}
	guest, ok := o.named(asked.Recipients[0].ID, "")
	permissions, applicable := rolePermissions(n.isDir(), asked.Roles[0])
	switch {
	case !ok:
		invalidRequest(w, "itemNotFound: not found")
		return
	case !applicable:
		invalidRequest(w, "role not applicable to this resource")
		return
	}
	for _, each := range o.shares.of(n) {
		if each.kind == shareUser && each.with == guest {
			graphError(w, http.StatusConflict, "nameAlreadyExists", "error creating share: error: already exists: resource_id:{...}")
			return
		}
	}
	made := o.shares.add(n, madeShare{kind: shareUser, permissions: permissions, with: guest})
	writeGraph(w, http.StatusOK, map[string]any{"value": []any{o.permission(made)}})
}

func rolePermissions(folder bool, role string) (int, bool) {
	switch {
	case role == roleViewer:
		return mayRead, true
	case role == roleFileEditor && !folder, role == roleFolderEditor && folder:
		return linkPermissions(folder, "edit")
	}
	return 0, false
}

// share finds a share by the id in the address. One of another item is refused.
func (o *OpenCloud) share(w http.ResponseWriter, r *http.Request, n node) (madeShare, bool) {
	share, ok := o.shares.by(r.PathValue("id"))
	switch {
	case !ok || share.owner != n.user:
		graphError(w, http.StatusNotFound, "itemNotFound", `error: not found: opaque_id:"`+r.PathValue("id")+`"`)
	case share.item != n.id():
		invalidRequest(w, "permissionID and itemID do not match")
	default:
		return share, true
	}
	return madeShare{}, false
}

func (o *OpenCloud) graphChange(w http.ResponseWriter, r *http.Request, n node) {
	share, ok := o.share(w, r, n)
	if !ok {
		return
	}
	var asked map[string]json.RawMessage
	if !readGraph(w, r, &asked) {
		return
	}
	if len(asked) == 0 {
		w.WriteHeader(http.StatusBadGateway) // as it does
		return
	}
	if raw, told := asked["expirationDateTime"]; told {
		var ends *time.Time
		if json.Unmarshal(raw, &ends) != nil {
			invalidRequest(w, "invalid request body")
			return
		}
		if share.ends, ok = o.lastMoment(w, ends); !ok {
			return
		}
	}
	var link struct{ Type string }
	var roles []string
	_ = json.Unmarshal(asked["link"], &link)
	_ = json.Unmarshal(asked["roles"], &roles)
	permissions, known := linkPermissions(n.isDir(), link.Type)
	if len(roles) == 1 {
		permissions, known = rolePermissions(n.isDir(), roles[0])
	}
	if known {
		share.permissions = permissions
	}
	o.shares.update(share)
	writeGraph(w, http.StatusOK, o.permission(share))
}

func (o *OpenCloud) graphSetPassword(w http.ResponseWriter, r *http.Request, n node) {
	share, ok := o.share(w, r, n)
	if !ok {
		return
	}
	var asked struct {
		Password string `json:"password"`
	}
	if !readGraph(w, r, &asked) || !o.passwordTaken(w, asked.Password) {
		return
	}
	share.password = asked.Password
	o.shares.update(share)
	writeGraph(w, http.StatusOK, o.permission(share))
}

func (o *OpenCloud) graphRemove(w http.ResponseWriter, r *http.Request, n node) {
	if share, ok := o.share(w, r, n); ok {
		o.shares.remove(share.id)
		w.WriteHeader(http.StatusNoContent)
	}
}
