package filehost

import "context"

// CreateLink implements Shares.
func (d discreet) CreateLink(ctx context.Context, credential Credential, entry Entry, wish LinkWish) (link HostShare, reused bool, err error) {
	link, reused, err = d.Remote.CreateLink(ctx, credential, entry, wish)
	return link, reused, WithoutCredential(err, credential)
}

// Access implements Shares.
func (d discreet) Access(ctx context.Context, credential Credential, entry Entry) (Access, error) {
	access, err := d.Remote.Access(ctx, credential, entry)
	return access, WithoutCredential(err, credential)
}

// Invite implements Shares.
func (d discreet) Invite(ctx context.Context, credential Credential, entry Entry, account string, permission SharePermission) (HostShare, error) {
	share, err := d.Remote.Invite(ctx, credential, entry, account, permission)
	return share, WithoutCredential(err, credential)
}

// ShareOf implements Shares.
func (d discreet) ShareOf(ctx context.Context, credential Credential, entry Entry, shareID string) (HostShare, error) {
	share, err := d.Remote.ShareOf(ctx, credential, entry, shareID)
	return share, WithoutCredential(err, credential)
}

// ChangeShare implements Shares.
func (d discreet) ChangeShare(ctx context.Context, credential Credential, entry Entry, shareID string, change ShareChange) (HostShare, error) {
	share, err := d.Remote.ChangeShare(ctx, credential, entry, shareID, change)
	return share, WithoutCredential(err, credential)
}

// RemoveShare implements Shares.
func (d discreet) RemoveShare(ctx context.Context, credential Credential, entry Entry, shareID string) error {
	return WithoutCredential(d.Remote.RemoveShare(ctx, credential, entry, shareID), credential)
}

// LinkPolicy implements Shares.
func (d discreet) LinkPolicy(ctx context.Context, credential Credential) (Policy, error) {
	policy, err := d.Remote.LinkPolicy(ctx, credential)
	return policy, WithoutCredential(err, credential)
}
