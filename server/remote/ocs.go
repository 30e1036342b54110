package remote

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	ocsSharesPath = "/ocs/v2.php/apps/files_sharing/api/v1/shares"

	// maxSharesBytes is the longest answer of a sharing API that is read: each share takes about 900 bytes.
	maxSharesBytes = 4 << 20
	// mostShares is how many shares are told of an entry.
	mostShares = 2000
	// mostAbove is how many folders above an entry are asked for their shares.
	mostAbove = 32
)

// The kinds of share of OCS.
const (
	ocsUser  = 0
	ocsGroup = 1
	ocsLink  = 3
)

// The permissions of OCS.
const (
	ocsRead   = 1
	ocsUpdate = 2
	ocsCreate = 4
	ocsDelete = 8
)

// ocsShares shares by the OCS Share API of Nextcloud and ownCloud 10.
type ocsShares struct{ *Client }

// sharingAnswers are the statuses with which a sharing API says what it makes of a request.
var sharingAnswers = []int{
	http.StatusOK, http.StatusCreated, http.StatusNoContent, http.StatusBadRequest, http.StatusForbidden, http.StatusNotFound, http.StatusConflict,
}

// share asks a sharing API and returns the status and the whole answer.
func (c *Client) share(ctx context.Context, call call) (status int, answer []byte, err error) {
	call.accept = sharingAnswers
	response, err := c.do(ctx, call)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = response.Body.Close() }()
	answer, err = io.ReadAll(io.LimitReader(response.Body, maxSharesBytes+1))
	if err == nil && len(answer) > maxSharesBytes {
		err = c.nonsense(errors.New("the answer about shares is too long"))
	}
	return response.StatusCode, answer, err
}

// ask asks the Share API and returns the data of the answer.
func (o ocsShares) ask(ctx context.Context, credential filehost.Credential, method, path string, form url.Values) (json.RawMessage, error) {
	query := url.Values{"format": {"json"}}
	ask := call{
		method: method, credential: &credential,
		header: map[string]string{"OCS-APIRequest": "true", "Accept": "application/json"},
	}
	switch method {
	case http.MethodPost, http.MethodPut:
		ask.header["Content-Type"], ask.body = "application/x-www-form-urlencoded", []byte(form.Encode())
	default:
		for name, values := range form {
			query[name] = values
		}
	}
	ask.url = o.host.Origin() + o.base.Escaped() + ocsSharesPath + path + "?" + query.Encode()
	status, raw, err := o.share(ctx, ask)
	if err != nil {
		return nil, err
	}
	var answer struct {
		OCS *struct {
			Meta struct {
				StatusCode int    `json:"statuscode"`
				Message    string `json:"message"`
			} `json:"meta"`
			Data json.RawMessage `json:"data"`
		} `json:"ocs"`
	}
	if json.Unmarshal(raw, &answer) != nil || answer.OCS == nil {
		if status != http.StatusOK {
			return nil, o.no(status, "")
		}
		return nil, o.nonsense(errors.New("the answer is none of the Share API"))
	}
	return answer.OCS.Data, o.outcome(status, answer.OCS.Meta.StatusCode, answer.OCS.Meta.Message)
}

// outcome is what a status of HTTP with one of OCS comes to: what is fine by HTTP need not be by OCS.
func (o ocsShares) outcome(status, code int, said string) error {
	switch {
	case code == http.StatusUnauthorized || code == 997:
		return o.statusError(http.StatusUnauthorized)
	case status == http.StatusOK && (code == http.StatusOK || code == 100): // OCS version 2 and 1
		return nil
	case status == http.StatusOK && (code < 400 || code > 499):
		return o.nonsense(fmt.Errorf("OCS status %d", code))
	case status == http.StatusOK:
		status = code
	}
	return o.no(status, said)
}

// ocsShare is a share as OCS tells it. Where it has a password, password or share_with is its hash or hides it.
type ocsShare struct {
	ID           loose           `json:"id"`
	Type         int             `json:"share_type"`
	Maker        string          `json:"uid_owner"`
	Permissions  loose           `json:"permissions"`
	Expiration   loose           `json:"expiration"`
	Token        loose           `json:"token"`
	With         loose           `json:"share_with"`
	Password     loose           `json:"password"`
	Label        loose           `json:"label"` // Nextcloud's...
	Name         loose           `json:"name"`  // ...and ownCloud's
	URL          loose           `json:"url"`
	Item         loose           `json:"item_source"`
	HideDownload loose           `json:"hide_download"`
	Attributes   json.RawMessage `json:"attributes"`
}

// ocsTime is the form of an expiration: a date, and a time that is always midnight, in the time zone of its user. It is taken
// for UTC.
const ocsTime = time.DateTime

// told makes a share of what OCS says of it.
func (o ocsShares) told(credential filehost.Credential, s ocsShare) (share, error) {
	bits := s.Permissions.number()
	made := share{
		HostShare: filehost.HostShare{ID: string(s.ID), With: filehost.WithOthers, Permission: filehost.MayView, Label: shown(cmp.Or(string(s.Label), string(s.Name)))},
		mine:      s.Maker == credential.Account && s.Maker != "",
		plain:     s.HideDownload.number() == 0 && slices.Contains([]string{"", "null", `"[]"`, "[]"}, string(s.Attributes)),
		reads:     bits&ocsRead != 0,
	}
	if s.ID == "" || len(s.ID) > maxNameBytes {
		return share{}, o.nonsense(errors.New("a share has no id"))
	}
	if bits&(ocsUpdate|ocsCreate|ocsDelete) != 0 {
		made.Permission = filehost.MayEdit
	}
	if s.Expiration != "" {
		ends, err := time.Parse(ocsTime, string(s.Expiration))
		if err != nil {
			return share{}, o.nonsense(err)
		}
		made.ExpiresAt = ends
	}
	switch s.Type {
	case ocsUser:
		made.HostShare = sharedWith(made.HostShare, filehost.WithUser, string(s.With))
	case ocsGroup:
		made.HostShare = sharedWith(made.HostShare, filehost.WithGroup, string(s.With))
	case ocsLink:
		made.With, made.Password = filehost.WithAnyone, s.Password != "" || s.With != ""
		made.URL = o.linkURL(string(s.URL), "/index.php/s/", string(s.Token))
	}
	return made, nil
}

// sharedWith says whom a share is for: who has no name that can be shown, is somebody else.
func sharedWith(of filehost.HostShare, with filehost.ShareWith, name string) filehost.HostShare {
	if name = shown(name); name != "" {
		of.With, of.Account = with, name
	}
	return of
}

// linkToken is what names a public link in its address.
var linkToken = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

// linkURL is the address of a public link. A host behind a proxy may not know its own: an address elsewhere is made anew of
// the link's token. "" = there is none to be had.
func (c *Client) linkURL(told, below, token string) string {
	parsed, err := url.Parse(told)
	if err == nil && len(told) <= maxLinkBytes && parsed.User == nil && filehost.OriginOf(parsed) == c.host.Origin() {
		return parsed.String()
	}
	if !linkToken.MatchString(token) {
		return ""
	}
	return c.host.Origin() + c.base.Escaped() + below + token
}

// read reads a list of shares, or one where the host gives one. more = there are more than are told.
func (o ocsShares) read(credential filehost.Credential, data json.RawMessage) (shares []share, items []string, more bool, err error) {
	var listed few[ocsShare]
	if data = bytes.TrimSpace(data); bytes.HasPrefix(data, []byte("{")) {
		listed.kept = make([]ocsShare, 1)
		err = json.Unmarshal(data, &listed.kept[0])
	} else {
		err = json.Unmarshal(data, &listed)
	}
	if err != nil {
		return nil, nil, false, o.nonsense(fmt.Errorf("shares are told otherwise than expected (%T)", err)) // its words could quote a hash
	}
	for _, each := range listed.kept {
		share, err := o.told(credential, each)
		if err != nil {
			return nil, nil, false, err
		}
		shares, items = append(shares, share), append(items, string(each.Item))
	}
	return shares, items, listed.more, nil
}

func (o ocsShares) get(ctx context.Context, credential filehost.Credential, path string, form url.Values) (shares []share, more bool, err error) {
	data, err := o.ask(ctx, credential, http.MethodGet, path, form)
	if err != nil {
		return nil, false, err
	}
	shares, _, more, err = o.read(credential, data)
	return shares, more, err
}

// at asks for the shares of what is at a path, those of others included, as far as the user may see them.
func (o ocsShares) at(ctx context.Context, credential filehost.Credential, path filehost.Path) (shares []share, more bool, err error) {
	return o.get(ctx, credential, "", url.Values{"path": {path.String()}, "reshares": {"true"}})
}

func (o ocsShares) list(ctx context.Context, credential filehost.Credential, entry filehost.Entry) ([]share, error) {
	shares, _, err := o.at(ctx, credential, entry.Path)
	return shares, err
}

func (o ocsShares) access(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (told access, err error) {
	owner, home, err := o.ownerOf(ctx, credential, entry.Path)
	if err != nil {
		return access{}, err
	}
	own, more, err := o.at(ctx, credential, entry.Path)
	if err != nil {
		return access{}, err
	}
	above, whole, err := o.above(ctx, credential, entry)
	if err != nil {
		return access{}, err
	}
	told = access{own: own, Access: filehost.Access{Owner: owner}}
	for _, each := range slices.Concat(own, above) {
		if each.reads {
			told.Shares = append(told.Shares, each.HostShare)
		}
	}
	told.Complete = home && owner == credential.Account && !more && whole
	return told, nil
}

// above returns the shares of the folders above an entry, and whether these are all. Who may not share the entry is not told.
func (o ocsShares) above(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (shares []share, whole bool, err error) {
	if !slices.Contains(entry.Permissions, filehost.Share) {
		return nil, false, nil
	}
	if o.profile.inheritedShares {
		shares, more, err := o.get(ctx, credential, "/inherited", url.Values{"path": {entry.Path.String()}})
		return shares, !more, err
	}
	asked := 0
	for folder := entry.Path.Parent(); !folder.IsRoot(); folder = folder.Parent() {
		if asked++; asked > mostAbove {
			return shares, false, nil
		}
		more, cut, err := o.at(ctx, credential, folder)
		if err != nil {
			return nil, false, err
		}
		if shares = append(shares, more...); cut || len(shares) > mostShares {
			return shares, false, nil
		}
	}
	return shares, true, nil
}

// ownerOf asks whose an entry is. home tells that it is in a user's own files: of what is mounted there, such as a folder of a
// team, Nextcloud calls each who looks the owner.
func (o ocsShares) ownerOf(ctx context.Context, credential filehost.Credential, path filehost.Path) (owner string, home bool, err error) {
	tree, err := o.tree(ctx, credential, path)
	if err != nil {
		return "", false, err
	}
	ask := propfind{credential: &credential, tree: tree, path: path, depth: "0", body: propfindBody(ocOwnerID, ocPermissions, ncMountType)}
	err = o.propfind(ctx, ask, func(found found) error {
		if found.values == nil {
			return o.statusError(found.status)
		}
		told, _ := found.values.text(ocOwnerID)
		letters, _ := found.values.text(ocPermissions)
		mount, _ := found.values.text(ncMountType)
		owner, home = strings.Clone(shown(told)), mount == "" && !strings.ContainsAny(letters, "MS")
		return nil
	})
	if !home && owner == credential.Account {
		owner = "" // it is nobody's own
	}
	return owner, home, err
}

// bits are the permissions that a share of an entry is asked with.
func (o ocsShares) bits(entry filehost.Entry, permission filehost.SharePermission) int {
	switch {
	case permission != filehost.MayEdit:
		return ocsRead
	case entry.Kind == filehost.Folder:
		return ocsRead | ocsUpdate | ocsCreate | ocsDelete
	}
	return ocsRead | ocsUpdate
}

func (o ocsShares) link(ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish linkWish) (share, error) {
	form := url.Values{
		"path": {entry.Path.String()}, "shareType": {strconv.Itoa(ocsLink)}, "permissions": {strconv.Itoa(o.bits(entry, wish.permission))},
	}
	if !wish.password.IsEmpty() {
		form.Set("password", wish.password.Reveal())
	}
	if !wish.ends.IsZero() { // an empty one would take the host's default away
		form.Set("expireDate", wish.ends.Format(time.DateOnly))
	}
	if wish.label != "" {
		form.Set("label", wish.label)
		form.Set("name", wish.label)
	}
	return o.post(ctx, credential, form)
}

func (o ocsShares) invite(ctx context.Context, credential filehost.Credential, entry filehost.Entry, guest guest) (share, error) {
	return o.post(ctx, credential, url.Values{
		"path": {entry.Path.String()}, "shareType": {strconv.Itoa(ocsUser)}, "shareWith": {guest.account},
		"permissions": {strconv.Itoa(o.bits(entry, guest.permission))},
	})
}

func (o ocsShares) post(ctx context.Context, credential filehost.Credential, form url.Values) (share, error) {
	data, err := o.ask(ctx, credential, http.MethodPost, "", form)
	if err != nil {
		return share{}, err
	}
	made, _, _, err := o.read(credential, data)
	if err == nil && len(made) != 1 {
		err = o.nonsense(fmt.Errorf("%d shares were made", len(made)))
	}
	if err != nil {
		return share{}, err
	}
	return made[0], nil
}

// onePath is the path of one share, below that of all.
func (c *Client) onePath(id string) (string, error) {
	if _, ok := filehost.Root.Join(id); !ok || len(id) > maxNameBytes {
		return "", c.noShare(errNoShare)
	}
	return "/" + url.PathEscape(id), nil
}

// gone turns a 404 for one share into errNoShare.
func (c *Client) gone(err error) error {
	var no declined
	if errors.As(err, &no) && no.status == http.StatusNotFound {
		return c.noShare(errNoShare)
	}
	return err
}

func (o ocsShares) find(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) (share, error) {
	path, err := o.onePath(id)
	if err != nil {
		return share{}, err
	}
	data, err := o.ask(ctx, credential, http.MethodGet, path, nil)
	if err != nil {
		return share{}, o.gone(err)
	}
	found, items, _, err := o.read(credential, data)
	switch {
	case err != nil:
		return share{}, err
	case len(found) != 1 || found[0].ID != id:
		return share{}, o.nonsense(fmt.Errorf("asked for one share, the host told of %d", len(found)))
	case !found[0].mine:
		return share{}, o.noShare(errors.New("another user has made it"))
	case entry.HostID == "" || items[0] != entry.HostID:
		return share{}, o.noShare(errors.New("it is of another entry"))
	}
	return found[0], nil
}

func (o ocsShares) change(ctx context.Context, credential filehost.Credential, entry filehost.Entry, of share, change linkChange) error {
	path, err := o.onePath(of.ID)
	if err != nil {
		return err
	}
	form := url.Values{}
	if change.permission != nil {
		form.Set("permissions", strconv.Itoa(o.bits(entry, *change.permission)))
	}
	if change.password != nil {
		form.Set("password", change.password.Reveal())
	}
	if change.ends != nil {
		form.Set("expireDate", "") // takes it away
		if !change.ends.IsZero() {
			form.Set("expireDate", change.ends.Format(time.DateOnly))
		}
	}
	_, err = o.ask(ctx, credential, http.MethodPut, path, form)
	return err
}

func (o ocsShares) remove(ctx context.Context, credential filehost.Credential, _ filehost.Entry, id string) error {
	path, err := o.onePath(id)
	if err != nil {
		return err
	}
	_, err = o.ask(ctx, credential, http.MethodDelete, path, nil)
	return o.gone(err)
}

// blamed goes by what the host demands of links: its words are in the user's language.
func (o ocsShares) blamed(ctx context.Context, credential filehost.Credential, asked request, no declined) (string, error) {
	if !asked.link {
		return "", nil
	}
	given := asked.password != nil && !asked.password.IsEmpty()
	if given && no.status == http.StatusBadRequest {
		return "password", nil
	}
	offers := o.offersNow(ctx, credential)
	switch {
	case offers.known && !offers.links:
		return "", nil
	case asked.password != nil && !given && offers.anyPassword && no.status != http.StatusNotFound:
		return "password", nil
	case asked.ends.IsZero() || no.status != http.StatusNotFound:
		return "", nil
	}
	// It says the same of a date that it doesn't take as of an entry that is not there.
	_, err := o.Stat(ctx, credential, asked.entry.Path)
	return "expires_at", err
}
