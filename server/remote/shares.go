package remote

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// unable is the error of what a kind of host has no way to do.
func (c *Client) unable() error {
	return filehost.E(filehost.Unsupported, c.host.Name+" can't do this.", nil)
}

// undoWithin is how long the host has to take back a share that it made otherwise than it was asked to.
const undoWithin = 30 * time.Second

// CreateLink implements filehost.Shares. A host's word that it has made a link is not believed: what its list of shares says
// counts, and a link that it doesn't show there is removed.
func (c *Client) CreateLink(
	ctx context.Context, credential filehost.Credential, entry filehost.Entry, wish filehost.LinkWish,
) (filehost.HostShare, bool, error) {
	api, err := c.sharer()
	if err != nil {
		return filehost.HostShare{}, false, err
	}
	ends, err := c.linkEnds(wish.ExpiresAt)
	if err != nil {
		return filehost.HostShare{}, false, err
	}
	wanted := linkWish{wish.Permission, wish.Password, ends, wish.Label}
	before, err := api.list(ctx, credential, entry)
	if err != nil {
		return filehost.HostShare{}, false, c.explain(ctx, credential, request{entry: entry}, err)
	}
	if i := slices.IndexFunc(before, wanted.equals); i >= 0 && c.mayReuse(ctx, credential, wanted) {
		return before[i].HostShare, true, nil
	}
	made, err := api.link(ctx, credential, entry, wanted)
	if err != nil {
		about := request{entry: entry, link: true, password: &wish.Password, ends: ends}
		return filehost.HostShare{}, false, c.explain(ctx, credential, about, err)
	}
	link, err := c.reread(ctx, credential, entry, made.ID)
	if err == nil {
		err = wanted.exceeded(link)
	}
	if err != nil {
		return filehost.HostShare{}, false, c.undo(ctx, credential, entry, made.ID, err)
	}
	return link.HostShare, false, nil
}

// equals tells whether a share is a link that serves as the one that is wished for: nobody knows the password of one that
// has one.
func (w linkWish) equals(s share) bool {
	return s.mine && s.plain && s.With == filehost.WithAnyone && s.Permission == w.permission && !s.Password && w.password.IsEmpty() &&
		s.URL != "" && lastMidnight(s.ExpiresAt).Equal(w.ends)
}

// mayReuse tells whether the host would still make such a link.
func (c *Client) mayReuse(ctx context.Context, credential filehost.Credential, wanted linkWish) bool {
	offers := c.offers(ctx, credential)
	return !offers.password && (!wanted.ends.IsZero() || !offers.defaultExpiry)
}

// exceeded fails when a link gives more away than was wished for.
func (w linkWish) exceeded(link share) error {
	switch {
	case link.URL == "": // which public links alone have
		return errors.New("it has no address")
	case link.Permission == filehost.MayEdit && w.permission != filehost.MayEdit:
		return errors.New("it lets people edit")
	case !w.password.IsEmpty() && !link.Password:
		return errors.New("it has no password")
	case !w.ends.IsZero() && (link.ExpiresAt.IsZero() || link.ExpiresAt.After(w.ends)):
		return fmt.Errorf("it ends at %v", link.ExpiresAt)
	}
	return nil
}

// reread finds a share of an entry in the host's list, as everybody sees it who may.
func (c *Client) reread(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string) (share, error) {
	api, err := c.sharer()
	if err != nil {
		return share{}, err
	}
	listed, err := api.list(ctx, credential, entry)
	if err != nil {
		return share{}, err
	}
	for _, each := range listed {
		if each.ID == id {
			return each, nil
		}
	}
	return share{}, errors.New("the host does not list it")
}

// undo removes a share that is not what was asked for, and returns why.
func (c *Client) undo(ctx context.Context, credential filehost.Credential, entry filehost.Entry, id string, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoWithin)
	defer cancel()
	message := c.host.Name + " did not share this as it was asked to, so the share was removed again."
	api, err := c.sharer()
	if err == nil {
		err = api.remove(ctx, credential, entry, id)
	}
	var ours *filehost.Error
	switch {
	case err == nil || errors.Is(err, errNoShare):
		if errors.As(why, &ours) {
			return why // the host could not be asked, and that is all
		}
	default:
		message = c.host.Name + " did not share this as it was asked to, and does not remove the share: remove it there."
		why = errors.Join(why, err)
	}
	return filehost.E(filehost.HostUnavailable, message, cite(why))
}

// Access implements filehost.Shares.
func (c *Client) Access(ctx context.Context, credential filehost.Credential, entry filehost.Entry) (filehost.Access, error) {
	api, err := c.sharer()
	if err != nil {
		return filehost.Access{}, err
	}
	told, err := api.access(ctx, credential, entry)
	return told.Access, c.explain(ctx, credential, request{entry: entry}, err)
}

// Invite implements filehost.Shares.
func (c *Client) Invite(
	ctx context.Context, credential filehost.Credential, entry filehost.Entry, account string, permission filehost.SharePermission,
) (filehost.HostShare, error) {
	api, err := c.sharer()
	if err != nil {
		return filehost.HostShare{}, err
	}
	about := request{entry: entry}
	told, err := api.access(ctx, credential, entry)
	if err != nil {
		return filehost.HostShare{}, c.explain(ctx, credential, about, err)
	}
	guest := guest{account, permission}
	if has, ok := guest.has(told.Access); ok {
		return has, nil
	}
	if i := slices.IndexFunc(told.own, func(s share) bool { return s.mine && guest.is(s.HostShare) }); i >= 0 {
		err := api.change(ctx, credential, entry, told.own[i], linkChange{permission: &permission})
		if err != nil {
			return filehost.HostShare{}, c.explain(ctx, credential, about, err)
		}
		changed, err := c.reread(ctx, credential, entry, told.own[i].ID)
		return changed.HostShare, err
	}
	made, err := api.invite(ctx, credential, entry, guest)
	if err != nil {
		return filehost.HostShare{}, c.explain(ctx, credential, about, err)
	}
	if !guest.is(made.HostShare) || made.Permission == filehost.MayEdit && permission != filehost.MayEdit {
		return filehost.HostShare{}, c.undo(ctx, credential, entry, made.ID, errors.New("it is not for who was invited, or not for this"))
	}
	return made.HostShare, nil
}

// is tells whether a share is for the guest himself.
func (g guest) is(s filehost.HostShare) bool {
	return s.With == filehost.WithUser && s.Account == g.account
}

// has returns what lets the guest do already what he is invited to do.
func (g guest) has(access filehost.Access) (filehost.HostShare, bool) {
	if access.Owner == g.account && g.account != "" {
		return filehost.HostShare{With: filehost.WithUser, Account: g.account, Permission: filehost.MayEdit}, true
	}
	for _, each := range access.Shares {
		if g.is(each) && (each.Permission == filehost.MayEdit || each.Permission == g.permission) {
			return each, true
		}
	}
	return filehost.HostShare{}, false
}

// ShareOf implements filehost.Shares.
func (c *Client) ShareOf(
	ctx context.Context, credential filehost.Credential, entry filehost.Entry, shareID string,
) (filehost.HostShare, error) {
	api, err := c.sharer()
	if err != nil {
		return filehost.HostShare{}, err
	}
	found, err := api.find(ctx, credential, entry, shareID)
	return found.HostShare, err
}

// ChangeShare implements filehost.Shares.
func (c *Client) ChangeShare(
	ctx context.Context, credential filehost.Credential, entry filehost.Entry, shareID string, change filehost.ShareChange,
) (filehost.HostShare, error) {
	api, err := c.sharer()
	if err != nil {
		return filehost.HostShare{}, err
	}
	wanted := linkChange{permission: change.Permission, password: change.Password}
	about := request{entry: entry, link: true, password: change.Password}
	if change.ExpiresAt != nil {
		if about.ends, err = c.linkEnds(*change.ExpiresAt); err != nil {
			return filehost.HostShare{}, err
		}
		wanted.ends = &about.ends
	}
	before, err := api.find(ctx, credential, entry, shareID)
	if err != nil || wanted == (linkChange{}) {
		return before.HostShare, err
	}
	if before.With != filehost.WithAnyone && change.Password != nil {
		return filehost.HostShare{}, filehost.Invalid("password", "A share with a user has no password.")
	}
	if err := api.change(ctx, credential, entry, before, wanted); err != nil {
		return filehost.HostShare{}, c.explain(ctx, credential, about, err)
	}
	after, err := api.find(ctx, credential, entry, shareID)
	if err == nil {
		err = c.unchanged(after, wanted)
	}
	if err != nil {
		return filehost.HostShare{}, err
	}
	return after.HostShare, nil
}

// unchanged fails when a share still gives more away than it was to.
func (c *Client) unchanged(after share, wanted linkChange) error {
	switch {
	case wanted.permission != nil && *wanted.permission == filehost.MayView && after.Permission != filehost.MayView,
		wanted.password != nil && !wanted.password.IsEmpty() && !after.Password,
		wanted.ends != nil && !wanted.ends.IsZero() && (after.ExpiresAt.IsZero() || after.ExpiresAt.After(*wanted.ends)):
		return filehost.E(filehost.HostUnavailable, c.host.Name+" did not change the share as it was asked to.",
			errors.New("it gives more away than it was to"))
	}
	return nil
}

// RemoveShare implements filehost.Shares.
func (c *Client) RemoveShare(ctx context.Context, credential filehost.Credential, entry filehost.Entry, shareID string) error {
	api, err := c.sharer()
	if err != nil {
		return err
	}
	if _, err = api.find(ctx, credential, entry, shareID); err == nil {
		err = api.remove(ctx, credential, entry, shareID)
	}
	if errors.Is(err, errNoShare) {
		return nil
	}
	return err
}

// noShare is the error for a share that is none of the entry's, or that another one has made.
func (c *Client) noShare(cause error) error {
	refusal := c.statusError(http.StatusNotFound)
	refusal.Message, refusal.Err = c.host.Name+" has no such share that you have made.", cause
	return refusal
}
