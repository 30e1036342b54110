package filehost

import (
	"context"
	"fmt"
	"slices"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// statsAtOnce is how many items of one request are looked up at the host at the same time.
const statsAtOnce = 4

// Attachment asks for files of the host to be copied into a channel.
type Attachment struct {
	ChannelID string
	RootID    string // "" outside a thread
	Message   string
	Items     []Item
}

// Item is one file to attach.
type Item struct {
	Path Path
	ETag string // as the caller has seen it in a listing; "" = whatever is there
}

// Attached is what came of an Attachment.
type Attached struct {
	PostID string
	Items  []AttachedItem // in the order asked
}

// AttachedItem is what came of one Item: a file, or an error.
type AttachedItem struct {
	Path   Path
	Name   string // as Mattermost has it
	Size   int64  // bytes
	FileID string // "" when Err is set
	Err    error
}

// Attach copies files of the host into Mattermost and posts them as the user. All that can be checked is checked before
// a byte moves. When some items fail the others are posted; when all fail nothing is, and the error is the first one's.
func (s *Service) Attach(ctx context.Context, userID string, attachment Attachment) (Attached, error) {
	limits, err := s.Mattermost.Limits(ctx)
	if err != nil {
		return Attached{}, err
	}
	if err = s.check(attachment, limits); err != nil {
		return Attached{}, err
	}
	if err = s.Mattermost.MayAttach(ctx, userID, attachment.ChannelID, attachment.RootID); err != nil {
		return Attached{}, err
	}
	leave, err := s.Copies.Take(userID, s.Settings.CopiesPerUser, s.Settings.CopiesPerNode)
	if err != nil {
		return Attached{}, err
	}
	defer leave()
	entries, items := s.lookUp(ctx, userID, attachment.Items, limits)
	for i, entry := range entries {
		if items[i].Err == nil {
			items[i].FileID, items[i].Err = s.transfer(ctx, userID, attachment.ChannelID, entry, limits)
		}
	}
	return s.post(ctx, userID, attachment, items)
}

func (s *Service) check(attachment Attachment, limits Limits) error {
	count, message := len(attachment.Items), utf8.RuneCountInString(attachment.Message)
	most, owner := s.Settings.MaxFiles, OwnerPlugin
	if limits.FilesPerPost < most {
		most, owner = limits.FilesPerPost, OwnerMattermost
	}
	switch {
	case count == 0:
		return Invalid("items", "items must name at least one file.")
	case count > most:
		return &Error{Kind: TooLarge, Field: "items", Limit: int64(most), LimitOwner: owner, Actual: int64(count),
			Message: fmt.Sprintf("A post takes at most %d files.", most)}
	case message > limits.MessageLength:
		return &Error{Kind: TooLarge, Field: "message", Limit: int64(limits.MessageLength), LimitOwner: OwnerMattermost, Actual: int64(message),
			Message: fmt.Sprintf("The message is longer than the %d characters that Mattermost takes.", limits.MessageLength)}
	}
	return nil
}

// lookUp asks the host for every item, the first alone and the others a few at a time, and checks each. A credential that
// the host rejects is so sent once, not once for each item.
func (s *Service) lookUp(ctx context.Context, userID string, wanted []Item, limits Limits) ([]Entry, []AttachedItem) {
	entries, items := make([]Entry, len(wanted)), make([]AttachedItem, len(wanted))
	var group errgroup.Group
	group.SetLimit(statsAtOnce)
	for i, item := range wanted {
		items[i] = AttachedItem{Path: item.Path, Name: StoredName(item.Path.Name())}
		look := func() error {
			items[i].Err = Recovered(func() (err error) {
				if entries[i], err = s.stat(ctx, userID, item.Path); err != nil {
					return err
				}
				items[i].Size = entries[i].Size
				return s.checkEntry(entries[i], item.ETag, limits)
			})
			return nil // each item has its own error
		}
		if i == 0 {
			_ = look()
			continue
		}
		group.Go(look)
	}
	_ = group.Wait() // no member fails
	return entries, items
}

func (s *Service) stat(ctx context.Context, userID string, path Path) (entry Entry, err error) {
	err = s.asUser(ctx, userID, func(credential Credential) (err error) {
		entry, err = s.Remote.Stat(ctx, credential, path)
		return err
	})
	return entry, err
}

func (s *Service) checkEntry(entry Entry, etag string, limits Limits) error {
	most, owner, setting := s.Settings.MaxCopyBytes, OwnerPlugin, "this plugin's settings allow"
	if limits.FileSize < most {
		most, owner, setting = limits.FileSize, OwnerMattermost, "Mattermost allows"
	}
	switch {
	case entry.Kind != File:
		return Invalid("items", "A folder can't be attached; choose files.")
	case !slices.Contains(entry.Permissions, Read):
		return E(Forbidden, "The file may be looked at, but not downloaded.", nil)
	case etag != "" && entry.ETag != "" && !SameETag(etag, entry.ETag):
		return E(Changed, "The file has changed since it was listed; list the folder again.", nil)
	case entry.Size == 0:
		return Invalid("items", "The file is empty; Mattermost takes no empty files.")
	case entry.Size > most:
		return &Error{Kind: TooLarge, Limit: most, LimitOwner: owner, Actual: entry.Size,
			Message: fmt.Sprintf("The file has %d bytes; %s %d.", entry.Size, setting, most)}
	}
	return nil
}

func (s *Service) post(ctx context.Context, userID string, attachment Attachment, items []AttachedItem) (Attached, error) {
	var fileIDs []string
	for _, item := range items {
		if item.Err == nil {
			fileIDs = append(fileIDs, item.FileID)
		}
	}
	if len(fileIDs) == 0 {
		return Attached{}, items[0].Err
	}
	// A copy takes minutes: the user may have left the channel, or the channel been archived, meanwhile.
	if err := s.Mattermost.MayAttach(ctx, userID, attachment.ChannelID, attachment.RootID); err != nil {
		return Attached{}, err
	}
	postID, err := s.Mattermost.Post(ctx, Post{UserID: userID, ChannelID: attachment.ChannelID, RootID: attachment.RootID,
		Message: attachment.Message, FileIDs: fileIDs})
	return Attached{PostID: postID, Items: items}, err
}
