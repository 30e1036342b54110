package remote

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// graphHost is a host with LibreGraph that does as it is told. Its only space is "storage$space", with the items file, inner
// and outer in each other.
type graphHost struct {
	t           *testing.T
	drive       map[string]any
	permissions map[string][]any // by item
	blind       []string         // items of which the user may not see all shares
	closed      []string         // items that are not there for the user
	link        map[string]any   // what a link is told to be like
	refuse      func(w http.ResponseWriter, r *http.Request) bool
	capable     string
	makers      map[string]string // who has made a link, as OCS tells it

	mu     sync.Mutex // one request at a time
	seen   []string
	bodies []string
}

const ownSpace = "storage$space"

var parents = map[string]string{ownSpace + "!file": ownSpace + "!inner", ownSpace + "!inner": ownSpace + "!outer", ownSpace + "!outer": ownSpace + "!space"}

func (g *graphHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	defer g.mu.Unlock()
	var sent any
	if r.Method != http.MethodGet && json.NewDecoder(r.Body).Decode(&sent) == nil {
		encoded, _ := json.Marshal(sent)
		g.bodies = append(g.bodies, string(encoded))
	}
	g.seen = append(g.seen, r.Method+" "+r.URL.Path)
	if g.refuse != nil && g.refuse(w, r) {
		return
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /graph/v1.0/drives/{drive}", g.tellDrive)
	mux.HandleFunc("GET /graph/v1.0/drives/{drive}/items/{item}", g.tellItem)
	mux.HandleFunc("GET /graph/v1.0/users/{id}", tellUser)
	mux.HandleFunc("GET /graph/v1beta1/drives/{drive}/items/{item}/permissions", g.tellPermissions)
	mux.HandleFunc("POST /graph/v1beta1/drives/{drive}/items/{item}/createLink", g.createLink)
	mux.HandleFunc("POST /graph/v1beta1/drives/{drive}/items/{item}/invite", g.invite)
	mux.HandleFunc("DELETE /graph/v1beta1/drives/{drive}/items/{item}/permissions/{id}", g.remove)
	mux.HandleFunc("PATCH /graph/v1beta1/drives/{drive}/items/{item}/permissions/{id}", status(http.StatusOK))
	mux.HandleFunc("POST /graph/v1beta1/drives/{drive}/items/{item}/permissions/{id}/setPassword", status(http.StatusOK))
	mux.HandleFunc("GET /ocs/v2.php/cloud/capabilities", func(w http.ResponseWriter, _ *http.Request) {
		writeOCS(w, http.StatusOK, 200, "OK", json.RawMessage(`{"capabilities":{"files_sharing":`+g.capable+`}}`))
	})
	mux.HandleFunc("GET "+ocsSharesPath+"/{id}", func(w http.ResponseWriter, r *http.Request) {
		writeOCS(w, http.StatusOK, 200, "OK", []any{map[string]any{"id": r.PathValue("id"), "share_type": 3, "uid_owner": g.makers[r.PathValue("id")]}})
	})
	mux.ServeHTTP(w, r)
}

func tell(w http.ResponseWriter, code int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(body)
}

func tellError(w http.ResponseWriter, code int, message string) {
	tell(w, code, map[string]any{"error": map[string]any{"code": "x", "message": message}})
}

func (g *graphHost) tellDrive(w http.ResponseWriter, r *http.Request) {
	if g.drive == nil || r.PathValue("drive") != ownSpace {
		tellError(w, http.StatusNotFound, "no drive returned from storage")
		return
	}
	tell(w, http.StatusOK, g.drive)
}

func (g *graphHost) tellItem(w http.ResponseWriter, r *http.Request) {
	item := r.PathValue("item")
	if slices.Contains(g.closed, item) {
		tellError(w, http.StatusNotFound, "stat: error: not found: "+item)
		return
	}
	told := map[string]any{"id": item}
	if parent, ok := parents[item]; ok {
		told["parentReference"] = map[string]any{"id": parent}
	}
	tell(w, http.StatusOK, told)
}

func tellUser(w http.ResponseWriter, r *http.Request) {
	name, ok := strings.CutPrefix(r.PathValue("id"), "id-of-")
	if !ok {
		name = r.PathValue("id")
	}
	if name == "ghost" || strings.HasPrefix(name, "nobody") {
		tellError(w, http.StatusNotFound, "not found")
		return
	}
	tell(w, http.StatusOK, map[string]any{"id": "id-of-" + name, "onPremisesSamAccountName": name, "accountEnabled": true})
}

func (g *graphHost) tellPermissions(w http.ResponseWriter, r *http.Request) {
	allowed := []string{"libre.graph/driveItem/content/read", graphReadShares}
	if slices.Contains(g.blind, r.PathValue("item")) {
		allowed = allowed[:1]
	}
	if slices.Contains(g.closed, r.PathValue("item")) {
		tellError(w, http.StatusForbidden, "no")
		return
	}
	tell(w, http.StatusOK, map[string]any{"@libre.graph.permissions.actions.allowedValues": allowed, "value": g.permissions[r.PathValue("item")]})
}

func (g *graphHost) createLink(w http.ResponseWriter, r *http.Request) {
	made := g.link
	if made == nil {
		made = graphLink("new", "view", "hasPassword", true)
	}
	g.permissions[r.PathValue("item")] = append(g.permissions[r.PathValue("item")], made)
	tell(w, http.StatusOK, made)
}

func (g *graphHost) invite(w http.ResponseWriter, r *http.Request) {
	made := g.link
	if made == nil {
		made = graphShare("new", graphViewer, "bob")
	}
	g.permissions[r.PathValue("item")] = append(g.permissions[r.PathValue("item")], made)
	tell(w, http.StatusOK, map[string]any{"value": []any{made}})
}

func (g *graphHost) remove(w http.ResponseWriter, r *http.Request) {
	item := r.PathValue("item")
	g.permissions[item] = slices.DeleteFunc(g.permissions[item], func(p any) bool { return p.(map[string]any)["id"] == r.PathValue("id") })
	w.WriteHeader(http.StatusNoContent)
}

func graphLink(id, kind string, changes ...any) map[string]any {
	return with(map[string]any{"id": id, "hasPassword": false, "link": map[string]any{
		"type": kind, "webUrl": "https://elsewhere.example/s/TOKEN" + id, "@libre.graph.displayName": "",
	}}, changes...)
}

func graphShare(id, role, user string) map[string]any {
	return map[string]any{
		"id": id, "roles": []string{role}, "grantedToV2": map[string]any{"user": map[string]any{"id": "id-of-" + user, "@libre.graph.userType": "Member"}},
		"invitation": map[string]any{"invitedBy": map[string]any{"user": map[string]any{"id": "id-of-alice"}}},
	}
}

var (
	driveItemFile = filehost.Entry{Path: mustPath("/outer/inner/file"), HostID: ownSpace + "!file", Kind: filehost.File, Permissions: ownedFile}
	ownDrive      = map[string]any{"driveType": "personal", "owner": map[string]any{"user": map[string]any{"id": "id-of-alice"}}, "root": map[string]any{"id": ownSpace}}
	teamDrive     = map[string]any{"driveType": "project", "root": map[string]any{"id": ownSpace}}
)

func graphOf(t *testing.T, host *graphHost) *Client {
	t.Helper()
	host.t = t
	if host.permissions == nil {
		host.permissions = map[string][]any{}
	}
	if host.capable == "" {
		host.capable = noRules
	}
	return sharesOf(t, "opencloud", host)
}

func TestAccessOfADriveItem(t *testing.T) {
	denied := graphShare("12", graphDenied, "dave")
	host := &graphHost{drive: ownDrive, permissions: map[string][]any{
		ownSpace + "!file": {
			graphShare("1", graphViewer, "bob"), graphLink("2", "edit", "hasPassword", true, "expirationDateTime", "2027-01-31T23:59:59Z"),
			graphLink("3", "internal"), graphLink("4", "createOnly"), graphLink("5", "view", "expirationDateTime", "2026-11-20T23:59:59Z"),
			graphShare("6", graphViewer, "ghost"), graphShare("7", "a role of tomorrow", "carol"), denied,
			with(graphShare("8", graphViewer, "bob"), "grantedToV2", map[string]any{"user": map[string]any{"id": "id-of-bob", "@libre.graph.userType": "Federated"}}),
			with(graphShare("9", "", ""), "roles", nil, "@libre.graph.permissions.actions", []string{"libre.graph/driveItem/content/read", "libre.graph/driveItem/upload/create"},
				"grantedToV2", map[string]any{"group": map[string]any{"id": "g", "displayName": "staff"}}),
		},
		ownSpace + "!outer": {graphShare("10", graphFolderEditor, "dave"), graphShare("11", graphFolderEditor, "erin")},
		ownSpace + "!space": {graphShare("13", "312c0871-5ef7-4b3a-85b6-0e4074c64049", "frank")},
	}}
	client := graphOf(t, host)
	access, err := client.Access(t.Context(), alice, driveItemFile)
	require.NoError(t, err)
	link := client.host.Origin() + "/s/TOKEN2"
	assert.Equal(t, filehost.Access{Owner: "alice", Complete: true, Shares: []filehost.HostShare{
		{ID: "1", With: filehost.WithUser, Account: "bob", Permission: filehost.MayView},
		{ID: "2", With: filehost.WithAnyone, Permission: filehost.MayEdit, URL: link, Password: true, ExpiresAt: time.Date(2027, 1, 31, 23, 59, 59, 0, time.UTC)},
		{ID: "6", With: filehost.WithOthers, Permission: filehost.MayView},
		{ID: "8", With: filehost.WithOthers, Permission: filehost.MayView},
		{ID: "9", With: filehost.WithGroup, Account: "staff", Permission: filehost.MayEdit},
		{ID: "11", With: filehost.WithUser, Account: "erin", Permission: filehost.MayEdit},
		{ID: "13", With: filehost.WithUser, Account: "frank", Permission: filehost.MayEdit},
	}}, access, "dave is kept out, whatever the folder above lets him do")
	lookups := 0
	for _, each := range host.seen {
		if strings.HasSuffix(each, "/users/id-of-bob") {
			lookups++
		}
	}
	assert.Equal(t, 1, lookups)
}

func TestAccessOfADriveItemIsCompleteIfAllIsTold(t *testing.T) {
	groupDenied := map[string]any{"id": "1", "roles": []string{graphDenied}, "grantedToV2": map[string]any{"group": map[string]any{"id": "g", "displayName": "staff"}}}
	for name, test := range map[string]struct {
		host     *graphHost
		owner    string
		complete bool
	}{
		"his own":                    {&graphHost{drive: ownDrive}, "alice", true},
		"a team's":                   {&graphHost{drive: teamDrive}, "", true},
		"a team's that hides shares": {&graphHost{drive: teamDrive, blind: []string{ownSpace + "!space"}}, "", false},
		"shares of it are hidden":    {&graphHost{drive: ownDrive, blind: []string{ownSpace + "!file"}}, "alice", false},
		"another's":                  {&graphHost{}, "", false},
		"the folder above is hidden": {&graphHost{drive: teamDrive, closed: []string{ownSpace + "!outer"}}, "", false},
		"a group is kept out":        {&graphHost{drive: ownDrive, permissions: map[string][]any{ownSpace + "!inner": {groupDenied}}}, "alice", false},
	} {
		access, err := graphOf(t, test.host).Access(t.Context(), alice, driveItemFile)
		require.NoError(t, err, name)
		assert.Equal(t, test.owner, access.Owner, name)
		assert.Equal(t, test.complete, access.Complete, name)
	}
	for _, id := range []string{"", "7", ownSpace} {
		top := filehost.Entry{HostID: id, Kind: filehost.Folder}
		_, err := graphOf(t, &graphHost{drive: ownDrive}).Access(t.Context(), alice, top)
		assert.Equal(t, filehost.Unsupported, filehost.KindOf(err), id)
	}
}

func TestAnEndlessLineOfFoldersIsCutOff(t *testing.T) {
	host := &graphHost{drive: teamDrive}
	host.refuse = func(w http.ResponseWriter, r *http.Request) bool {
		item, ok := strings.CutPrefix(r.URL.Path, "/graph/v1.0/drives/"+ownSpace+"/items/")
		if ok {
			tell(w, http.StatusOK, map[string]any{"id": item, "parentReference": map[string]any{"id": item + "x"}})
		}
		return ok
	}
	access, err := graphOf(t, host).Access(t.Context(), alice, driveItemFile)
	require.NoError(t, err)
	assert.False(t, access.Complete)
	assert.LessOrEqual(t, len(host.seen), 2*(mostAbove+2))
}

func TestManyPeopleAreNotAllLookedUp(t *testing.T) {
	host := &graphHost{drive: ownDrive, permissions: map[string][]any{}}
	for i := range 2 * mostNamed {
		host.permissions[ownSpace+"!file"] = append(host.permissions[ownSpace+"!file"], graphShare(strconv.Itoa(i), graphViewer, "user"+strconv.Itoa(i)))
	}
	access, err := graphOf(t, host).Access(t.Context(), alice, driveItemFile)
	require.NoError(t, err)
	assert.Len(t, access.Shares, 2*mostNamed)
	assert.Equal(t, filehost.WithOthers, access.Shares[2*mostNamed-1].With)
	assert.LessOrEqual(t, len(host.seen), mostNamed+20)
}

func TestALinkOfADriveItem(t *testing.T) {
	host := &graphHost{drive: ownDrive, link: graphLink("new", "edit", "hasPassword", true, "expirationDateTime", "2026-11-27T23:59:59Z")}
	client := graphOf(t, host)
	link, reused, err := client.CreateLink(t.Context(), alice, driveItemFile, filehost.LinkWish{
		Permission: filehost.MayEdit, Password: filehost.NewSecret("secret"), ExpiresAt: now.AddDate(0, 0, 7), Label: "Mattermost",
	})
	require.NoError(t, err)
	assert.False(t, reused)
	assert.Equal(t, client.host.Origin()+"/s/TOKENnew", link.URL)
	assert.JSONEq(t, `{"type":"edit","password":"secret","displayName":"Mattermost","expirationDateTime":"2026-11-27T23:59:59Z"}`, host.bodies[0], "a day of this host ends at midnight")

	for name, made := range map[string]map[string]any{
		"it lets people edit": graphLink("new", "edit", "hasPassword", true, "expirationDateTime", "2026-11-27T23:59:59Z"),
		"it has no password":  graphLink("new", "view", "expirationDateTime", "2026-11-27T23:59:59Z"),
		"it has no end":       graphLink("new", "view", "hasPassword", true),
		"it ends later":       graphLink("new", "view", "hasPassword", true, "expirationDateTime", "2026-11-28T23:59:59Z"),
		"it is no link":       graphShare("new", graphViewer, "bob"),
	} {
		host := &graphHost{drive: ownDrive, link: made}
		_, _, err := graphOf(t, host).CreateLink(t.Context(), alice, driveItemFile, filehost.LinkWish{
			Permission: filehost.MayView, Password: filehost.NewSecret("secret"), ExpiresAt: now.AddDate(0, 0, 7),
		})
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", name, err)
		assert.Empty(t, host.permissions[ownSpace+"!file"], name)
	}
}

// TestALinkIsTakenAgainInOnesOwnSpaceOnly: LibreGraph doesn't say who has made a link.
func TestALinkIsTakenAgainInOnesOwnSpaceOnly(t *testing.T) {
	for name, test := range map[string]struct {
		drive map[string]any
		link  map[string]any
		want  bool
	}{
		"his own space":   {ownDrive, graphLink("1", "view"), true},
		"a team's":        {teamDrive, graphLink("1", "view"), false},
		"another's":       {nil, graphLink("1", "view"), false},
		"bob's own":       {map[string]any{"driveType": "personal", "owner": map[string]any{"user": map[string]any{"id": "id-of-bob"}}}, graphLink("1", "view"), false},
		"no download":     {ownDrive, graphLink("1", "blocksDownload"), false},
		"to hand in":      {ownDrive, graphLink("1", "createOnly"), false},
		"internal":        {ownDrive, graphLink("1", "internal"), false},
		"with a password": {ownDrive, graphLink("1", "view", "hasPassword", true), false},
	} {
		host := &graphHost{drive: test.drive, permissions: map[string][]any{ownSpace + "!file": {test.link}}, link: graphLink("new", "view")}
		link, reused, err := graphOf(t, host).CreateLink(t.Context(), alice, driveItemFile, view)
		require.NoError(t, err, name)
		assert.Equal(t, test.want, reused, name)
		assert.Equal(t, test.want, link.ID == "1", name)
	}
}

func TestWhatLibreGraphRefusesNamesTheField(t *testing.T) {
	secret := filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("hunter2hunter2")}
	until := filehost.LinkWish{Permission: filehost.MayView, ExpiresAt: now.AddDate(0, 0, 7)}
	for name, test := range map[string]struct {
		status int
		words  string
		wish   filehost.LinkWish
		kind   filehost.Kind
		field  string
	}{
		"no password":         {400, "password protection is enforced", view, filehost.InvalidRequest, "password"},
		"a weak password":     {400, "at least 8 characters are required\nat least 1 numbers are required", secret, filehost.InvalidRequest, "password"},
		"too late an end":     {400, "expiration date is too far in the future", until, filehost.InvalidRequest, "expires_at"},
		"no right":            {400, "no share permission", secret, filehost.Forbidden, ""},
		"somebody was faster": {409, "", view, filehost.Conflict, ""},
		"no right by role":    {403, "no permission to create public links", view, filehost.Forbidden, ""},
	} {
		host := &graphHost{drive: ownDrive, refuse: func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method == http.MethodPost {
				tellError(w, test.status, test.words)
			}
			return r.Method == http.MethodPost
		}}
		_, _, err := graphOf(t, host).CreateLink(t.Context(), alice, driveItemFile, test.wish)
		var said *filehost.Error
		require.ErrorAs(t, err, &said, name)
		assert.Equal(t, test.kind.Code(), said.Kind.Code(), "%s: %v", name, err)
		assert.Equal(t, test.field, said.Field, name)
		assert.Contains(t, said.Message, strings.ReplaceAll(test.words, "\n", "; "), name)
	}
}

func TestOnlyOnesOwnSharesOfADriveItemAreFound(t *testing.T) {
	for name, test := range map[string]struct {
		drive  map[string]any
		share  map[string]any
		makers map[string]string
		id     string
		found  bool
	}{
		"his own link":          {drive: ownDrive, share: graphLink("1", "view"), id: "1", found: true},
		"his link in a team's":  {drive: teamDrive, share: graphLink("1", "view"), makers: map[string]string{"1": "alice"}, id: "1", found: true},
		"another's in a team's": {drive: teamDrive, share: graphLink("1", "view"), makers: map[string]string{"1": "bob"}, id: "1"},
		"nobody's in a team's":  {drive: teamDrive, share: graphLink("1", "view"), id: "1"},
		"his invitation":        {drive: teamDrive, share: graphShare("1", graphViewer, "bob"), id: "1", found: true},
		"another's invitation":  {drive: teamDrive, share: with(graphShare("1", graphViewer, "bob"), "invitation", map[string]any{"invitedBy": map[string]any{"user": map[string]any{"id": "id-of-carol"}}}), id: "1"},
		"one of nobody":         {drive: ownDrive, share: with(graphShare("1", graphViewer, "bob"), "invitation", nil), id: "1"},
		"none of the entry's":   {drive: ownDrive, share: graphLink("1", "view"), id: "2"},
	} {
		host := &graphHost{drive: test.drive, permissions: map[string][]any{ownSpace + "!file": {test.share}}, makers: test.makers}
		client := graphOf(t, host)
		_, err := client.ShareOf(t.Context(), alice, driveItemFile, test.id)
		edit := filehost.MayEdit
		_, changeErr := client.ChangeShare(t.Context(), alice, driveItemFile, test.id, filehost.ShareChange{Permission: &edit})
		removeErr := client.RemoveShare(t.Context(), alice, driveItemFile, test.id)
		if test.found {
			require.NoError(t, err, name)
			require.NoError(t, changeErr, name)
			require.NoError(t, removeErr, name)
			assert.Empty(t, host.permissions[ownSpace+"!file"], name)
			continue
		}
		assert.Equal(t, filehost.NotFound, filehost.KindOf(err), "%s: %v", name, err)
		assert.Equal(t, filehost.NotFound, filehost.KindOf(changeErr), "%s: %v", name, changeErr)
		assert.Len(t, host.permissions[ownSpace+"!file"], 1, name)
		assert.Empty(t, host.bodies, name)
	}
}

func TestAnInvitationToADriveItemIsForTheAccountAlone(t *testing.T) {
	host := &graphHost{drive: ownDrive}
	share, err := graphOf(t, host).Invite(t.Context(), alice, driveItemFile, "bob", filehost.MayView)
	require.NoError(t, err)
	assert.Equal(t, filehost.HostShare{ID: "new", With: filehost.WithUser, Account: "bob", Permission: filehost.MayView}, share)
	assert.JSONEq(t, `{"recipients":[{"objectId":"id-of-bob","@libre.graph.recipient.type":"user"}],"roles":["`+graphViewer+`"]}`, host.bodies[0])
	for name, test := range map[string]struct {
		account string
		made    map[string]any
		want    filehost.Kind
	}{
		"nobody":            {"nobody", nil, filehost.NotFound},
		"an id is no name":  {"id-of-bob", nil, filehost.NotFound},
		"another gets it":   {"bob", graphShare("new", graphViewer, "carol"), filehost.HostUnavailable},
		"he may change it":  {"bob", graphShare("new", graphFileEditor, "bob"), filehost.HostUnavailable},
		"everybody gets it": {"bob", graphLink("new", "view"), filehost.HostUnavailable},
	} {
		host := &graphHost{drive: ownDrive, link: test.made}
		_, err := graphOf(t, host).Invite(t.Context(), alice, driveItemFile, test.account, filehost.MayView)
		assert.Equal(t, test.want.Code(), filehost.KindOf(err).Code(), "%s: %v", name, err)
		assert.Empty(t, host.permissions[ownSpace+"!file"], name)
	}
}

func TestWhoIsKeptOutOfADriveItemIsInvitedAnew(t *testing.T) {
	host := &graphHost{drive: ownDrive, permissions: map[string][]any{ownSpace + "!file": {graphShare("1", graphDenied, "bob")}}}
	_, err := graphOf(t, host).Invite(t.Context(), alice, driveItemFile, "bob", filehost.MayView)
	require.NoError(t, err)
	assert.NotContains(t, strings.Join(host.seen, " "), "PATCH", "what keeps him out is no share, and is not made one by the way")
}

func TestWhoMayOnlyReadSharesNoDriveItem(t *testing.T) {
	host := &graphHost{drive: ownDrive, permissions: map[string][]any{ownSpace + "!file": {graphLink("1", "view")}}}
	client := graphOf(t, host)
	edit := filehost.MayEdit
	_, _, link := client.CreateLink(t.Context(), reader(), driveItemFile, filehost.LinkWish{Permission: filehost.MayView, Password: filehost.NewSecret("x")})
	_, invited := client.Invite(t.Context(), reader(), driveItemFile, "bob", filehost.MayView)
	_, changed := client.ChangeShare(t.Context(), reader(), driveItemFile, "1", filehost.ShareChange{Permission: &edit})
	for _, err := range []error{link, invited, changed, client.RemoveShare(t.Context(), reader(), driveItemFile, "1")} {
		assert.Equal(t, filehost.Forbidden, filehost.KindOf(err), "%v", err)
	}
	for _, each := range host.seen {
		assert.True(t, strings.HasPrefix(each, "GET"), each)
	}
}

func TestNonsenseOfLibreGraphIsAnError(t *testing.T) {
	for _, page := range []string{"", "<html>", "[]", `{"value":7}`, `{"value":[{"id":""}]}`} {
		host := &graphHost{drive: ownDrive, refuse: func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, "/permissions") {
				_, _ = w.Write([]byte(page))
			}
			return strings.HasSuffix(r.URL.Path, "/permissions")
		}}
		_, err := graphOf(t, host).Access(t.Context(), alice, driveItemFile)
		assert.Equal(t, filehost.HostUnavailable, filehost.KindOf(err), "%s: %v", page, err)
	}
}
