package filehost

import (
	"context"
	"time"
)

// ShareWith says whom a share of the host is for.
type ShareWith string

// The kinds of share.
const (
	WithAnyone ShareWith = "anyone" // a public link
	WithUser   ShareWith = "user"
	WithGroup  ShareWith = "group"
	WithOthers ShareWith = "others" // what we can't tell the members of: federated, email, a circle
)

// SharePermission is what a share lets people do.
type SharePermission string

// The permissions of shares.
const (
	MayView SharePermission = "view" // read and download
	MayEdit SharePermission = "edit" // also change; in a folder also add and remove
)

// HostShare is a share of an entry as the host tells it, which may differ from what was asked for.
type HostShare struct {
	ID         string // the host's own; opaque
	With       ShareWith
	Account    string // WithUser: whose, as Credential.Account names him; WithGroup: the group's name
	Permission SharePermission
	URL        string    // WithAnyone: where the link leads
	Password   bool      // WithAnyone: it asks for one
	ExpiresAt  time.Time // zero = it has no end
	Label      string    // as the host shows it to the entry's owner; "" = none
}

// LinkWish asks for a public link. The host's own policy wins.
type LinkWish struct {
	Permission SharePermission
	Password   Secret    // empty = none is asked for
	ExpiresAt  time.Time // zero = the host's default
	Label      string    // for the owner's list of links at the host
}

// ShareChange changes a share; what is nil stays as it is.
type ShareChange struct {
	Permission *SharePermission
	Password   *Secret    // empty = no password any more
	ExpiresAt  *time.Time // zero = no end any more, which hosts may refuse
}

// Policy is what the host demands of public links, as it tells this user.
type Policy struct {
	PasswordRequired bool
	ExpiryRequired   bool
	MaxExpiry        time.Duration // from now; 0 = none
}

// Access is what the host tells of who may open an entry.
type Access struct {
	Shares []HostShare
	// Owner is the account that the entry belongs to; "" = the host doesn't say, or it is nobody's own, as in a space.
	Owner string
	// Complete tells that nobody else may open it but those in Shares and the Owner. Else there may be others: the user is
	// not the owner, a folder above is shared in a way that he can't see, or a list was cut off.
	Complete bool
}

// Shares shares entries of the host. Beside what a Remote fails with, its methods fail with Unsupported where the host has
// no such shares, Forbidden with the host's own words where its policy refuses, InvalidRequest naming Field (password,
// expires_at) where it demands another value, and RateLimited where it makes no more shares for now.
type Shares interface {
	// CreateLink makes a public link, or returns an equal one that the user has made before (reused). The link is read
	// again after it was made: what it returns is what the host has.
	CreateLink(ctx context.Context, credential Credential, entry Entry, wish LinkWish) (link HostShare, reused bool, err error)
	// Access tells who may open an entry, by shares of it and of the folders above it.
	Access(ctx context.Context, credential Credential, entry Entry) (Access, error)
	// Invite shares an entry with a user of the host by his account, or does nothing where he has at least that already.
	Invite(ctx context.Context, credential Credential, entry Entry, account string, permission SharePermission) (HostShare, error)
	// ShareOf reads a share that the user has made, or fails with NotFound.
	ShareOf(ctx context.Context, credential Credential, entry Entry, shareID string) (HostShare, error)
	// ChangeShare changes a share that the user has made and returns it as it is then.
	ChangeShare(ctx context.Context, credential Credential, entry Entry, shareID string, change ShareChange) (HostShare, error)
	// RemoveShare ends a share that the user has made. It succeeds when there is none.
	RemoveShare(ctx context.Context, credential Credential, entry Entry, shareID string) error
	// LinkPolicy tells what the host demands of public links; zero where it tells nothing.
	LinkPolicy(ctx context.Context, credential Credential) (Policy, error)
}
