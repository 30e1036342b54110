package filehost

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strconv"
	"time"

	"github.com/pkg/errors"
)

const (
	// mostLinkPosts is how many posts of one user in one channel are remembered to have public links.
	mostLinkPosts = 200
	// mostThreadPosts is how many replies of one thread are remembered to have links that end with them.
	mostThreadPosts = 200
	// removalLife is how long the links of a deleted post wait for their user to connect again.
	removalLife = 30 * 24 * time.Hour
)

// LinkState is what has become of a link.
type LinkState string

// The states.
const (
	LinkActive   LinkState = "active"
	LinkExpired  LinkState = "expired"
	LinkOrphaned LinkState = "post_deleted" // and the link stays, as its user has chosen
	LinkRemoving LinkState = "removing"     // its post was deleted, and the host could not be told yet
)

// PostedLink is a public link in a post.
type PostedLink struct {
	ID       string // of the link
	PostID   string
	PostedAt time.Time
	Item     PostedItem
	State    LinkState
}

// LinkChange changes a public link; what is nil stays as it is.
type LinkChange struct {
	Permission *SharePermission
	Password   *Secret    // empty = none any more
	ExpiresAt  *time.Time // zero = no end any more
}

// LinkID names the link of an item in a post.
func LinkID(postID string, item int) string { return postID + "-" + strconv.Itoa(item) }

var linkID = regexp.MustCompile(`^([a-z0-9]{1,64})-(0|[1-9][0-9]{0,2})$`)

// errNoLink is the same for a link that is not there and for one that is another user's.
func errNoLink() error { return E(NotFound, "You have no such link.", nil) }

// keepLinks keeps what is known of a post with links, and where its user finds it.
func (s *Service) keepLinks(ctx context.Context, postID string, posted Posted) error {
	if err := s.keepNew(ctx, postedKey(postID), posted); err != nil {
		return err
	}
	public := slices.ContainsFunc(posted.Items, func(item PostedItem) bool { return item.Link.Public })
	ends := slices.ContainsFunc(posted.Items, func(item PostedItem) bool { return item.Link.RemoveWithPost })
	if public {
		if err := s.addToList(ctx, s.linksKey(posted.UserID, posted.ChannelID), postID, mostLinkPosts); err != nil {
			return err
		}
	}
	if ends && posted.RootID != "" {
		if err := s.addToList(ctx, threadKey(posted.RootID), postID, mostThreadPosts); err != nil {
			return err
		}
	}
	for _, item := range posted.Items {
		if item.Link.Public {
			if err := s.addPost(ctx, item.Link.ShareID, postID); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Service) linksKey(userID, channelID string) string {
	sum := sha256.Sum256([]byte(s.Host.ID + "\x00" + userID + "\x00" + channelID))
	return linksPrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

func threadKey(rootID string) string { return threadPrefix + rootID }

// addToList adds a post to a list of at most so many, of which the oldest go.
func (s *Service) addToList(ctx context.Context, key, postID string, most int) error {
	return s.changeList(ctx, key, func(posts []string) []string {
		if slices.Contains(posts, postID) {
			return posts
		}
		posts = append(posts, postID)
		return posts[max(0, len(posts)-most):]
	})
}

func (s *Service) changeList(ctx context.Context, key string, change func([]string) []string) error {
	for tries := 0; s.mayTry(ctx, tries); tries++ {
		raw, err := s.KV.Get(ctx, key)
		if err != nil {
			return storeFailed(err)
		}
		next, err := json.Marshal(change(listed(raw)))
		if err != nil {
			return errors.Wrap(err, "keep a list of posts")
		}
		if won, err := s.KV.CompareAndSet(ctx, key, raw, next, PostedLife); err != nil {
			return storeFailed(err)
		} else if won {
			return nil
		}
	}
	return E(Timeout, "A list of posts could not be kept in time.", ctx.Err())
}

func listed(raw []byte) (posts []string) {
	_ = json.Unmarshal(raw, &posts) // what can't be read is empty
	return posts
}

// Links lists the public links that the user has posted in a channel, the newest first, but for those that were revoked.
func (s *Service) Links(ctx context.Context, userID, channelID string) ([]PostedLink, error) {
	raw, err := s.KV.Get(ctx, s.linksKey(userID, channelID))
	if err != nil {
		return nil, storeFailed(err)
	}
	links := []PostedLink{}
	for _, postID := range listed(raw) {
		posted, err := s.postedAs(ctx, postID)
		if err != nil && KindOf(err) != NotFound {
			return nil, err
		}
		if err != nil || posted.UserID != userID || posted.ChannelID != channelID {
			continue
		}
		for i, item := range posted.Items {
			if item.Link != nil && item.Link.Public && item.Link.RevokedAt.IsZero() {
				links = append(links, s.newPostedLink(postID, posted, i))
			}
		}
	}
	slices.SortStableFunc(links, func(a, b PostedLink) int { return cmp.Or(b.PostedAt.Compare(a.PostedAt), cmp.Compare(a.ID, b.ID)) })
	return links, nil
}

func (s *Service) newPostedLink(postID string, posted Posted, i int) PostedLink {
	link := PostedLink{ID: LinkID(postID, i), PostID: postID, PostedAt: posted.PostedAt, Item: posted.Items[i], State: LinkActive}
	switch {
	case !posted.DeletedAt.IsZero() && link.Item.Link.RemoveWithPost:
		link.State = LinkRemoving
	case !link.Item.Link.Active(s.Clock.Now()):
		link.State = LinkExpired
	case !posted.DeletedAt.IsZero():
		link.State = LinkOrphaned
	}
	return link
}

// ownLink returns the user's public link of an id, or NotFound.
func (s *Service) ownLink(ctx context.Context, userID, id string) (postID string, posted Posted, item int, err error) {
	match := linkID.FindStringSubmatch(id)
	if match == nil {
		return "", posted, 0, errNoLink()
	}
	item, _ = strconv.Atoi(match[2])
	posted, err = s.postedAs(ctx, match[1])
	switch {
	case err != nil && KindOf(err) != NotFound:
		return "", posted, 0, err
	case err != nil, posted.UserID != userID, item >= len(posted.Items), posted.Items[item].Link == nil,
		!posted.Items[item].Link.Public, !posted.Items[item].Link.RevokedAt.IsZero():
		return "", Posted{}, 0, errNoLink()
	}
	return match[1], posted, item, nil
}

// ChangeLink changes one of the user's public links at the host, and what its post says of it. The host's answer counts.
func (s *Service) ChangeLink(ctx context.Context, userID, id string, change LinkChange) (PostedLink, error) {
	if err := change.check(s.Clock.Now()); err != nil {
		return PostedLink{}, err
	}
	postID, posted, at, err := s.ownLink(ctx, userID, id)
	if err != nil {
		return PostedLink{}, err
	}
	if !posted.DeletedAt.IsZero() {
		return PostedLink{}, E(NotFound, "The post with this link was deleted; the link can be revoked only.", nil)
	}
	if err = s.Mattermost.MayPost(ctx, userID, posted.ChannelID, ""); err != nil {
		return PostedLink{}, err
	}
	item := posted.Items[at]
	event := AuditEvent{Action: AuditChangeLink}
	event.name(item.ref())
	var share HostShare
	err = s.using(ctx, event, func(ctx context.Context) error {
		return s.asPoster(ctx, userID, posted.Account, func(credential Credential) error {
			entry, err := s.statRef(ctx, credential, item.ref())
			if err != nil {
				return err
			}
			if share, err = s.Remote.ChangeShare(ctx, credential, entry, item.Link.ShareID, ShareChange(change)); err != nil {
				share, _ = s.Remote.ShareOf(ctx, credential, entry, item.Link.ShareID) // of several changes, some may have been made
			}
			return err
		})
	}, nil)
	if share.ID == "" {
		return PostedLink{}, err
	}
	posted, keepErr := s.tellChanged(ctx, postID, at, share)
	if err = firstError(err, keepErr); err != nil {
		return PostedLink{}, err
	}
	return s.newPostedLink(postID, posted, at), nil
}

// tellChanged keeps what a link is now, and has all posts that it is in say so.
func (s *Service) tellChanged(ctx context.Context, postID string, at int, share HostShare) (Posted, error) {
	change := func(link *Linked) {
		fresh := newLinked(share)
		link.Permission, link.Password, link.ExpiresAt = fresh.Permission, fresh.Password, fresh.ExpiresAt
	}
	posted, err := s.changeLinked(ctx, postID, at, change)
	if err != nil {
		return posted, err
	}
	posts, err := s.postsOf(ctx, share.ID)
	if err != nil && KindOf(err) != NotFound {
		s.Log.Warn("Which other posts have a link that was changed can't be told.", "post_id", postID, "error", err)
	}
	s.tellOthers(ctx, posts, postID, share.ID, change)
	return posted, nil
}

func (c LinkChange) check(now time.Time) error {
	switch {
	case c.Permission == nil && c.Password == nil && c.ExpiresAt == nil:
		return Invalid("body", "Say what is to change: permission, password or expires_at.")
	case c.Permission != nil && *c.Permission != MayView && *c.Permission != MayEdit:
		return Invalid("permission", "permission must be view or edit.")
	}
	if c.Password != nil {
		if err := checkLinkPassword("password", *c.Password); err != nil {
			return err
		}
	}
	if c.ExpiresAt != nil {
		return checkLinkExpiry("expires_at", *c.ExpiresAt, now)
	}
	return nil
}

// RevokeLink ends one of the user's public links at the host, wherever it was posted, and its post says so.
func (s *Service) RevokeLink(ctx context.Context, userID, id string) error {
	postID, posted, at, err := s.ownLink(ctx, userID, id)
	if err != nil {
		return err
	}
	item := posted.Items[at]
	posts, err := s.condemnShare(ctx, item.Link.ShareID)
	if err != nil {
		return err
	}
	event := AuditEvent{Action: AuditUnlink}
	event.name(item.ref())
	err = s.using(ctx, event, func(ctx context.Context) error {
		return s.removeShare(ctx, userID, posted.Account, item)
	}, nil)
	if err != nil {
		return err
	}
	revoked := func(link *Linked) { link.RevokedAt = s.Clock.Now().UTC() }
	_, err = s.changeLinked(ctx, postID, at, revoked)
	s.tellOthers(ctx, posts, postID, item.Link.ShareID, revoked)
	return err
}

// changeLinked changes what is known of a link, and what its post says.
func (s *Service) changeLinked(ctx context.Context, postID string, at int, change func(*Linked)) (Posted, error) {
	ctx = context.WithoutCancel(ctx) // the host has it so already
	ctx, cancel := context.WithTimeout(ctx, rememberTime)
	defer cancel()
	var changed Posted
	var before string
	err := s.changePosted(ctx, postID, func(posted *Posted) error {
		if at >= len(posted.Items) || posted.Items[at].Link == nil {
			return errNoLink() // the post was deleted meanwhile
		}
		item := &posted.Items[at]
		link := *item.Link
		change(&link)
		before, item.Link = item.Line, &link
		item.Line = s.cardLine(*item)
		changed = *posted
		return nil
	})
	if err != nil {
		return Posted{}, err
	}
	if changed.DeletedAt.IsZero() {
		if err = s.Mattermost.Reword(ctx, postID, before, changed.Items[at].Line); err != nil {
			s.Log.Warn("A post still says what its link was before.", "post_id", postID, "error", err)
		}
	}
	return changed, nil
}

// linksDeleted sees to the links of a post that was deleted, and to those of the replies that went with it.
func (s *Service) linksDeleted(ctx context.Context, post SeenPost) error {
	raw, err := s.KV.Get(ctx, threadKey(post.ID))
	if err != nil {
		return storeFailed(err)
	}
	for _, reply := range listed(raw) {
		if err = s.linksOfDeleted(ctx, SeenPost{ID: reply}); err != nil {
			return err
		}
	}
	if raw != nil {
		if err = s.forget(ctx, threadKey(post.ID)); err != nil {
			return err
		}
	}
	return s.linksOfDeleted(ctx, post)
}

// linksOfDeleted ends the links of a deleted post that were to end with it, now or as soon as that can be done. What is
// known of the others stays, so that their user can end them. What is known of a card may be kept in this very moment, or
// not have come to this node yet: it is looked for again a minute later.
func (s *Service) linksOfDeleted(ctx context.Context, post SeenPost) error {
	posted, err := s.postedAs(ctx, post.ID)
	switch {
	case KindOf(err) == NotFound && post.Card:
		posted.UserID = post.UserID
	case KindOf(err) == NotFound || err == nil && !posted.hasPublic():
		return s.forgetPosted(ctx, post.ID)
	case err != nil:
		return err
	}
	task := todo{Kind: todoPost, ID: post.ID, UserID: posted.UserID, Due: s.Clock.Now().Add(todoFirst).UTC()}
	full := s.enqueue(ctx, task)
	if _, err = s.settleDeleted(ctx, post.ID); err != nil {
		s.awaited.Store(posted.UserID, nil)
		s.Log.Info("The links of a deleted post are removed later.", "post_id", post.ID, "error", err)
		return full
	}
	return nil
}

func (p Posted) hasPublic() bool {
	return slices.ContainsFunc(p.Items, func(item PostedItem) bool {
		return item.Link != nil && item.Link.Public && item.Link.RevokedAt.IsZero()
	})
}

// settleDeleted ends those links of a deleted post that were to end with it.
func (s *Service) settleDeleted(ctx context.Context, postID string) (again time.Time, err error) {
	posted, err := s.markDeleted(ctx, postID)
	switch {
	case KindOf(err) == NotFound: // another node has ended it
		return time.Time{}, nil
	case err != nil:
		return time.Time{}, err
	}
	err = s.endShares(ctx, posted, withTheirPost)
	if err != nil && s.Clock.Since(posted.DeletedAt) < removalLife {
		return time.Time{}, err
	}
	if err != nil {
		s.Log.Error("The links of a deleted post were not removed; their user can still do so at the host.", "post_id", postID, "user_id", posted.UserID, "error", err)
	}
	var left Posted
	err = s.changePosted(ctx, postID, func(next *Posted) error {
		if next.HostID == "" {
			return errNoLink() // another node has ended it
		}
		for i, item := range next.Items {
			if item.Link != nil && item.Link.Public && item.Link.RemoveWithPost && item.Link.RevokedAt.IsZero() {
				link := *item.Link
				link.RevokedAt = s.Clock.Now().UTC()
				next.Items[i].Link = &link
			}
		}
		left = *next
		return nil
	})
	switch {
	case KindOf(err) == NotFound:
		return time.Time{}, nil
	case err != nil, left.hasPublic():
		return time.Time{}, err
	}
	err = s.changeList(ctx, s.linksKey(posted.UserID, posted.ChannelID), func(posts []string) []string {
		return slices.DeleteFunc(posts, func(each string) bool { return each == postID })
	})
	if err != nil {
		return time.Time{}, err
	}
	return time.Time{}, s.forgetPosted(ctx, postID)
}

// markDeleted notes that a post was deleted, and returns what is known of it, or NotFound.
func (s *Service) markDeleted(ctx context.Context, postID string) (marked Posted, err error) {
	err = s.changePosted(ctx, postID, func(posted *Posted) error {
		if posted.HostID == "" {
			return errNoLink()
		}
		if posted.DeletedAt.IsZero() {
			posted.DeletedAt = s.Clock.Now().UTC()
		}
		marked = *posted
		return nil
	})
	return marked, err
}

// Card is what a post with a card shows.
type Card struct {
	PostID string
	Posted
}

// Card returns what the plugin knows of what is in a post, to who may read it now; to others, and of posts that are not its own, it
// tells nothing but NotFound.
func (s *Service) Card(ctx context.Context, userID, postID string) (Card, error) {
	hidden := E(NotFound, "There is no such card.", nil)
	seen, err := s.Mattermost.ReadPost(ctx, postID)
	if kind := KindOf(err); err != nil && (kind == NotFound || kind == InvalidRequest || kind == Forbidden) {
		return Card{}, hidden
	}
	if err == nil {
		err = s.Mattermost.MayRead(ctx, userID, seen.ChannelID)
	}
	if KindOf(err) == NotFound {
		return Card{}, hidden
	}
	if err != nil {
		return Card{}, err
	}
	posted, err := s.postedAs(ctx, postID)
	if err != nil && KindOf(err) != NotFound {
		return Card{}, err
	}
	if err != nil || posted.UserID != seen.UserID || posted.ChannelID != seen.ChannelID {
		return Card{}, hidden
	}
	posted.Items = slices.DeleteFunc(posted.Items, func(item PostedItem) bool { return !seen.shows(item) })
	if len(posted.Items) == 0 {
		return Card{}, hidden
	}
	return Card{postID, posted}, nil
}

// fieldOf is the field that an error of a request names; "" = none.
func fieldOf(err error) string {
	var known *Error
	if errors.As(err, &known) && known.Kind == InvalidRequest {
		return known.Field
	}
	return ""
}

// asLinkField names a field of a link as POST /attach has it.
func asLinkField(err error) error {
	if field := fieldOf(err); field == "password" || field == "expires_at" || field == "permission" {
		var known *Error
		_ = errors.As(err, &known)
		named := *known
		named.Field = "link." + field
		return &named
	}
	return err
}
