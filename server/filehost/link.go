package filehost

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// What a request for links may ask for.
const (
	maxLinkPassword = 128 // characters
	maxLinkLabel    = 100 // bytes
	maxGrants       = 20
	maxLinkLife     = 100 * 365 * 24 * time.Hour
)

// linkRoom is how much longer than the host's address a link may be, in bytes: the message must hold it.
const linkRoom = 512

// undoTime bounds what is done to take back shares whose post was not made.
const undoTime = 30 * time.Second

// LinkRequest asks for links to be posted instead of copies.
type LinkRequest struct {
	Public     bool            // else they open for those only whom the host lets in
	Permission SharePermission // what who opens the link may do; of GrantTo, where it isn't public
	GrantTo    []string        // Mattermost users whom the host is to let in as well; not Public

	// Of public links only.
	Password       Secret    // empty: one is chosen where the host demands it
	ExpiresAt      time.Time // zero = as the host wants it
	Label          string    // for the list of links at the host
	RemoveWithPost bool      // the links end when their post is deleted
}

func (l *LinkRequest) check(now time.Time) error {
	switch {
	case l.Permission != MayView && l.Permission != MayEdit:
		return Invalid("link.permission", "link.permission must be view or edit.")
	case l.Public && len(l.GrantTo) > 0:
		return Invalid("link.grant_to", "A public link opens for everybody; only an internal one is opened to members.")
	case len(l.GrantTo) > maxGrants:
		return &Error{Kind: TooLarge, Field: "link.grant_to", Limit: maxGrants, LimitOwner: OwnerPlugin, Actual: int64(len(l.GrantTo)),
			Message: fmt.Sprintf("A link is opened to at most %d members at once.", maxGrants)}
	case !l.Public && l.Permission != MayView && len(l.GrantTo) == 0:
		return Invalid("link.permission", "An internal link lets people do what they may do at the host anyway; permission is for public links and grants.")
	case !l.Public && (!l.Password.IsEmpty() || !l.ExpiresAt.IsZero() || l.Label != "" || l.RemoveWithPost):
		return Invalid("link.audience", "Only a public link takes a password, an expiry, a label or an end with its post.")
	case l.Label != "" && !Shown(l.Label, maxLinkLabel):
		return Invalid("link.label", fmt.Sprintf("link.label must be visible text of at most %d bytes.", maxLinkLabel))
	}
	if err := checkLinkPassword("link.password", l.Password); err != nil {
		return err
	}
	return checkLinkExpiry("link.expires_at", l.ExpiresAt, now)
}

// checkLinkPassword tells whether a password can be sent to a host; whether it is a good one is for the host to judge.
func checkLinkPassword(field string, password Secret) error {
	text := password.Reveal()
	if utf8.RuneCountInString(text) > maxLinkPassword || strings.ContainsFunc(text, unicode.IsControl) {
		return Invalid(field, fmt.Sprintf("%s must have at most %d characters, none of which is a control character.", field, maxLinkPassword))
	}
	return nil
}

func checkLinkExpiry(field string, expiry, now time.Time) error {
	if !expiry.IsZero() && (!expiry.After(now) || expiry.After(now.Add(maxLinkLife))) {
		return Invalid(field, field+" must lie in the future, and not more than a hundred years off.")
	}
	return nil
}

// linkAsked is what tells a request for links from another.
type linkAsked struct {
	Public         bool
	Permission     SharePermission
	Password       string // hash
	ExpiresAt      time.Time
	Label          string
	RemoveWithPost bool
	GrantTo        []string
}

func (l *LinkRequest) asked() *linkAsked {
	if l == nil {
		return nil
	}
	sum := sha256.Sum256([]byte(l.Password.Reveal()))
	return &linkAsked{l.Public, l.Permission, string(sum[:]), l.ExpiresAt.UTC(), l.Label, l.RemoveWithPost, l.GrantTo}
}

// checkEntry tells whether what the host has can be linked. field is where the request asks for it.
func (l *LinkRequest) checkEntry(entry Entry, field, etag string) error {
	switch {
	case etag != "" && entry.ETag != "" && !SameETag(etag, entry.ETag):
		return E(Changed, "The file has changed since it was listed; list the folder again.", nil)
	case !l.Public && !usableURL(entry.WebURL):
		return &Error{Kind: Unsupported, Field: "link.audience", Message: "The file host has no address for this that a browser could open; attach a copy."}
	case l.Public && !slices.Contains(entry.Permissions, Share):
		return &Error{Kind: Forbidden, Field: field, Message: "The file host doesn't let you share this."}
	}
	return nil
}

// usableURL tells whether a host's address may be put into a message.
func usableURL(raw string) bool {
	address, err := url.Parse(raw)
	return err == nil && (address.Scheme == "https" || address.Scheme == "http") && address.Host != "" && address.User == nil &&
		len(raw) <= MaxPathBytes && !strings.ContainsFunc(raw, func(r rune) bool { return unicode.IsControl(r) || invisible(r) })
}

// linking is the work of one request for links.
type linking struct {
	*Service
	userID     string
	attachment Attachment
	limits     Limits
	items      []AttachedItem
	entries    []Entry
	hold       *hold
	account    string // at the host
	whose      string // of the account
	generates  bool   // the host demands passwords, and none was given
}

// attachLinks posts links: all that can be checked is checked before a share is made, and a share whose post is not made
// is taken back.
func (s *Service) attachLinks(ctx context.Context, userID string, attachment Attachment, claim *claim) (Attached, error) {
	l, err := s.prepareLinks(ctx, userID, attachment)
	if err != nil {
		return Attached{}, err
	}
	l.hold = s.newHold(l)
	defer l.hold.end()
	for i := range l.items {
		if l.items[i].pending() {
			l.items[i].Err = inTime(ctx, l.limits, l.link(ctx, i))
		}
	}
	attached, err := l.deliver(ctx, claim)
	if err == nil && len(attachment.Link.GrantTo) > 0 {
		attached.Grants = l.grant(ctx, false)
	}
	return attached, err
}

// prepareLinks does all checks.
func (s *Service) prepareLinks(ctx context.Context, userID string, attachment Attachment) (*linking, error) {
	l := &linking{Service: s, userID: userID, attachment: attachment, items: newItems(attachment)}
	var err error
	if l.limits, err = s.admit(ctx, userID, attachment); err != nil {
		return nil, err
	}
	if err = l.checkOffer(ctx); err != nil {
		return nil, err
	}
	l.entries = s.lookUp(ctx, userID, attachment, l.items, l.limits)
	for i, entry := range l.entries {
		if l.items[i].Err == nil && entry.Path.IsRoot() {
			l.items[i].Name = s.Host.Name
		}
	}
	return l, l.checkLength()
}

// checkOffer tells whether the host has such links for this user, and what it demands of them.
func (l *linking) checkOffer(ctx context.Context) error {
	link := l.attachment.Link
	return l.asUser(ctx, l.userID, func(credential Credential) error {
		l.account, l.whose = credential.Account, l.Service.whose(credential)
		if !link.Public {
			return nil
		}
		offer := l.Remote.Capabilities(ctx, credential).Links
		missing := func(field, what string) error {
			return &Error{Kind: Unsupported, Field: field, Message: l.Host.Name + " has no " + what + "."}
		}
		switch {
		case !offer.Public:
			return missing("link.audience", "public links")
		case !link.Password.IsEmpty() && !offer.Password:
			return missing("link.password", "passwords for links")
		case !link.ExpiresAt.IsZero() && !offer.Expiry:
			return missing("link.expires_at", "links that expire")
		case link.Permission != MayView && !offer.Permissions:
			return missing("link.permission", "links with permissions")
		}
		policy, err := l.Remote.LinkPolicy(ctx, credential)
		l.generates = policy.PasswordRequired && link.Password.IsEmpty()
		if policy.MaxExpiry > 0 && link.ExpiresAt.After(l.Clock.Now().Add(policy.MaxExpiry+24*time.Hour)) {
			return &Error{Kind: InvalidRequest, Field: "link.expires_at", Limit: int64(policy.MaxExpiry / (24 * time.Hour)),
				Message: fmt.Sprintf("%s lets links live for %d days at most.", l.Host.Name, policy.MaxExpiry/(24*time.Hour))}
		}
		return err
	})
}

// checkLength tells whether message and card fit into a post, before anything is made: links are not yet known, and are
// given as much room as they may take.
func (l *linking) checkLength() error {
	var lines []string
	for i, item := range l.items {
		if item.Err != nil {
			continue
		}
		expected := newLinkedItem(l.Host, l.entries[i])
		expected.Link = &Linked{URL: l.entries[i].WebURL}
		if l.attachment.Link.Public {
			expected.Link = &Linked{URL: strings.Repeat("x", l.maxURL()), Public: true, Permission: MayView, Password: true, ExpiresAt: l.Clock.Now()}
		}
		lines = append(lines, l.cardLine(expected))
	}
	most, length := l.limits.MessageLength, utf8.RuneCountInString(cardMessage(l.attachment.Message, lines))
	if length <= most {
		return nil
	}
	return &Error{Kind: TooLarge, Field: "message", Limit: int64(most), LimitOwner: OwnerMattermost, Actual: int64(length),
		Message: fmt.Sprintf("The message and the links have %d characters together; Mattermost takes %d.", length, most)}
}

func (l *linking) maxURL() int { return len(l.Host.BaseURL.String()) + linkRoom }

// link makes the link to one item.
func (l *linking) link(ctx context.Context, i int) error {
	if l.attachment.Link.Public {
		return l.share(ctx, i)
	}
	item := newLinkedItem(l.Host, l.entries[i])
	item.Whose = l.whose
	item.Link = &Linked{URL: l.entries[i].WebURL}
	item.Line = l.cardLine(item)
	l.items[i].source, l.items[i].Link = &item, item.Link
	return nil
}

// share makes the public link to one item. Before it is made, the store knows that it may have to be taken back.
func (l *linking) share(ctx context.Context, i int) error {
	if err := l.hold.begin(ctx); err != nil {
		return err
	}
	made, reused, password, err := l.create(ctx, l.entries[i])
	if err != nil {
		return err
	}
	item := newLinkedItem(l.Host, l.entries[i])
	item.Whose = l.whose
	item.Link = newLinked(made)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime) // the share is there: it is kept or taken back
	defer cancel()
	item.Link.Foreign, err = l.useShare(ctx, made.ID, l.hold.card, reused)
	if err != nil {
		return l.takeBack(ctx, item, reused, err)
	}
	item.Link.RemoveWithPost = l.attachment.Link.RemoveWithPost && !item.Link.Foreign
	if len(made.URL) > l.maxURL() || !usableURL(made.URL) {
		return l.takeBack(ctx, item, reused, E(HostUnavailable, "The file host gave a link that makes no sense.", nil))
	}
	item.Line = l.cardLine(item)
	if err = l.hold.change(ctx, func(held *held) { held.Posted.Items = append(held.Posted.Items, item) }); err != nil {
		return l.takeBack(ctx, item, reused, err)
	}
	l.items[i].source, l.items[i].Link, l.items[i].Password = &item, item.Link, password
	return nil
}

// create asks the host for the public link. Where the host turns out to demand a password, and the caller has given none,
// one is chosen.
func (l *linking) create(ctx context.Context, entry Entry) (made HostShare, reused bool, password Secret, err error) {
	link := l.attachment.Link
	wish := LinkWish{Permission: link.Permission, Password: link.Password, ExpiresAt: link.ExpiresAt, Label: link.Label}
	if l.generates {
		password = newLinkPassword()
		wish.Password = password
	}
	ask := func() error {
		return l.asUser(ctx, l.userID, func(credential Credential) (err error) {
			l.account, l.whose = credential.Account, l.Service.whose(credential)
			made, reused, err = l.Remote.CreateLink(ctx, credential, entry, wish)
			return err
		})
	}
	err = ask()
	if wish.Password.IsEmpty() && fieldOf(err) == "password" {
		password = newLinkPassword()
		wish.Password, l.generates = password, true
		err = ask()
	}
	return made, reused, password, asLinkField(err)
}

// takeBack removes a share that can't be posted, and returns why.
func (l *linking) takeBack(ctx context.Context, item PostedItem, reused bool, why error) error {
	if last, err := l.releaseShare(ctx, item.Link.ShareID, l.hold.card, reused); last || err != nil && !reused {
		_ = l.removeShare(ctx, l.userID, l.account, item)
	}
	return why
}

// deliver posts the links that were made.
func (l *linking) deliver(ctx context.Context, claim *claim) (Attached, error) {
	posted := l.newPosted()
	if len(posted.Items) == 0 {
		return Attached{}, l.undo(ctx, l.items[0].Err)
	}
	// The host may have taken its time: the user may have left the channel, or the channel been archived, meanwhile.
	if err := l.mayPost(ctx, l.userID, l.attachment); err != nil {
		return Attached{}, l.undo(ctx, err)
	}
	if err := l.hold.posting(ctx); err != nil {
		return Attached{}, l.undo(ctx, err)
	}
	if err := claim.posting(ctx, l.items, l.hold.card); err != nil {
		return Attached{}, l.undo(ctx, err)
	}
	var lines []string
	for _, item := range posted.Items {
		lines = append(lines, item.Line)
	}
	post := l.attachment.post(l.userID, nil, claim)
	post.Message, post.Card = cardMessage(post.Message, lines), l.hold.card
	postID, err := l.post(ctx, post)
	switch {
	case KindOf(err) == Forbidden: // there is no post, and none comes
		return Attached{}, l.undo(ctx, err)
	case err != nil:
		return Attached{}, err // whoever looks after the hold finds out whether there is one
	}
	l.keep(ctx, postID, posted)
	return Attached{PostID: postID, Items: l.items}, nil
}

func (l *linking) newPosted() Posted {
	posted := Posted{HostID: l.Host.ID, UserID: l.userID, ChannelID: l.attachment.ChannelID, PostedAt: l.Clock.Now().UTC(),
		Account: l.account, Card: l.hold.card, RootID: l.attachment.RootID}
	for _, item := range l.items {
		if item.Err == nil {
			posted.Items = append(posted.Items, *item.source)
		}
	}
	return posted
}

// keep keeps what is known of the post. Where that fails the post stands all the same, and it is tried again later if
// there are public links in it.
func (l *linking) keep(ctx context.Context, postID string, posted Posted) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	err := l.keepLinks(ctx, postID, posted)
	if err == nil {
		err = l.hold.drop(ctx)
	}
	if err != nil {
		l.Log.Warn("What is known of a post with links could not be kept yet.", "post_id", postID, "error", err)
	}
}

// undo takes the shares back whose post was not made, and returns why it was not. What can't be taken back now is later.
func (l *linking) undo(ctx context.Context, why error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	if err := l.hold.undo(ctx); err != nil {
		l.Log.Warn("Links whose post was not made are not taken back yet.", "user_id", l.userID, "error", err)
	}
	return why
}

// newLinkedItem is what is remembered of an entry that is linked.
func newLinkedItem(host Host, entry Entry) PostedItem {
	item := newPostedItem(entry)
	if entry.Path.IsRoot() {
		item.Name = host.Name
	}
	return item
}

// newLinked is a public link as the host has it.
func newLinked(share HostShare) *Linked {
	return &Linked{URL: share.URL, Public: true, ShareID: share.ID, Permission: share.Permission, Password: share.Password, ExpiresAt: share.ExpiresAt.UTC()}
}

// readable are the characters of passwords that the plugin chooses: none is taken for another.
const readable = "abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789"

// newLinkPassword chooses a password of 20 characters in groups of four, with some of each kind that hosts ask for.
func newLinkPassword() Secret {
	for {
		raw := make([]byte, 64)
		_, _ = rand.Read(raw) // it never fails
		var text strings.Builder
		count := 0
		for _, b := range raw {
			if int(b) >= 256/len(readable)*len(readable) || count == 20 { // each character is as likely as the others
				continue
			}
			if count > 0 && count%4 == 0 {
				text.WriteByte('-')
			}
			text.WriteByte(readable[int(b)%len(readable)])
			count++
		}
		password := text.String()
		if count == 20 && strings.ContainsFunc(password, unicode.IsLower) && strings.ContainsFunc(password, unicode.IsUpper) && strings.ContainsFunc(password, unicode.IsDigit) {
			return NewSecret(password)
		}
	}
}
