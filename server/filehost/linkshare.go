package filehost

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/pkg/errors"
)

// mostUses is how many posts with the same share are told apart.
const mostUses = 200

// shareUse is what is known of who needs a share. Posts are named by their cards.
type shareUse struct {
	Cards   []string `json:"cards"`
	Posts   []string `json:"posts,omitempty"`   // that are known to have it, by their ids
	Foreign bool     `json:"foreign,omitempty"` // the user has made it by himself: it is his to end
	Ending  bool     `json:"ending,omitempty"`  // nobody else may use it any more
}

func (s *Service) shareKey(shareID string) string {
	sum := sha256.Sum256([]byte(s.Host.ID + "\x00" + shareID))
	return sharePrefix + base64.RawURLEncoding.EncodeToString(sum[:])
}

// changeShareUse changes what is known of who needs a share.
func (s *Service) changeShareUse(ctx context.Context, shareID string, change func(use *shareUse, known bool) error) error {
	key := s.shareKey(shareID)
	for tries := 0; s.mayTry(ctx, tries); tries++ {
		raw, err := s.KV.Get(ctx, key)
		if err != nil {
			return storeFailed(err)
		}
		var use shareUse
		known := raw != nil && json.Unmarshal(raw, &use) == nil
		if err = change(&use, known); err != nil {
			return err
		}
		next, err := json.Marshal(use)
		if err != nil {
			return errors.Wrap(err, "keep who needs a link")
		}
		if won, err := s.KV.CompareAndSet(ctx, key, raw, next, PostedLife); err != nil {
			return storeFailed(err)
		} else if won {
			return nil
		}
	}
	return E(Timeout, "Who needs a link could not be kept in time.", ctx.Err())
}

// useShare notes that the post with a card needs a share, and tells whether the user had made that by himself. It fails
// with Conflict while the share is being ended.
func (s *Service) useShare(ctx context.Context, shareID, card string, reused bool) (foreign bool, err error) {
	err = s.changeShareUse(ctx, shareID, func(use *shareUse, known bool) error {
		switch {
		case !reused: // whatever is known is of another share that had the id
			*use = shareUse{}
		case !known:
			use.Foreign = true
		case use.Ending:
			return &Error{Kind: Conflict, RetryAfter: claimRetry, Message: "An equal link is just being removed; try again shortly."}
		}
		if !slices.Contains(use.Cards, card) {
			use.Cards = append(use.Cards, card)
		}
		if len(use.Cards) > mostUses {
			return &Error{Kind: TooLarge, Limit: mostUses, LimitOwner: OwnerPlugin, Message: "The same link is in too many posts already."}
		}
		foreign = use.Foreign
		return nil
	})
	return foreign, err
}

// releaseShare notes that the post with a card needs a share no longer. last = nobody does: the share is to be ended, and
// is used by nobody any more. foreign says whose a share is of which nothing is known: one that the user had before is his.
func (s *Service) releaseShare(ctx context.Context, shareID, card string, foreign bool) (last bool, err error) {
	err = s.changeShareUse(ctx, shareID, func(use *shareUse, known bool) error {
		if !known {
			use.Foreign = foreign
		}
		use.Cards = slices.DeleteFunc(use.Cards, func(each string) bool { return each == card })
		use.Ending = use.Ending || len(use.Cards) == 0 && !use.Foreign
		last = use.Ending
		return nil
	})
	return last, err
}

// condemnShare lets nobody use a share any more, whoever needs it, and returns the posts that have it.
func (s *Service) condemnShare(ctx context.Context, shareID string) (posts []string, err error) {
	err = s.changeShareUse(ctx, shareID, func(use *shareUse, _ bool) error {
		use.Ending, posts = true, use.Posts
		return nil
	})
	return posts, err
}

// addPost notes that a post has a share: where nothing is known of the share, nothing is noted.
func (s *Service) addPost(ctx context.Context, shareID, postID string) error {
	err := s.changeShareUse(ctx, shareID, func(use *shareUse, known bool) error {
		if !known || slices.Contains(use.Posts, postID) {
			return errNoLink()
		}
		use.Posts = append(use.Posts, postID)
		use.Posts = use.Posts[max(0, len(use.Posts)-mostUses):]
		return nil
	})
	if KindOf(err) == NotFound {
		err = nil // there is nothing to note
	}
	return err
}

// postsOf are the posts that are known to have a share.
func (s *Service) postsOf(ctx context.Context, shareID string) (posts []string, err error) {
	err = s.changeShareUse(ctx, shareID, func(use *shareUse, known bool) error {
		if posts = use.Posts; !known {
			return errNoLink()
		}
		return nil
	})
	return posts, err
}

// tellOthers has the other posts with a share say what has become of it, too. They must not tell less of it than is so.
func (s *Service) tellOthers(ctx context.Context, posts []string, told, shareID string, change func(*Linked)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), undoTime)
	defer cancel()
	for _, postID := range posts {
		posted, err := s.postedAs(ctx, postID)
		if postID == told || err != nil { // nothing is known of it any more, or it can't be told
			continue
		}
		for at, item := range posted.Items {
			if item.Link == nil || item.Link.ShareID != shareID || !item.Link.RevokedAt.IsZero() {
				continue
			}
			if _, err = s.changeLinked(ctx, postID, at, change); err != nil {
				s.Log.Warn("A post still says what its link was before.", "post_id", postID, "error", err)
			}
		}
	}
}

// everyShare and withTheirPost say which links of a post are to be ended.
func everyShare(*Linked) bool         { return true }
func withTheirPost(link *Linked) bool { return link.RemoveWithPost }

// endShares ends those shares of a post that nobody else needs, as the user who made them. It ends all that it can, and
// fails with the first error.
func (s *Service) endShares(ctx context.Context, posted Posted, which func(*Linked) bool) error {
	event := AuditEvent{Action: AuditUnlink}
	var ending []PostedItem
	var first error
	for _, item := range posted.Items {
		if item.Link == nil || !item.Link.Public || !item.Link.RevokedAt.IsZero() || !which(item.Link) {
			continue
		}
		last, err := s.releaseShare(ctx, item.Link.ShareID, posted.Card, item.Link.Foreign)
		if err != nil && first == nil {
			first = err
		}
		if err == nil && last {
			ending = append(ending, item)
			event.name(item.ref())
		}
	}
	if len(ending) == 0 {
		return first
	}
	var failed []Ref
	err := s.using(ctx, event, func(ctx context.Context) error {
		for _, item := range ending {
			if err := s.removeShare(ctx, posted.UserID, posted.Account, item); err != nil {
				failed = append(failed, item.ref())
				if first == nil {
					first = err
				}
			}
		}
		return first
	}, func() []Ref { return failed })
	return err
}

// removeShare ends a share as its user at the host.
func (s *Service) removeShare(ctx context.Context, userID, account string, item PostedItem) error {
	err := s.asPoster(ctx, userID, account, func(credential Credential) error {
		entry, gone, err := s.entryOf(ctx, credential, item)
		if err == nil {
			err = s.Remote.RemoveShare(ctx, credential, entry, item.Link.ShareID)
		}
		if gone && KindOf(err) == NotFound {
			return nil // with what was shared
		}
		return err
	})
	if err != nil {
		return err
	}
	key := s.shareKey(item.Link.ShareID)
	if raw, err := s.KV.Get(ctx, key); err == nil && raw != nil { // else it ends by itself
		_, _ = s.KV.CompareAndDelete(ctx, key, raw)
	}
	return nil
}

// entryOf returns what a posted item is now, or what is known of it where the host doesn't find it: its shares may be
// there all the same.
func (s *Service) entryOf(ctx context.Context, credential Credential, item PostedItem) (entry Entry, gone bool, err error) {
	ref := item.ref()
	entry, err = s.statRef(ctx, credential, ref)
	if KindOf(err) == NotFound {
		return Entry{Path: ref.Path, HostID: ref.HostID, Kind: item.Kind}, true, nil
	}
	return entry, false, err
}

// ref names the entry of a posted item.
func (i PostedItem) ref() Ref {
	ref, _ := ParseRef("id", i.ID) // Ref.ID has made it
	return ref
}

// asPoster is asUser for what a user has made with an account of his: with another one the host would tell that there is no
// such thing.
func (s *Service) asPoster(ctx context.Context, userID, account string, call func(Credential) error) error {
	return s.asUser(ctx, userID, func(credential Credential) error {
		if credential.Account != account {
			return E(NotConnected, "The link was made with another account of "+s.Host.Name+"; connect that one again to change it.", nil)
		}
		return call(credential)
	})
}
