package filehost

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	"golang.org/x/sync/errgroup"
)

// statsAtOnce is how many items of one request are looked up at the host at the same time.
const statsAtOnce = 4

// Attachment asks for files of the host to be copied into a channel.
type Attachment struct {
	ChannelID      string
	RootID         string // "" outside a thread
	Message        string
	Items          []Item
	Draft          bool         // copy, and leave the post to the caller
	Link           *LinkRequest // post links instead of copies; nil = copy
	DryRun         bool         // do all checks, and nothing else
	IdempotencyKey string       // "" = none
	newerOf        string       // the post whose files these are newer versions of; "" = none
}

// Item is one file to attach, or one file or folder to link.
type Item struct {
	Path   Path   // not known where HostID is set
	HostID string // of the entry, instead of the path
	ETag   string // as the caller has seen it in a listing; "" = whatever is there
}

// Attached is what came of an Attachment.
type Attached struct {
	PostID    string            // "" for a draft and for a dry run
	FileInfos []json.RawMessage // of a draft: the files as Mattermost's own API shows them
	Items     []AttachedItem    // in the order asked
	Audience  *LinkAudience     // of a dry run for links
	Grants    []Granted         // of links: to whom they were to be opened, in the order asked
}

// AttachedItem is what came of one Item: a file, a link, or an error.
type AttachedItem struct {
	Path   Path   // the root for one that was asked for by HostID and not found
	HostID string // as asked
	Name   string // as Mattermost has it; "" for one that was not found by HostID
	Size   int64  // bytes
	FileID string // "" when Err is set, and for a dry run
	Link   *Linked
	// Password is that of the link, if the plugin has chosen it: nobody is told it again.
	Password Secret
	Err      error
	info     json.RawMessage
	source   *PostedItem // what was copied; nil for what is not, or not known any more
}

func newItems(attachment Attachment) []AttachedItem {
	items := make([]AttachedItem, len(attachment.Items))
	for i, item := range attachment.Items {
		items[i] = AttachedItem{HostID: item.HostID}
		if item.HostID == "" {
			items[i].name(item.Path)
		}
	}
	return items
}

// name says which file of the host it is.
func (i *AttachedItem) name(path Path) { i.Path, i.Name = path, StoredName(path.Name()) }

// pending tells whether the item is still to be copied.
func (i *AttachedItem) pending() bool { return i.Err == nil && i.FileID == "" }

// Attach copies files of the host into Mattermost and posts them as the user. All that can be checked is checked before
// a byte moves. When some items fail the others are posted; when all fail nothing is, and the error is the first one's.
// With an idempotency key the same Attachment is carried out once, whoever dies meanwhile, and answered alike; it fails
// with Conflict while it is under way and with KeyReused for another Attachment.
func (s *Service) Attach(ctx context.Context, userID string, attachment Attachment) (Attached, error) {
	var attached Attached
	event := AuditEvent{Action: AuditAttach}
	for _, item := range attachment.Items {
		event.name(Ref{item.Path, item.HostID})
	}
	if attachment.Link != nil {
		event.Action = AuditLink
	}
	err := s.using(ctx, event, func(ctx context.Context) (err error) {
		switch {
		case attachment.DryRun && attachment.Link != nil:
			attached, err = s.rehearseLinks(ctx, userID, attachment)
		case attachment.DryRun:
			attached, err = s.dryRun(ctx, userID, attachment)
		case attachment.IdempotencyKey != "":
			attached, err = s.attachOnce(ctx, userID, attachment)
		default:
			attached, err = s.carryOut(ctx, userID, attachment, nil)
		}
		return err
	}, func() []Ref { return attached.failed() })
	return attached, err
}

// failed are the items that were not attached.
func (a *Attached) failed() []Ref {
	var refs []Ref
	for _, item := range a.Items {
		if item.Err != nil {
			refs = append(refs, Ref{item.Path, item.HostID})
		}
	}
	return refs
}

// dryRun does the checks of a copy that move nothing. The dimensions of an image are in its content: they are not among
// them.
func (s *Service) dryRun(ctx context.Context, userID string, attachment Attachment) (Attached, error) {
	limits, err := s.admit(ctx, userID, attachment)
	if err != nil {
		return Attached{}, err
	}
	items := newItems(attachment)
	s.lookUp(ctx, userID, attachment, items, limits)
	if err = s.checkSum(items); err != nil {
		return Attached{}, err
	}
	return Attached{Items: items}, nil
}

// carryOut does the work of Attach. claim is nil without an idempotency key.
func (s *Service) carryOut(ctx context.Context, userID string, attachment Attachment, claim *claim) (Attached, error) {
	if attachment.Link != nil {
		return s.attachLinks(ctx, userID, attachment, claim)
	}
	return s.attach(ctx, userID, attachment, claim)
}

// attach copies and posts.
func (s *Service) attach(ctx context.Context, userID string, attachment Attachment, claim *claim) (Attached, error) {
	limits, err := s.admit(ctx, userID, attachment)
	if err != nil {
		return Attached{}, err
	}
	leave, err := s.Copies.Take(userID, s.Settings.CopiesPerUser, s.Settings.CopiesPerNode)
	if err != nil {
		return Attached{}, err
	}
	defer leave()
	items := newItems(attachment)
	if err = s.reuse(ctx, userID, attachment, items, claim); err != nil {
		return Attached{}, err
	}
	entries := s.lookUp(ctx, userID, attachment, items, limits)
	if err = s.checkSum(items); err != nil {
		return Attached{}, err
	}
	for i, entry := range entries {
		if !items[i].pending() {
			continue
		}
		var stored FileInfo
		source := newPostedItem(entry)
		stored, source.Whose, items[i].Err = s.transfer(ctx, userID, attachment.ChannelID, entry, limits)
		if items[i].Err == nil {
			items[i].FileID, items[i].info, items[i].source = stored.ID, stored.JSON, &source
		}
		if err = claim.copied(ctx, items); err != nil {
			return Attached{}, err
		}
	}
	return s.deliver(ctx, userID, attachment, items, claim)
}

// admit checks what needs no look at the host.
func (s *Service) admit(ctx context.Context, userID string, attachment Attachment) (Limits, error) {
	limits, err := s.Mattermost.Limits(ctx)
	if err != nil {
		return limits, err
	}
	if err = s.check(attachment, limits); err != nil {
		return limits, err
	}
	return limits, s.mayPost(ctx, userID, attachment)
}

// mayPost fails unless the user may post what he asks for there now.
func (s *Service) mayPost(ctx context.Context, userID string, attachment Attachment) error {
	if attachment.Link != nil {
		return s.Mattermost.MayPost(ctx, userID, attachment.ChannelID, attachment.RootID)
	}
	return s.Mattermost.MayAttach(ctx, userID, attachment.ChannelID, attachment.RootID)
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
	case attachment.Link != nil:
		return attachment.Link.check(s.Clock.Now())
	}
	return nil
}

// lookUp asks the host for every item that is still to be copied, the first alone and the others a few at a time, and
// checks each. A credential that the host rejects is so sent once, not once for each item.
func (s *Service) lookUp(ctx context.Context, userID string, attachment Attachment, items []AttachedItem, limits Limits) []Entry {
	entries := make([]Entry, len(items))
	var pending []int
	for i := range items {
		if items[i].pending() {
			pending = append(pending, i)
		}
	}
	lookUpEach(pending, func(i int) {
		items[i].Err = Recovered(func() (err error) {
			if entries[i], err = s.stat(ctx, userID, Ref{items[i].Path, items[i].HostID}); err != nil {
				return inTime(ctx, limits, err)
			}
			items[i].name(entries[i].Path)
			items[i].Size = entries[i].Size
			field := fmt.Sprintf("items[%d]", i)
			if attachment.Link != nil {
				return attachment.Link.checkEntry(entries[i], field, attachment.Items[i].ETag)
			}
			return s.checkEntry(entries[i], field, attachment.Items[i].ETag, limits)
		})
	})
	return entries
}

// lookUpEach calls look for the first alone, and then for the others, a few at a time.
func lookUpEach(at []int, look func(i int)) {
	var group errgroup.Group
	group.SetLimit(statsAtOnce)
	for n, i := range at {
		if n == 0 {
			look(i)
			continue
		}
		group.Go(func() error { look(i); return nil })
	}
	_ = group.Wait() // no member fails
}

func (s *Service) stat(ctx context.Context, userID string, ref Ref) (entry Entry, err error) {
	err = s.asUser(ctx, userID, func(credential Credential) (err error) {
		entry, err = s.statRef(ctx, credential, ref)
		return err
	})
	return entry, err
}

func (s *Service) statRef(ctx context.Context, credential Credential, ref Ref) (Entry, error) {
	if ref.HostID != "" {
		return s.Remote.StatID(ctx, credential, ref.HostID)
	}
	return s.Remote.Stat(ctx, credential, ref.Path)
}

// checkEntry tells whether what the host has can be copied. field is where the request asks for it.
func (s *Service) checkEntry(entry Entry, field, etag string, limits Limits) error {
	most, owner, setting := s.Settings.MaxCopyBytes, OwnerPlugin, "this plugin's settings allow"
	if limits.FileSize < most {
		most, owner, setting = limits.FileSize, OwnerMattermost, "Mattermost allows"
	}
	switch {
	case entry.Kind != File:
		return Invalid(field, "A folder can't be attached; choose files.")
	case !slices.Contains(entry.Permissions, Read):
		return E(Forbidden, "The file may be looked at, but not downloaded.", nil)
	case etag != "" && entry.ETag != "" && !SameETag(etag, entry.ETag):
		return E(Changed, "The file has changed since it was listed; list the folder again.", nil)
	case entry.Size == 0:
		return Invalid(field, "The file is empty; Mattermost takes no empty files.")
	case entry.Size > most:
		return &Error{Kind: TooLarge, Field: field, Limit: most, LimitOwner: owner, Actual: entry.Size,
			Message: fmt.Sprintf("The file has %d bytes; %s %d.", entry.Size, setting, most)}
	}
	return nil
}

// checkSum keeps one request, which is answered when all is copied, within the limit that a single file has.
func (s *Service) checkSum(items []AttachedItem) error {
	var sum int64
	for _, item := range items {
		if item.Err == nil {
			sum += item.Size
		}
	}
	if sum <= s.Settings.MaxCopyBytes {
		return nil
	}
	return &Error{Kind: TooLarge, Field: "items", Limit: s.Settings.MaxCopyBytes, LimitOwner: OwnerPlugin, Actual: sum,
		Message: fmt.Sprintf("The files have %d bytes together; this plugin's settings allow %d in one request.", sum, s.Settings.MaxCopyBytes)}
}

// deliver posts what was copied, or hands it to the caller for his draft.
func (s *Service) deliver(ctx context.Context, userID string, attachment Attachment, items []AttachedItem, claim *claim) (Attached, error) {
	attached := newAttached(attachment, items)
	fileIDs := copiedIDs(items)
	if len(fileIDs) == 0 {
		return Attached{}, items[0].Err
	}
	// A copy takes minutes: the user may have left the channel, or the channel been archived, meanwhile.
	if err := s.Mattermost.MayAttach(ctx, userID, attachment.ChannelID, attachment.RootID); err != nil {
		return attached, err
	}
	if attachment.Draft {
		s.remember(ctx, userID, attachment, items, "")
		return attached, nil
	}
	if err := claim.posting(ctx, items, ""); err != nil {
		return Attached{}, err
	}
	var err error
	if attached.PostID, err = s.post(ctx, attachment.post(userID, fileIDs, claim)); err == nil {
		s.remember(ctx, userID, attachment, items, attached.PostID)
	}
	return attached, err
}

func newAttached(attachment Attachment, items []AttachedItem) Attached {
	attached := Attached{Items: items}
	for _, item := range items {
		if attachment.Draft && item.Err == nil {
			attached.FileInfos = append(attached.FileInfos, item.info)
		}
	}
	return attached
}

func copiedIDs(items []AttachedItem) []string {
	var fileIDs []string
	for _, item := range items {
		if item.Err == nil && item.FileID != "" {
			fileIDs = append(fileIDs, item.FileID)
		}
	}
	return fileIDs
}

func (a *Attachment) post(userID string, fileIDs []string, claim *claim) Post {
	return Post{UserID: userID, ChannelID: a.ChannelID, RootID: a.RootID, Message: a.Message, FileIDs: fileIDs, PendingID: claim.pendingID()}
}

// post creates a post. Where that ended in a failure, the post may be there all the same.
func (s *Service) post(ctx context.Context, post Post) (string, error) {
	postID, err := s.Mattermost.Post(ctx, post)
	if err == nil {
		return postID, nil
	}
	if seen, lookErr := s.look(ctx, post, s.Clock.Now().Add(-lookBack)); lookErr == nil && seen.postID != "" {
		return seen.postID, nil
	}
	return "", err
}

// lookBack is how far before now a post is looked for whose call has just ended, by the clock of another machine.
const lookBack = 10 * time.Minute

// sighting is what is found of a post: what its files tell, or its card.
type sighting struct {
	postID string // the post that has all files that still exist, or the card; "" = none
	some   bool   // some file has a post
	gone   bool   // no file exists any more, or the post with the card was deleted
}

// look tells whether the files of a post have one, or whether there is one since then with its card.
func (s *Service) look(ctx context.Context, post Post, since time.Time) (sighting, error) {
	if post.Card != "" {
		postID, gone, err := s.Mattermost.FindCard(ctx, post, since)
		return sighting{postID: postID, gone: gone}, err
	}
	files, err := s.Mattermost.Files(ctx, post.FileIDs)
	if err != nil {
		return sighting{}, err
	}
	files = slices.DeleteFunc(files, func(file FileInfo) bool { return file.ID == "" })
	if len(files) == 0 {
		return sighting{gone: true}, nil
	}
	seen := sighting{postID: files[0].PostID}
	for _, file := range files {
		seen.some = seen.some || file.PostID != ""
		if file.PostID != seen.postID {
			seen.postID = ""
		}
	}
	return seen, nil
}
