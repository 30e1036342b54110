package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	graphDrivesPath = "/graph/v1.0/drives/"                    // what drives and their items are
	graphSharesPath = "/graph/v1beta1/drives/"                 // how items are shared
	graphReadShares = "libre.graph/driveItem/permissions/read" // the action of who may see all shares

	graphAtOnce = 4 // requests for one answer
	// mostNamed is how many users' names are asked for to tell who may open an entry.
	mostNamed = 200

	personalDrive = "personal"
)

// graphRoles are the roles of LibreGraph, by their ids: what they let people do who have them. Of a share of another role its
// actions are looked at.
var graphRoles = map[string]filehost.SharePermission{
	"b1e2218d-eef8-4d4c-b82d-0f1a1b48f3b5": filehost.MayView, // viewer
	"d5041006-ebb3-4b4a-b6a4-7c180ecfb17d": filehost.MayView, // viewer who sees shares
	"a8d5fe5e-96e3-418d-825b-534dbdf22b99": filehost.MayView, // space viewer
	"aa97fe03-7980-45ac-9e50-b325749fd7e6": filehost.MayView, // secure viewer
	"2d00ce52-1fc2-4dbc-8b95-a73b73395f5a": filehost.MayEdit, // file editor
	"c1235aea-d106-42db-8458-7d5610fb0a67": filehost.MayEdit, // file editor who sees shares
	"fb6c3e19-e378-47e5-b277-9732f9de6e21": filehost.MayEdit, // folder editor
	"e8ea8b21-abd4-45d2-b893-8d1546378e9e": filehost.MayEdit, // folder editor who sees shares
	"1c996275-f1c9-4e71-abdf-a42f6495e960": filehost.MayEdit, // uploader
	"58c63c02-1d89-4572-916a-870abc5a1b7d": filehost.MayEdit, // space editor
	"3284f2d5-0070-4ad8-ac40-c247f7c1fb27": filehost.MayEdit, // space editor without versions
	"312c0871-5ef7-4b3a-85b6-0e4074c64049": filehost.MayEdit, // space manager
}

// The roles that users are invited with, and the one that keeps somebody out.
const (
	graphViewer       = "b1e2218d-eef8-4d4c-b82d-0f1a1b48f3b5"
	graphFileEditor   = "2d00ce52-1fc2-4dbc-8b95-a73b73395f5a"
	graphFolderEditor = "fb6c3e19-e378-47e5-b277-9732f9de6e21"
	graphDenied       = "63e64e19-8d43-42ec-a738-2b6af2610efa"
)

// graphLinks are the types of links that let people read.
var graphLinks = map[string]filehost.SharePermission{
	"view": filehost.MayView, "blocksDownload": filehost.MayView, "edit": filehost.MayEdit, "upload": filehost.MayEdit,
}

// graphShares shares by LibreGraph, as OpenCloud and ownCloud Infinite Scale have it.
type graphShares struct{ *Client }

// graphIdentity is a user or a group of LibreGraph.
type graphIdentity struct {
	ID          string `json:"id"`
	DisplayName string `json:"displayName"`
	Type        string `json:"@libre.graph.userType"`
}

// graphPermission is a share as LibreGraph tells it.
type graphPermission struct {
	ID      string     `json:"id"`
	Roles   []string   `json:"roles"`
	Actions []string   `json:"@libre.graph.permissions.actions"`
	Expires *time.Time `json:"expirationDateTime"`
	Granted struct {
		User  *graphIdentity `json:"user"`
		Group *graphIdentity `json:"group"`
	} `json:"grantedToV2"`
	Invitation struct {
		By struct {
			User *graphIdentity `json:"user"`
		} `json:"invitedBy"`
	} `json:"invitation"`
	HasPassword bool `json:"hasPassword"`
	Link        *struct {
		Type  string `json:"type"`
		URL   string `json:"webUrl"`
		Label string `json:"@libre.graph.displayName"`
	} `json:"link"`
}

// graphPermissions are those of an item.
type graphPermissions struct {
	Value   few[graphPermission] `json:"value"`
	Allowed []string             `json:"@libre.graph.permissions.actions.allowedValues"` // what the user may do
}

// item is the address of an entry below one of the paths of the API.
func (g graphShares) item(below string, entry filehost.Entry) (string, error) {
	drive, item, ok := driveItem(entry.HostID)
	if !ok {
		return "", filehost.E(filehost.Unsupported, g.host.Name+" does not share this folder.", errors.New("it has no id of an item"))
	}
	return below + url.PathEscape(drive) + "/items/" + url.PathEscape(item), nil
}

// ask asks the API for what is at a path, or changes it by body.
func (g graphShares) ask(ctx context.Context, credential filehost.Credential, method, path string, exchange exchange) error {
	ask := call{
		method: method, url: g.host.Origin() + g.base.Escaped() + path, credential: &credential,
		header: map[string]string{"Accept": "application/json"},
	}
	if exchange.body != nil {
		encoded, err := json.Marshal(exchange.body)
		if err != nil {
			return err
		}
		ask.header["Content-Type"], ask.body = "application/json", encoded
	}
	status, raw, err := g.share(ctx, ask)
	switch {
	case err != nil:
		return err
	case status/100 != 2:
		var answer struct {
			Error struct {
				Message string `json:"message"`
			} `json:"error"`
		}
		if json.Unmarshal(raw, &answer) != nil || status != http.StatusBadRequest && status != http.StatusForbidden {
			return g.no(status, "") // what it says of the others is for its developers
		}
		// What a password lacks is on a line each.
		return g.no(status, strings.ReplaceAll(strings.TrimSpace(answer.Error.Message), "\n", "; "))
	case exchange.into == nil:
		return nil
	}
	if err := json.Unmarshal(raw, exchange.into); err != nil {
		return g.nonsense(fmt.Errorf("the answer is not the JSON expected (%T)", err))
	}
	return nil
}

// exchange is what a request brings, and where its answer goes; nil = neither.
type exchange struct{ body, into any }

// told makes a share of what the API says of it. Only user shares say who has made them.
func (g graphShares) told(ctx context.Context, credential filehost.Credential, p graphPermission, of people) (share, error) {
	made := share{HostShare: filehost.HostShare{ID: p.ID, With: filehost.WithOthers, Permission: filehost.MayView}}
	if p.ID == "" || len(p.ID) > maxNameBytes {
		return share{}, g.nonsense(errors.New("a share has no id"))
	}
	if p.Expires != nil {
		made.ExpiresAt = p.Expires.UTC()
	}
	if p.Link != nil {
		made.Permission, made.reads = graphLinks[p.Link.Type]
		made.With, made.Password, made.Label = filehost.WithAnyone, p.HasPassword, shown(p.Link.Label)
		made.plain, made.mine = p.Link.Type == "view" || p.Link.Type == "edit", of.ownLinks
		made.URL = g.linkURL(p.Link.URL, "/s/", p.Link.URL[strings.LastIndexByte(p.Link.URL, '/')+1:])
		return made, nil
	}
	made.Permission, made.reads = p.lets()
	switch user, group := p.Granted.User, p.Granted.Group; {
	case user != nil && user.Type != "Federated":
		made.HostShare = sharedWith(made.HostShare, filehost.WithUser, of.name(ctx, user.ID))
	case group != nil:
		made.HostShare = sharedWith(made.HostShare, filehost.WithGroup, group.DisplayName)
	}
	if by := p.Invitation.By.User; by != nil {
		made.mine = of.name(ctx, by.ID) == credential.Account && credential.Account != ""
	}
	return made, nil
}

// lets tells what a share with a user or a group lets them do. false = not to read.
func (p graphPermission) lets() (permission filehost.SharePermission, reads bool) {
	permission = filehost.MayView
	for _, role := range p.Roles {
		lets, known := graphRoles[role]
		if reads = reads || known; lets == filehost.MayEdit {
			permission = lets
		}
	}
	for _, action := range p.Actions {
		switch action {
		case "libre.graph/driveItem/content/read":
			reads = true
		case "libre.graph/driveItem/upload/create", "libre.graph/driveItem/children/create", "libre.graph/driveItem/standard/delete":
			permission = filehost.MayEdit
		}
	}
	return permission, reads
}

// denies tells whether a share is none, but keeps somebody out.
func (p graphPermission) denies() bool {
	return slices.Contains(p.Roles, graphDenied) || slices.Equal(p.Actions, []string{"none"})
}

// nameOf is what users' names are kept by: not everybody may see everybody.
type nameOf struct {
	by person
	id string
}

// people names those whom shares are for.
type people struct {
	graphShares
	credential filehost.Credential
	ownLinks   bool // the user has made all public links: nobody else can, where these are
	asked      *int // how many names were asked for
}

// name is the account of the user with an id; "" = the host doesn't say, or too many were asked for.
func (p people) name(ctx context.Context, id string) string {
	if len(id) > maxNameBytes { // which is none, and is not to be kept as one
		return ""
	}
	name, err := p.names.get(ctx, nameOf{personOf(p.credential), id}, func() (string, time.Duration) {
		if *p.asked++; *p.asked > mostNamed {
			return "", 0
		}
		user, err := p.graphUser(ctx, p.credential, id)
		switch {
		case err == nil && user.ID == id:
			return user.Name, offeredLife
		case filehost.KindOf(err) == filehost.NotFound:
			return "", offeredRetry
		}
		return "", 0
	})
	if err != nil {
		return ""
	}
	return name
}

// drive is the space that an entry is in.
type graphDrive struct {
	Type  string `json:"driveType"`
	Owner struct {
		User graphIdentity `json:"user"`
	} `json:"owner"`
	Root struct {
		ID string `json:"id"`
	} `json:"root"`
}

// space tells of the space that an entry is in and whose it is: "" = nobody's own, or of one whom the user can't ask for. In
// his own space a user makes all links: who else may share there, can't make any.
func (g graphShares) space(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (drive graphDrive, owner string, of people, err error) {
	of = people{graphShares: g, credential: credential, asked: new(int)}
	id, _, ok := driveItem(entry.HostID)
	if !ok {
		_, err := g.item(graphDrivesPath, entry)
		return graphDrive{}, "", of, err
	}
	err = g.ask(ctx, credential, http.MethodGet, graphDrivesPath+url.PathEscape(id), exchange{into: &drive})
	switch {
	case filehost.KindOf(err) == filehost.NotFound: // it is another's, and what he shares of it is seen elsewhere
		return graphDrive{}, "", of, nil
	case err != nil:
		return graphDrive{}, "", of, err
	}
	if drive.Type == personalDrive {
		owner = of.name(ctx, drive.Owner.User.ID)
		of.ownLinks = owner == credential.Account && owner != ""
	}
	return drive, owner, of, nil
}

// permissions asks for those of an item.
func (g graphShares) permissions(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (listed graphPermissions, err error) {
	path, err := g.item(graphSharesPath, entry)
	if err == nil {
		err = g.ask(ctx, credential, http.MethodGet, path+"/permissions", exchange{into: &listed})
	}
	return listed, err
}

func (g graphShares) list(ctx context.Context, credential filehost.Credential, entry filehost.Entry) ([]share, error) {
	_, _, of, err := g.space(ctx, credential, entry)
	if err != nil {
		return nil, err
	}
	listed, err := g.permissions(ctx, credential, entry)
	if err != nil {
		return nil, err
	}
	shares, _, err := g.all(ctx, credential, listed, of)
	return shares, err
}

// all makes shares of an item's permissions, but for those that keep somebody out. more = there are more than are told.
func (g graphShares) all(ctx context.Context, credential filehost.Credential, listed graphPermissions, of people) (shares []share, more bool, err error) {
	for _, each := range listed.Value.kept {
		if each.denies() {
			continue
		}
		share, err := g.told(ctx, credential, each, of)
		if err != nil {
			return nil, false, err
		}
		shares = append(shares, share)
	}
	return shares, listed.Value.more, nil
}

func (g graphShares) access(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (access, error) {
	drive, owner, of, err := g.space(ctx, credential, entry)
	if err != nil {
		return access{}, err
	}
	line, whole, err := g.line(ctx, credential, entry, drive)
	if err != nil {
		return access{}, err
	}
	listed := make([]graphPermissions, len(line))
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(graphAtOnce)
	for i, id := range line {
		group.Go(func() error {
			return filehost.Recovered(func() (err error) {
				listed[i], err = g.permissions(within, credential, filehost.Entry{HostID: id})
				if i > 0 && isDeclined(err) {
					err = nil // nothing is told of this folder, not even that all would be
				}
				return err
			})
		})
	}
	if err := group.Wait(); err != nil {
		return access{}, err
	}
	return g.gather(ctx, credential, listed, of, access{Access: filehost.Access{Owner: owner, Complete: whole}})
}

// gather puts together who may open an entry, by the permissions of the entry itself and of each folder above it, in this
// order.
func (g graphShares) gather(
	ctx context.Context, credential filehost.Credential, listed []graphPermissions, of people, told access,
) (access, error) {
	now, out := g.clock.Now(), map[string]bool{}
	for i, each := range listed {
		shares, more, err := g.all(ctx, credential, each, of)
		if err != nil {
			return access{}, err
		}
		if i == 0 {
			told.own = shares
		}
		told.Complete = told.Complete && !more && slices.Contains(each.Allowed, graphReadShares)
		for _, share := range shares {
			expired := !share.ExpiresAt.IsZero() && !share.ExpiresAt.After(now)
			if kept := share.With == filehost.WithUser && out[share.Account]; share.reads && !expired && !kept {
				told.Shares = append(told.Shares, share.HostShare)
			}
		}
		for _, denied := range each.Value.kept {
			if user := denied.Granted.User; denied.denies() && user != nil {
				out[of.name(ctx, user.ID)] = true // whatever the folders above let him do
			} else if denied.denies() {
				told.Complete = false
			}
		}
	}
	return told, nil
}

// line returns the ids of an entry and of the folders above it, up to the space itself. whole = it reaches that far: who is
// shared something is not told of what is above it.
func (g graphShares) line(ctx context.Context, credential filehost.Credential, entry filehost.Entry, drive graphDrive) (ids []string, whole bool, err error) {
	ids = []string{entry.HostID}
	root := rootItem(drive.Root.ID)
	for at := entry.HostID; at != root; at = ids[len(ids)-1] {
		if len(ids) > mostAbove || root == "" {
			return ids, false, nil
		}
		path, err := g.item(graphDrivesPath, filehost.Entry{HostID: at})
		if err != nil {
			return nil, false, err
		}
		var item struct {
			ID     string `json:"id"`
			Parent struct {
				ID string `json:"id"`
			} `json:"parentReference"`
		}
		err = g.ask(ctx, credential, http.MethodGet, path, exchange{into: &item})
		if last := len(ids) - 1; last > 0 && isDeclined(err) {
			return ids[:last], false, nil
		}
		if err != nil {
			return nil, false, err
		}
		if _, _, ok := driveItem(item.ID); ok && len(ids) == 1 {
			ids[0] = item.ID // of what is shared with the user, he sees a stand-in
		}
		if _, _, ok := driveItem(item.Parent.ID); !ok {
			return ids, false, nil
		}
		ids = append(ids, item.Parent.ID)
	}
	return ids, true, nil
}

// rootItem is the item that a space's top folder is: where a space's id stands alone, its node is the space.
func rootItem(id string) string {
	if _, space, ok := strings.Cut(id, "$"); ok && space != "" && !strings.Contains(space, "!") {
		return id + "!" + space
	}
	return id
}

func (g graphShares) link(ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish linkWish) (share, error) {
	path, err := g.item(graphSharesPath, entry)
	if err != nil {
		return share{}, err
	}
	body := map[string]any{"type": linkType(wish.permission)}
	if !wish.password.IsEmpty() {
		body["password"] = wish.password.Reveal()
	}
	if !wish.ends.IsZero() {
		body["expirationDateTime"] = lastMoment(wish.ends)
	}
	if wish.label != "" {
		body["displayName"] = wish.label
	}
	var made graphPermission
	if err := g.ask(ctx, credential, http.MethodPost, path+"/createLink", exchange{body, &made}); err != nil {
		return share{}, err
	}
	return g.told(ctx, credential, made, people{graphShares: g, credential: credential, ownLinks: true, asked: new(int)})
}

func linkType(permission filehost.SharePermission) string {
	if permission == filehost.MayEdit {
		return "edit"
	}
	return "view"
}

// lastMoment is the end of the day before a midnight. The host takes the day of it.
func lastMoment(midnight time.Time) string { return midnight.Add(-time.Second).Format(time.RFC3339) }

// role is what users are invited as.
func role(entry filehost.Entry, permission filehost.SharePermission) string {
	switch {
	case permission != filehost.MayEdit:
		return graphViewer
	case entry.Kind == filehost.Folder:
		return graphFolderEditor
	}
	return graphFileEditor
}

func (g graphShares) invite(ctx context.Context, credential filehost.Credential, entry filehost.Entry, guest guest) (share, error) {
	path, err := g.item(graphSharesPath, entry)
	if err != nil {
		return share{}, err
	}
	user, err := g.graphUser(ctx, credential, guest.account)
	if err == nil && user.Name != guest.account {
		err = filehost.E(filehost.NotFound, g.host.Name+" has no such user.", errors.New("the account is an id"))
	}
	if err != nil {
		return share{}, err
	}
	body := map[string]any{
		"recipients": []any{map[string]string{"objectId": user.ID, "@libre.graph.recipient.type": "user"}},
		"roles":      []string{role(entry, guest.permission)},
	}
	var made graphPermissions
	if err := g.ask(ctx, credential, http.MethodPost, path+"/invite", exchange{body, &made}); err != nil {
		return share{}, err
	}
	if len(made.Value.kept) != 1 {
		return share{}, g.nonsense(fmt.Errorf("%d shares were made", len(made.Value.kept)))
	}
	return g.told(ctx, credential, made.Value.kept[0], people{graphShares: g, credential: credential, asked: new(int)})
}

func (g graphShares) find(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) (share, error) {
	listed, err := g.list(ctx, credential, entry)
	if err != nil {
		return share{}, err
	}
	i := slices.IndexFunc(listed, func(s share) bool { return s.ID == id })
	if i < 0 {
		return share{}, g.noShare(errNoShare)
	}
	if found := listed[i]; found.mine || found.With == filehost.WithAnyone && g.madeLink(ctx, credential, id) {
		return found, nil
	}
	return share{}, g.noShare(errors.New("another user has made it"))
}

// madeLink asks the Share API, which this host has as well, whether the user has made a link: LibreGraph doesn't tell.
func (g graphShares) madeLink(ctx context.Context, credential filehost.Credential, id string) bool {
	ocs := ocsShares(g)
	path, err := ocs.onePath(id)
	if err != nil {
		return false
	}
	told, _, err := ocs.get(ctx, credential, path, nil)
	return err == nil && len(told) == 1 && told[0].ID == id && told[0].mine
}

func (g graphShares) change(ctx context.Context, credential filehost.Credential, entry filehost.Entry, of share, change linkChange) error {
	path, err := g.one(entry, of.ID)
	if err != nil {
		return err
	}
	link := of.With == filehost.WithAnyone
	if change.password != nil { // first: less permission without one may be refused
		body := map[string]string{"password": change.password.Reveal()}
		if err := g.ask(ctx, credential, http.MethodPost, path+"/setPassword", exchange{body: body}); err != nil {
			return err
		}
	}
	if change.ends != nil {
		var ends *string // null takes it away
		if !change.ends.IsZero() {
			last := lastMoment(*change.ends)
			ends = &last
		}
		if err := g.ask(ctx, credential, http.MethodPatch, path, exchange{body: map[string]any{"expirationDateTime": ends}}); err != nil {
			return err
		}
	}
	if change.permission == nil {
		return nil
	}
	body := map[string]any{"roles": []string{role(entry, *change.permission)}}
	if link {
		body = map[string]any{"link": map[string]string{"type": linkType(*change.permission)}}
	}
	return g.ask(ctx, credential, http.MethodPatch, path, exchange{body: body})
}

// one is the path of one share of an entry.
func (g graphShares) one(entry filehost.Entry, id string) (string, error) {
	path, err := g.item(graphSharesPath, entry)
	if err != nil {
		return "", err
	}
	below, err := g.onePath(id)
	return path + "/permissions" + below, err
}

func (g graphShares) remove(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) error {
	path, err := g.one(entry, id)
	if err == nil {
		err = g.ask(ctx, credential, http.MethodDelete, path, exchange{})
	}
	return g.gone(err)
}

// blamed goes by the host's words: it has them in English alone.
func (g graphShares) blamed(_ context.Context, _ filehost.Credential, asked request, no declined) (string, error) {
	switch said := strings.ToLower(no.words); {
	case !asked.link || no.status != http.StatusBadRequest:
		return "", nil
	case strings.Contains(said, "expir") && !asked.ends.IsZero():
		return "expires_at", nil
	case asked.password != nil && (strings.Contains(said, "password") || strings.Contains(said, "characters")):
		return "password", nil
	}
	return "", nil
}
