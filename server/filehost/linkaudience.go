package filehost

import (
	"context"
	"slices"
	"strings"
)

const (
	mostLookedAt = 500 // members of a channel
	mostNamed    = 50  // of these in an answer
)

// Reach says whether somebody can open a link, as far as the plugin can tell.
type Reach string

// The answers.
const (
	Can     Reach = "can"
	Cannot  Reach = "cannot"
	Unknown Reach = "unknown"
)

// Offer is another way to let those see it who can't open a link.
type Offer string

// The offers.
const (
	OfferCopy   Offer = "copy"
	OfferPublic Offer = "public"
	OfferGrant  Offer = "grant"
)

// MemberReach is a member of the channel and whether he can open the links.
type MemberReach struct {
	UserID   string
	Username string
	Reach    Reach
}

// LinkAudience says who in the channel could open the links: all of them, for Can.
type LinkAudience struct {
	Counts  map[Reach]int // of all members that were looked at
	More    bool          // there are members that were not looked at
	Members []MemberReach // at most fifty, those first who can't
	// Password: only who is told it.
	Password bool
	Offers   []Offer
}

// rehearseLinks does all checks of links and says what would happen, and who could open them.
func (s *Service) rehearseLinks(ctx context.Context, userID string, attachment Attachment) (Attached, error) {
	l, err := s.prepareLinks(ctx, userID, attachment)
	if err != nil {
		return Attached{}, err
	}
	asked := attachment.Link
	for i := range l.items {
		switch {
		case l.items[i].Err != nil:
		case asked.Public:
			l.items[i].Link = &Linked{Public: true, Permission: asked.Permission, Password: l.generates || !asked.Password.IsEmpty(),
				ExpiresAt: asked.ExpiresAt, RemoveWithPost: asked.RemoveWithPost}
		default:
			l.items[i].Link = &Linked{URL: l.entries[i].WebURL}
		}
	}
	audience, err := l.audience(ctx)
	if err != nil {
		return Attached{}, err
	}
	attached := Attached{Items: l.items, Audience: audience}
	if len(asked.GrantTo) > 0 {
		attached.Grants = l.grant(ctx, true)
	}
	return attached, nil
}

// audience asks the host who has access, and compares that with the accounts that members have connected by themselves.
func (l *linking) audience(ctx context.Context) (*LinkAudience, error) {
	members, more, err := l.Mattermost.ChannelMembers(ctx, l.attachment.ChannelID, mostLookedAt)
	if err != nil {
		return nil, err
	}
	public := l.attachment.Link.Public
	found := &LinkAudience{Counts: map[Reach]int{}, More: more, Password: public && (l.generates || !l.attachment.Link.Password.IsEmpty())}
	var accounts map[string]string
	var accesses []*Access
	if !public {
		if accounts, err = l.Accounts.AccountsOf(ctx, idsOf(members)); err != nil {
			return nil, err
		}
		accesses = l.accesses(ctx)
	}
	grantable := false
	for _, member := range members {
		reach := Can
		if !public && member.ID != l.userID {
			reach = reachOfAll(accounts[member.ID], accesses)
			grantable = grantable || reach != Can && accounts[member.ID] != ""
		}
		found.Counts[reach]++
		found.Members = append(found.Members, MemberReach{member.ID, member.Username, reach})
	}
	worst := []Reach{Cannot, Unknown, Can}
	slices.SortStableFunc(found.Members, func(a, b MemberReach) int {
		if order := slices.Index(worst, a.Reach) - slices.Index(worst, b.Reach); order != 0 {
			return order
		}
		return strings.Compare(a.Username, b.Username)
	})
	found.Members = found.Members[:min(len(found.Members), mostNamed)]
	found.Offers, err = l.offers(ctx, grantable)
	return found, err
}

func idsOf(users []User) []string {
	ids := make([]string, len(users))
	for i, user := range users {
		ids[i] = user.ID
	}
	return ids
}

// accesses are what the host tells of each item that can be linked; nil = nothing.
func (l *linking) accesses(ctx context.Context) []*Access {
	var accesses []*Access
	for i, item := range l.items {
		if item.Err != nil {
			continue
		}
		var access Access
		err := l.asUser(ctx, l.userID, func(credential Credential) (err error) {
			access, err = l.Remote.Access(ctx, credential, l.entries[i])
			return err
		})
		if err != nil {
			accesses = append(accesses, nil) // nobody is said to have no access because it can't be told
			continue
		}
		accesses = append(accesses, &access)
	}
	return accesses
}

// reachOfAll tells whether who has an account can open all of it.
func reachOfAll(account string, accesses []*Access) Reach {
	reach := Can
	for _, access := range accesses {
		switch reachOf(account, access) {
		case Cannot:
			return Cannot
		case Unknown:
			reach = Unknown
		case Can:
		}
	}
	if len(accesses) == 0 {
		return Unknown
	}
	return reach
}

// reachOf tells whether who has an account can open an entry. That he can't is said only when all who can are known by
// their accounts.
func reachOf(account string, access *Access) Reach {
	if account == "" || access == nil {
		return Unknown
	}
	if access.Owner == account {
		return Can
	}
	others := false
	for _, share := range access.Shares {
		switch {
		case share.With == WithUser && share.Account == account:
			return Can
		case share.With == WithGroup, share.With == WithOthers:
			others = true
		}
	}
	if access.Complete && !others {
		return Cannot
	}
	return Unknown
}

// offers are the other ways that there are.
func (l *linking) offers(ctx context.Context, grantable bool) ([]Offer, error) {
	offers := []Offer{}
	if !slices.ContainsFunc(l.entries, func(entry Entry) bool { return entry.Kind == Folder }) {
		offers = append(offers, OfferCopy)
	}
	var can Links
	err := l.asUser(ctx, l.userID, func(credential Credential) error {
		can = l.Remote.Capabilities(ctx, credential).Links
		return nil
	})
	shareable := !slices.ContainsFunc(l.entries, func(entry Entry) bool { return entry.Kind != "" && !slices.Contains(entry.Permissions, Share) })
	if can.Public && shareable && !l.attachment.Link.Public {
		offers = append(offers, OfferPublic)
	}
	if grantable && shareable {
		offers = append(offers, OfferGrant)
	}
	return offers, err
}

// GrantResult says what came of a grant.
type GrantResult string

// The results. Of a dry run they say what would come.
const (
	GrantMade    GrantResult = "granted"
	GrantAlready GrantResult = "already" // he had access before
	GrantFailed  GrantResult = "failed"
)

// Granted is what came of opening the links to a member.
type Granted struct {
	UserID string
	Result GrantResult
	Err    error // GrantFailed: why
}

// grant opens the links at the host to the members that were named. Each has his own result; when the host makes no more
// shares for now, the others are not asked for.
func (l *linking) grant(ctx context.Context, dry bool) []Granted {
	asked := slices.Clone(l.attachment.Link.GrantTo)
	accounts, err := l.Accounts.AccountsOf(ctx, asked)
	accesses := map[int]*Access{}
	index := 0
	found := l.accesses(ctx)
	for i, item := range l.items {
		if item.Err == nil {
			accesses[i] = found[index]
			index++
		}
	}
	grants := make([]Granted, len(asked))
	var limited error
	for i, userID := range asked {
		grants[i] = Granted{UserID: userID, Result: GrantFailed, Err: err}
		switch {
		case err != nil:
		case limited != nil:
			grants[i].Err = limited
		default:
			grants[i].Result, grants[i].Err = l.grantTo(ctx, userID, accounts[userID], accesses, dry)
			if KindOf(grants[i].Err) == RateLimited {
				limited = grants[i].Err
			}
		}
	}
	return grants
}

func (l *linking) grantTo(ctx context.Context, userID, account string, accesses map[int]*Access, dry bool) (GrantResult, error) {
	member, err := l.Mattermost.IsMember(ctx, userID, l.attachment.ChannelID)
	switch {
	case err != nil:
		return GrantFailed, err
	case !member: // nor is told whether there is such a user
		return GrantFailed, Invalid("link.grant_to", "This is no member of the channel.")
	case userID == l.userID:
		return GrantAlready, nil
	case account == "":
		return GrantFailed, E(Forbidden, "This member has not connected an account of "+l.Host.Name+".", nil)
	}
	result := GrantAlready
	event := AuditEvent{Action: AuditGrant, TargetUserID: userID}
	var inviting []int
	for i := range l.items {
		if access, ok := accesses[i]; ok && !grantsAlready(account, access, l.attachment.Link.Permission) {
			inviting = append(inviting, i)
			event.name(Ref{l.entries[i].Path, l.entries[i].HostID})
			result = GrantMade
		}
	}
	if dry || len(inviting) == 0 {
		return result, nil
	}
	err = l.using(ctx, event, func(ctx context.Context) error {
		for _, i := range inviting {
			err := l.asUser(ctx, l.userID, func(credential Credential) error {
				_, err := l.Remote.Invite(ctx, credential, l.entries[i], account, l.attachment.Link.Permission)
				return err
			})
			if err != nil {
				return err
			}
		}
		return nil
	}, nil)
	if err != nil {
		return GrantFailed, err
	}
	return result, nil
}

// grantsAlready tells whether an account is known to have that permission.
func grantsAlready(account string, access *Access, permission SharePermission) bool {
	if access == nil {
		return false
	}
	return access.Owner == account || slices.ContainsFunc(access.Shares, func(share HostShare) bool {
		return share.With == WithUser && share.Account == account && (share.Permission == permission || share.Permission == MayEdit)
	})
}

// keptGrant is a Granted in the record of an idempotency key.
type keptGrant struct {
	UserID string      `json:"user"`
	Result GrantResult `json:"result"`
	Error  *keptError  `json:"error,omitempty"`
}

func keepGrants(grants []Granted) []keptGrant {
	var kept []keptGrant
	for _, grant := range grants {
		kept = append(kept, keptGrant{grant.UserID, grant.Result, keepError(grant.Err)})
	}
	return kept
}

func restoreGrants(kept []keptGrant) []Granted {
	var grants []Granted
	for _, grant := range kept {
		grants = append(grants, Granted{grant.UserID, grant.Result, grant.Error.restore()})
	}
	return grants
}
