package filehost

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"
)

// Freshness says what has become of an entry since it was posted.
type Freshness string

// The states.
const (
	Unchanged Freshness = "unchanged"
	Newer     Freshness = "changed" // another content; it may have another name, too
	Renamed   Freshness = "renamed" // or moved, with the content that was posted
	Gone      Freshness = "gone"    // or not the user's to see any more
	Untold    Freshness = "unknown" // the host could not be asked: Err says why
)

// Refreshed is what has become of what a post shows.
type Refreshed struct {
	PostID  string // as asked
	ReplyID string // the post that brings the newer versions; "" when none does
	Items   []RefreshedItem
}

// RefreshedItem is what has become of one item of a post.
type RefreshedItem struct {
	Name   string // as it was posted
	State  Freshness
	Before Version
	After  *Version // nil when there is nothing any more, or it can't be told
	FileID string   // of the newer version, when it was brought in
	Err    error    // why it can't be told, or was not brought in
}

// Version is how an entry was at one time.
type Version struct {
	Name       string
	Path       *Path // nil where it is not known
	Size       int64 // bytes
	ModifiedAt time.Time
}

// refresh is a Refresh under way.
type refresh struct {
	post   SeenPost
	known  Posted
	keptAt string // the post that what is known is kept for
	items  []RefreshedItem
	now    []Entry // where there is an entry still
}

// Refresh tells a user what has become of the files of a post of his since they were posted. Unless it is a dry run, those
// that have changed are copied again, under all checks of Attach, and posted as an answer to the post, which stays as it
// is. When that is under way already, it fails with Conflict. It fails with Forbidden for another user's post, and with
// NotFound for one of which nothing is known.
func (s *Service) Refresh(ctx context.Context, userID, postID string, dryRun bool) (Refreshed, error) {
	r, err := s.readRefresh(ctx, userID, postID)
	if err != nil {
		return Refreshed{}, err
	}
	event := AuditEvent{Action: AuditRefresh}
	for _, item := range r.known.Items {
		if ref, err := ParseRef("id", item.ID); err == nil {
			event.name(ref)
		}
	}
	refreshed := Refreshed{PostID: postID, Items: r.items}
	err = s.using(ctx, event, func(ctx context.Context) (err error) {
		if err = s.compare(ctx, userID, r); err != nil || dryRun {
			return err
		}
		if refreshed.ReplyID, err = s.bring(ctx, userID, r); err != nil {
			return err
		}
		return s.keepRefreshed(ctx, r)
	}, nil)
	return refreshed, err
}

// readRefresh returns what is known of a user's own post.
func (s *Service) readRefresh(ctx context.Context, userID, postID string) (*refresh, error) {
	post, err := s.Mattermost.ReadPost(ctx, postID)
	if err != nil {
		return nil, err
	}
	notHis := E(Forbidden, "Only the one who has posted the files can have newer versions of them fetched: it takes his access to them.", nil)
	if post.UserID != userID {
		return nil, notHis
	}
	known, kept, err := s.knownOf(ctx, post)
	switch {
	case err != nil:
		return nil, err
	case known.UserID != userID:
		return nil, notHis
	}
	r := &refresh{post: post, known: known, keptAt: kept.ID, items: make([]RefreshedItem, len(known.Items)), now: make([]Entry, len(known.Items))}
	for i, item := range known.Items {
		r.items[i] = RefreshedItem{Name: item.Name, Before: Version{Name: item.Name, Size: item.Size, ModifiedAt: item.ModifiedAt}}
		if path, err := ParseID("path", item.PathID); err == nil {
			r.items[i].Before.Path = &path
		}
		if !kept.shows(item) {
			r.items[i].State, r.items[i].Err = Untold, E(NotFound, "This was taken out of the post.", nil)
		}
	}
	return r, nil
}

// knownOf returns what is known of a post: of a newer version, what is known of the first one, as long as that is there; of
// a post that its user made of a draft, what is known of its files. kept is the post that it is kept for.
func (s *Service) knownOf(ctx context.Context, post SeenPost) (known Posted, kept SeenPost, err error) {
	known, err = s.postedAs(ctx, post.ID)
	switch {
	case err == nil && known.NewerOf != "":
		first, err := s.postedAs(ctx, known.NewerOf)
		if err == nil {
			kept, err = s.Mattermost.ReadPost(ctx, known.NewerOf)
		}
		if KindOf(err) == NotFound {
			return known, post, nil
		}
		return first, kept, err
	case KindOf(err) != NotFound:
		return known, post, err
	}
	items, draftErr := s.draftsOf(ctx, post)
	if draftErr != nil || len(items) == 0 {
		return known, post, firstError(draftErr, err)
	}
	return Posted{HostID: s.Host.ID, UserID: post.UserID, ChannelID: post.ChannelID, PostedAt: s.Clock.Now().UTC(), Items: items}, post, nil
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// compare looks up each item at the host that the post still has. It fails when none can be.
func (s *Service) compare(ctx context.Context, userID string, r *refresh) error {
	var there []int
	for i, item := range r.items {
		if item.Err == nil {
			there = append(there, i)
		}
	}
	lookUpEach(there, func(i int) {
		item := &r.items[i]
		item.Err = Recovered(func() (err error) {
			item.State, r.now[i], err = s.becameOf(ctx, userID, r.known.Items[i])
			return err
		})
		switch {
		case item.Err != nil:
			item.State = Untold
		case item.State != Gone:
			item.After = versionOf(r.now[i])
		}
	})
	if !slices.ContainsFunc(r.items, func(item RefreshedItem) bool { return item.Err == nil }) {
		return r.items[0].Err
	}
	return nil
}

func versionOf(entry Entry) *Version {
	return &Version{Name: StoredName(entry.Path.Name()), Path: &entry.Path, Size: entry.Size, ModifiedAt: entry.ModifiedAt}
}

// becameOf finds an item by its id, which follows it wherever it is, or else by the path that it had: what lies there now
// has come in its place.
func (s *Service) becameOf(ctx context.Context, userID string, item PostedItem) (Freshness, Entry, error) {
	ref, err := ParseRef("id", item.ID)
	if err != nil {
		return Untold, Entry{}, err
	}
	var entry Entry
	err = s.asUser(ctx, userID, func(credential Credential) (err error) {
		if s.whose(credential) != item.Whose {
			return E(NotConnected, "This was posted with another account of "+s.Host.Name+", or from another address of it; connect that one again.", nil)
		}
		entry, err = s.statRef(ctx, credential, ref)
		if path, pathErr := ParseID("path", item.PathID); KindOf(err) == NotFound && ref.HostID != "" && pathErr == nil {
			entry, err = s.statRef(ctx, credential, Ref{Path: path})
		}
		return err
	})
	before := Entry{Kind: item.Kind, Size: item.Size, ModifiedAt: item.ModifiedAt, ETag: item.ETag}
	switch {
	case KindOf(err) == NotFound, err == nil && entry.Kind != item.Kind:
		return Gone, entry, nil
	case err != nil:
		return Untold, entry, err
	case !SameContent(before, entry):
		return Newer, entry, nil
	case item.PathID != "" && item.PathID != entry.Path.ID():
		return Renamed, entry, nil
	}
	return Unchanged, entry, nil
}

// bring copies the newer versions of what was posted as copies, and posts them as an answer.
func (s *Service) bring(ctx context.Context, userID string, r *refresh) (replyID string, err error) {
	attachment := Attachment{ChannelID: r.post.ChannelID, RootID: r.post.RootID, newerOf: r.keptAt}
	if attachment.RootID == "" {
		attachment.RootID = r.post.ID
	}
	var at []int
	for i, item := range r.items {
		if item.State != Newer || r.known.Items[i].Link != nil {
			continue
		}
		at = append(at, i)
		wanted := Item{HostID: r.now[i].HostID, ETag: r.now[i].ETag}
		if wanted.HostID == "" {
			wanted.Path = r.now[i].Path
		}
		attachment.Items = append(attachment.Items, wanted)
	}
	if len(at) == 0 {
		return "", nil
	}
	attachment.Message = r.told(at)
	if attachment.IdempotencyKey, err = r.key(at); err != nil {
		return "", err
	}
	attached, err := s.attachOnce(ctx, userID, attachment)
	var known *Error
	if errors.As(err, &known) && known.Message == underWay {
		return "", &Error{Kind: Conflict, RetryAfter: known.RetryAfter, Message: "The newer versions are being fetched already; they will be in the thread shortly.", Err: err}
	}
	if err != nil {
		return "", err
	}
	for i, item := range attached.Items {
		r.items[at[i]].FileID, r.items[at[i]].Err = item.FileID, item.Err
	}
	return attached.PostID, nil
}

// key is one for the same step of the same post, from the same versions to the same versions. It has a space, which no key
// of a request has.
func (r *refresh) key(at []int) (string, error) {
	type step struct {
		Before PostedItem
		After  Entry
	}
	asked := struct {
		PostID    string
		Refreshed int
		Steps     []step
	}{PostID: r.keptAt, Refreshed: r.known.Refreshed}
	for _, i := range at {
		now := r.now[i]
		asked.Steps = append(asked.Steps, step{r.known.Items[i], Entry{HostID: now.HostID, Size: now.Size, ETag: now.ETag, ModifiedAt: now.ModifiedAt}})
	}
	encoded, err := json.Marshal(asked)
	sum := sha256.Sum256(encoded)
	return "refresh " + base64.RawURLEncoding.EncodeToString(sum[:]), err
}

// told is the message of the post with the newer versions.
func (r *refresh) told(at []int) string {
	lines := make([]string, len(at))
	for n, i := range at {
		before, after := r.items[i].Before, r.items[i].After
		lines[n] = literal(before.Name) + ": " + ShownSize(after.Size) + " instead of " + ShownSize(before.Size)
		if after.Name != before.Name {
			lines[n] += ", now called " + literal(after.Name)
		}
		if !after.ModifiedAt.IsZero() {
			lines[n] += ", changed on " + after.ModifiedAt.UTC().Format("2006-01-02 15:04 UTC")
		}
	}
	if len(lines) == 1 {
		return "A newer version of " + lines[0]
	}
	return "Newer versions:\n- " + strings.Join(lines, "\n- ")
}

// keepRefreshed remembers what is known now, unless another call has done so, and has the posts of links say it.
func (s *Service) keepRefreshed(ctx context.Context, r *refresh) error {
	var changed []int
	for i, item := range r.items {
		if item.Err == nil && (item.State == Newer || item.State == Renamed) {
			changed = append(changed, i)
		}
	}
	if len(changed) == 0 {
		return nil
	}
	if slices.ContainsFunc(changed, func(i int) bool { return r.known.Items[i].Link != nil }) { // its line would have a name that he chooses now
		if err := s.Mattermost.MayPost(ctx, r.post.UserID, r.post.ChannelID, ""); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), rememberTime)
	defer cancel()
	var reworded [][2]string
	err := s.changePosted(ctx, r.keptAt, func(kept *Posted) error {
		reworded = s.bringUpToDate(kept, r, changed)
		return nil
	})
	if err != nil {
		return err
	}
	for _, lines := range reworded {
		if err = s.Mattermost.Reword(ctx, r.keptAt, lines[0], lines[1]); err != nil {
			s.Log.Warn("A post still says what its link led to before.", "post_id", r.keptAt, "error", err)
		}
	}
	return nil
}

// bringUpToDate notes what the changed items are now, unless somebody was quicker, and returns the lines of links as they
// were and as they are.
func (s *Service) bringUpToDate(kept *Posted, r *refresh, changed []int) (reworded [][2]string) {
	if kept.HostID == "" { // of a draft, nothing was known of the post
		*kept = r.known
		kept.Items = slices.Clone(r.known.Items)
	}
	if kept.Refreshed != r.known.Refreshed || len(kept.Items) != len(r.items) {
		return nil
	}
	kept.Refreshed++
	for _, i := range changed {
		was := kept.Items[i]
		item := newLinkedItem(s.Host, r.now[i])
		item.FileID, item.Link, item.Whose = was.FileID, was.Link, was.Whose
		if was.Link != nil {
			item.Line = s.cardLine(item)
			reworded = append(reworded, [2]string{was.Line, item.Line})
		}
		kept.Items[i] = item
	}
	return reworded
}

// ShownSize is a number of bytes for people.
func ShownSize(bytes int64) string { return sizeText(bytes) }
