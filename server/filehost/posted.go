package filehost

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/pkg/errors"
)

// PostedLife is how long the plugin remembers a post after it last changed what it knows of it.
const PostedLife = 400 * 24 * time.Hour

// The beginnings of the keys of what the use cases store without encryption: it holds no credential, and nothing that the
// posts that it is about don't show to everybody who may read them, but for where a file lies at the host.
const (
	postedPrefix = "post_"
	draftPrefix  = "draft_"
	linksPrefix  = "links_"  // which posts of a user's in a channel have public links
	threadPrefix = "thread_" // which replies have links that end with them
	sharePrefix  = "share_"  // which posts have a share
	todoPrefix   = "todo_"   // what is to be looked after
)

// StoresPlain tells whether the value at a key of the store is one that nothing encrypts.
func StoresPlain(key string) bool {
	return slices.ContainsFunc([]string{postedPrefix, draftPrefix, linksPrefix, threadPrefix, sharePrefix, todoPrefix},
		func(prefix string) bool { return strings.HasPrefix(key, prefix) })
}

// Posted is what the plugin knows of a post that it made. What a post says of itself is anybody's to forge; this is not.
type Posted struct {
	HostID    string       `json:"host"` // of Host
	UserID    string       `json:"user"` // who posted
	ChannelID string       `json:"channel"`
	PostedAt  time.Time    `json:"at"`
	Items     []PostedItem `json:"items"`
	// NewerOf is the post whose files this one brought newer versions of; "" = none.
	NewerOf string `json:"newer_of,omitempty"`
	// Refreshed counts the times that newer versions of the items were brought in.
	Refreshed int `json:"refreshed,omitempty"`

	// Of a post with links.
	Account   string    `json:"account,omitempty"`   // whose the shares are at the host; "" where it has no such thing
	Card      string    `json:"card,omitempty"`      // of Post
	RootID    string    `json:"root,omitempty"`      // of Post
	DeletedAt time.Time `json:"deleted_at,omitzero"` // when the post was deleted whose links are still there
}

// PostedItem is one entry of the host in a post: a copy of it or a link to it.
type PostedItem struct {
	ID         string    `json:"id"`             // of the Entry, as Ref.ID has it
	Whose      string    `json:"whose"`          // the account at the host's address that has found it, as Service.whose has it
	PathID     string    `json:"path,omitempty"` // of its path, as Path.ID has it
	Name       string    `json:"name"`
	Kind       EntryKind `json:"kind"`
	Size       int64     `json:"size"` // bytes
	MIMEType   string    `json:"mime_type,omitempty"`
	ETag       string    `json:"etag,omitempty"`
	ModifiedAt time.Time `json:"modified_at,omitzero"`
	FileID     string    `json:"file_id,omitempty"` // of a copy
	Link       *Linked   `json:"link,omitempty"`    // of a link
	Line       string    `json:"line,omitempty"`    // of a link: what the post's message says of it
}

// Linked is a link that was posted.
type Linked struct {
	URL            string          `json:"url"`
	Public         bool            `json:"public"`             // else it opens for those only whom the host lets in
	ShareID        string          `json:"share_id,omitempty"` // Public: HostShare.ID
	Permission     SharePermission `json:"permission,omitempty"`
	Password       bool            `json:"password,omitempty"`
	ExpiresAt      time.Time       `json:"expires_at,omitzero"`
	RemoveWithPost bool            `json:"remove_with_post,omitempty"` // the share ends when the post is deleted
	Foreign        bool            `json:"foreign,omitempty"`          // the user had made the share by himself; it ends with no post
	RevokedAt      time.Time       `json:"revoked_at,omitzero"`        // when it was ended
}

// shows tells whether a post still has an item: its author can have edited it.
func (p SeenPost) shows(item PostedItem) bool {
	if item.Link == nil {
		return item.FileID == "" || slices.Contains(p.FileIDs, item.FileID)
	}
	return strings.Contains(p.Message, item.Line) || strings.Contains(p.Message, linkable(item.Link.URL))
}

// whose names the account of a credential at the host's present address, and tells nothing of either. The ids and paths of
// entries mean others for another account, and at another address.
func (s *Service) whose(credential Credential) string {
	sum := sha256.Sum256([]byte(s.Host.BaseURL.String() + "\x00" + credential.Account))
	return base64.RawURLEncoding.EncodeToString(sum[:12])
}

func postedKey(postID string) string { return postedPrefix + postID }

// postedAs returns what is known of a post, or NotFound.
func (s *Service) postedAs(ctx context.Context, postID string) (Posted, error) {
	posted, _, err := s.readPosted(ctx, postID)
	return posted, err
}

func (s *Service) readPosted(ctx context.Context, postID string) (posted Posted, raw []byte, err error) {
	if raw, err = s.KV.Get(ctx, postedKey(postID)); err != nil {
		return posted, nil, errors.Wrap(err, "read what is known of a post")
	}
	if raw == nil || json.Unmarshal(raw, &posted) != nil || posted.HostID != s.Host.ID {
		return Posted{}, raw, E(NotFound, "The post is not one that was made from "+s.Host.Name+", or it is too old.", nil)
	}
	return posted, raw, nil
}

// changePosted changes what is known of a post, and keeps a new one when there is nothing (posted is zero then). change
// may be called more than once; nothing is written when it fails.
func (s *Service) changePosted(ctx context.Context, postID string, change func(*Posted) error) error {
	for tries := 0; s.mayTry(ctx, tries); tries++ {
		posted, raw, err := s.readPosted(ctx, postID)
		if err != nil && KindOf(err) != NotFound {
			return err
		}
		if err = change(&posted); err != nil {
			return err
		}
		changed, err := json.Marshal(posted)
		if err != nil {
			return errors.Wrap(err, "keep what is known of a post")
		}
		won, err := s.KV.CompareAndSet(ctx, postedKey(postID), raw, changed, PostedLife)
		if err != nil || won {
			return errors.Wrap(err, "keep what is known of a post")
		}
	}
	return E(Timeout, "The post could not be remembered in time.", ctx.Err())
}

// forgetPosted removes what is known of a post.
func (s *Service) forgetPosted(ctx context.Context, postID string) error {
	return s.forget(ctx, postedKey(postID))
}

func (s *Service) forget(ctx context.Context, key string) error {
	for tries := 0; s.mayTry(ctx, tries); tries++ {
		raw, err := s.KV.Get(ctx, key)
		if err != nil || raw == nil {
			return errors.Wrap(err, "forget a post")
		}
		if won, err := s.KV.CompareAndDelete(ctx, key, raw); err != nil || won {
			return errors.Wrap(err, "forget a post")
		}
	}
	return E(Timeout, "The post could not be forgotten in time.", ctx.Err())
}

// PostDeleted forgets what is known of a post that was deleted, and of its files. Links end with it if they were to.
func (s *Service) PostDeleted(ctx context.Context, post SeenPost) error {
	if err := s.linksDeleted(ctx, post); err != nil {
		return err
	}
	for _, fileID := range post.FileIDs {
		if err := s.forget(ctx, draftKey(fileID)); err != nil {
			return err
		}
	}
	return nil
}
