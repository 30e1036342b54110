package filehost

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/pkg/errors"
)

// rememberTime bounds what is done to remember a copy, when the copy itself is made.
const rememberTime = 10 * time.Second

// drafted is what the plugin knows of a file that it has copied for a draft: which post it gets, only its user knows.
type drafted struct {
	HostID string     `json:"host"` // of Host
	UserID string     `json:"user"` // whose draft
	Item   PostedItem `json:"item"`
}

func draftKey(fileID string) string { return draftPrefix + fileID }

// newPostedItem is what is remembered of an entry that is posted now.
func newPostedItem(entry Entry) PostedItem {
	return PostedItem{ID: entry.ID(), PathID: entry.Path.ID(), Name: StoredName(entry.Path.Name()), Kind: entry.Kind, Size: entry.Size,
		MIMEType: entry.MIMEType, ETag: entry.ETag, ModifiedAt: entry.ModifiedAt}
}

// remember keeps where the files of a post, or of a draft, came from. Where that fails they stand all the same: it can't be
// told then whether there is a newer version.
func (s *Service) remember(ctx context.Context, userID string, attachment Attachment, items []AttachedItem, postID string) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	if attachment.Draft {
		_ = s.rememberDrafts(ctx, userID, items)
		return
	}
	_ = s.keepNew(ctx, postedKey(postID), Posted{HostID: s.Host.ID, UserID: userID, ChannelID: attachment.ChannelID,
		PostedAt: s.Clock.Now().UTC(), Items: copiedItems(items), NewerOf: attachment.newerOf})
}

// keepNew stores what is known of a new post or file, unless something is stored there already.
func (s *Service) keepNew(ctx context.Context, key string, known any) error {
	raw, err := json.Marshal(known)
	if err == nil {
		_, err = s.KV.CompareAndSet(ctx, key, nil, raw, PostedLife)
	}
	return errors.Wrap(err, "keep what is known of a post")
}

// copiedItems are those that have been copied.
func copiedItems(items []AttachedItem) []PostedItem {
	var copied []PostedItem
	for _, item := range items {
		if item.Err == nil && item.source != nil {
			source := *item.source
			source.FileID = item.FileID
			copied = append(copied, source)
		}
	}
	return copied
}

func (s *Service) rememberDrafts(ctx context.Context, userID string, items []AttachedItem) error {
	for _, item := range copiedItems(items) {
		if err := s.keepNew(ctx, draftKey(item.FileID), drafted{HostID: s.Host.ID, UserID: userID, Item: item}); err != nil {
			return err
		}
	}
	return nil
}

// draftsOf returns what is known of those files of a user's post that came through a draft.
func (s *Service) draftsOf(ctx context.Context, post SeenPost) ([]PostedItem, error) {
	var items []PostedItem
	for _, fileID := range slices.Compact(slices.Sorted(slices.Values(post.FileIDs))) {
		raw, err := s.KV.Get(ctx, draftKey(fileID))
		if err != nil {
			return nil, errors.Wrap(err, "read what is known of a file")
		}
		var known drafted
		if raw != nil && json.Unmarshal(raw, &known) == nil && known.HostID == s.Host.ID && known.UserID == post.UserID {
			items = append(items, known.Item)
		}
	}
	return items, nil
}
