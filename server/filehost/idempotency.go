package filehost

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"slices"
	"time"
)

const (
	keyTime    = 24 * time.Hour   // how long a key is kept after the last that was done with it
	leaseTime  = time.Minute      // a claim without a sign of life for this long may be taken over
	beatTime   = 15 * time.Second // between two signs of life
	stopTime   = 50 * time.Second // without one for this long, whoever works under a claim stops
	settleTime = 5 * time.Minute  // how long the server may still be creating a post for a call that has died
	claimRetry = 5 * time.Second  // what a caller is told to wait while a key is in use
	keysPerDay = 5000             // of one user, on one node
)

// attachRoute is the part of a key's scope that names what it is for.
const attachRoute = "POST /attach"

// finalKinds are the errors that the same request meets again. They are kept as its answer; after any other the key is
// free.
var finalKinds = map[Kind]bool{InvalidRequest: true, Forbidden: true, NotFound: true, Changed: true, TooLarge: true, Unsupported: true}

// attachOnce carries the attachment out unless a call with the same key has done so, or is doing so.
func (s *Service) attachOnce(ctx context.Context, userID string, attachment Attachment) (Attached, error) {
	claim, err := s.newClaim(userID, attachment)
	if err != nil {
		return Attached{}, err
	}
	defer claim.end()
	answered, err := s.acquire(ctx, claim, attachment)
	switch {
	case err != nil:
		return Attached{}, err
	case answered:
		return claim.record.answer(attachment)
	}
	held, release := claim.hold(ctx)
	defer release()
	attached, err := s.carryOut(held, userID, attachment, claim)
	return attached, claim.conclude(context.WithoutCancel(ctx), attached, err)
}

// acquire makes the claim the holder of its key, or finds the answer that the key has got already. Whatever it reads may
// be out of date; what it decides on that is confirmed by a compare-and-set. A request that is refused before it has begun
// leaves nothing behind.
func (s *Service) acquire(ctx context.Context, claim *claim, attachment Attachment) (answered bool, err error) {
	raw, err := s.KV.Get(ctx, claim.key)
	if err != nil {
		return false, storeFailed(err)
	}
	if raw == nil {
		if raw, err = s.begin(ctx, claim, attachment); raw == nil {
			return false, err
		}
	}
	found, err := claim.open(raw)
	if err != nil {
		return false, err
	}
	claim.raws = [][]byte{raw}
	switch {
	case string(found.Request) != string(claim.request):
		return false, s.reused(ctx, claim, found, raw)
	case found.Stage == done:
		claim.record = found
		return true, nil
	case !s.abandoned(found):
		return false, inUse(claimRetry, nil)
	case len(found.Attempt) > 0:
		return s.afterAttempt(ctx, claim, found, attachment)
	}
	return false, claim.takeOver(ctx, found)
}

// begin takes a key that is free. Where another has taken it meanwhile, it returns what that has written.
func (s *Service) begin(ctx context.Context, claim *claim, attachment Attachment) (raw []byte, err error) {
	if _, err = s.admit(ctx, claim.userID, attachment); err != nil {
		return nil, err
	}
	if err = s.Claims.count(s.Clock.Now(), claim.userID); err != nil {
		return nil, err
	}
	won, err := claim.write(ctx, record{Request: claim.request, Stage: copying, Pending: rand.Text()})
	if won || err != nil {
		return nil, err
	}
	if raw, err = s.KV.Get(ctx, claim.key); err != nil {
		return nil, storeFailed(err)
	}
	if raw == nil { // it has just become free, or this node's replica lags behind
		return nil, inUse(claimRetry, nil)
	}
	return raw, nil
}

// abandoned tells whether nobody works under a claim any more.
func (s *Service) abandoned(found record) bool {
	return s.Claims.ended(found.Owner) || s.Clock.Since(found.Alive) >= leaseTime
}

// reused answers a request other than the one that the key belongs to, if that is still so.
func (s *Service) reused(ctx context.Context, claim *claim, found record, raw []byte) error {
	left := keyTime - s.Clock.Since(found.Alive)
	current, err := s.KV.CompareAndSet(ctx, claim.key, raw, raw, max(left, time.Second))
	switch {
	case err != nil:
		return storeFailed(err)
	case !current:
		return inUse(claimRetry, nil)
	}
	return &Error{Kind: KeyReused, Field: "Idempotency-Key", Message: "This Idempotency-Key belongs to another request; use a new key for each."}
}

// afterAttempt deals with a call that has died when it was about to post, or later. The server may still create the post
// for the dead: nobody else posts before that should have ended, and the files tell whose the post is. It is taken for the
// answer when it has them, however late it comes.
func (s *Service) afterAttempt(ctx context.Context, claim *claim, found record, attachment Attachment) (answered bool, err error) {
	post := attachment.post(claim.userID, fileIDs(found.Attempt), claim)
	post.Card = found.Card
	seen, err := s.look(ctx, post, found.Posting.Add(-lookBack))
	switch {
	case err != nil:
		return false, err
	case seen.postID != "":
		s.settlePost(ctx, claim, found, attachment, seen.postID)
		return true, nil
	case found.Stage == copying && !seen.some && !seen.gone: // a call has waited already, and died after that
		return false, claim.takeOver(ctx, found)
	}
	if left := settleTime - s.Clock.Since(found.Alive); left > 0 {
		return false, inUse(left, nil)
	}
	if err = claim.takeOver(ctx, found); err != nil {
		return false, err
	}
	if seen.gone { // nothing but the deletion of their post deletes all files
		claim.settle(ctx, found, "", E(NotFound, "What was posted for this Idempotency-Key has been deleted since; use another key to post it again.", nil))
		return true, nil
	}
	if post.Card != "" { // which a post has or there is none
		found.Stage = copying
		return false, claim.takeOver(ctx, found)
	}
	removed, err := s.Mattermost.RemoveIncomplete(ctx, post, found.Posting)
	switch {
	case KindOf(err) == Conflict: // for good
		claim.settle(ctx, found, "", err)
		return false, err
	case err != nil:
		return false, err
	}
	if seen, err = s.look(ctx, post, found.Posting); err != nil {
		return false, err
	}
	if seen.postID != "" {
		s.settlePost(ctx, claim, found, attachment, seen.postID)
		return true, nil
	}
	if found.Stage = copying; removed || seen.some { // its post has been there, and no other comes
		found.Attempt = nil
	}
	return false, claim.takeOver(ctx, found)
}

// settlePost takes the post of a call that has died for the answer.
func (s *Service) settlePost(ctx context.Context, claim *claim, found record, attachment Attachment, postID string) {
	items := newItems(attachment)
	for i, kept := range found.Attempt {
		items[i].restore(kept)
	}
	if attachment.Link == nil { // what is known of links is kept by whoever comes to look after them
		s.remember(ctx, claim.userID, attachment, items, postID)
	}
	claim.settle(ctx, found, postID, nil)
}

// errLate ends a call that finds files posted which it has just found free.
var errLate = inUse(claimRetry, errors.New("the post of an earlier call has come late"))

// reuse fills in those items that an earlier call with the same key has copied and that can still be posted.
func (s *Service) reuse(ctx context.Context, userID string, attachment Attachment, items []AttachedItem, claim *claim) error {
	earlier := claim.current()
	copied, attempt := fileIDs(earlier.Items), fileIDs(earlier.Attempt)
	if len(copied) == 0 {
		return nil
	}
	files, err := s.Mattermost.Files(ctx, copied)
	if err != nil {
		return err
	}
	good := map[string]bool{}
	for _, file := range files {
		if file.PostID != "" && slices.Contains(attempt, file.ID) {
			return errLate
		}
		good[file.ID] = file.UserID == userID && file.ChannelID == attachment.ChannelID && file.PostID == ""
	}
	for i, kept := range earlier.Items {
		if kept.FileID != "" && good[kept.FileID] {
			items[i].restore(kept)
		}
	}
	return nil
}

// underWay is what the caller is told meanwhile.
const underWay = "A request with this Idempotency-Key is under way; send it again shortly for its answer."

// inUse is the answer while another call holds the key.
func inUse(wait time.Duration, cause error) *Error {
	return &Error{Kind: Conflict, RetryAfter: wait, Err: cause, Message: underWay}
}

func storeFailed(cause error) error {
	return E(Internal, "Mattermost's key-value store did not answer; try again.", cause)
}

// stage is how far the work under a key has come.
type stage string

const (
	copying stage = "copying"
	posting stage = "posting" // the post of Attempt may be there
	done    stage = "done"    // the record holds the answer, for good
)

// record is what the store has under a key. It is sealed, and holds no more of the request than what tells it from
// another.
type record struct {
	Request []byte      `json:"request"` // hash
	Stage   stage       `json:"stage"`
	Owner   owner       `json:"owner"`
	Pending string      `json:"pending"`           // of pendingID
	Alive   time.Time   `json:"alive"`             // the owner's last sign of life
	Posting time.Time   `json:"posting,omitzero"`  // when the stage began
	Items   []keptItem  `json:"items,omitempty"`   // in the order asked
	Attempt []keptItem  `json:"attempt,omitempty"` // the items of the last post whose outcome is open; it may come at any time
	Card    string      `json:"card,omitempty"`    // of the last post, if it has one
	Grants  []keptGrant `json:"grants,omitempty"`  // done
	PostID  string      `json:"post_id,omitempty"` // done
	Error   *keptError  `json:"error,omitempty"`   // done, and failed
}

// keptItem is an AttachedItem without its path, unless the request doesn't have it.
type keptItem struct {
	PathID string          `json:"path_id,omitempty"` // of the path, where the request has the host's id of the file
	Name   string          `json:"name"`
	Size   int64           `json:"size"` // bytes
	FileID string          `json:"file_id,omitempty"`
	Info   json.RawMessage `json:"info,omitempty"` // of a draft only
	Error  *keptError      `json:"error,omitempty"`
	Source *PostedItem     `json:"source,omitempty"`
	Link   *Linked         `json:"link,omitempty"`
}

// keptError is an Error without its cause, which is in the log.
type keptError struct {
	Code       string        `json:"code"` // "" for an error that is no *Error
	Message    string        `json:"message,omitempty"`
	Field      string        `json:"field,omitempty"`
	Limit      int64         `json:"limit,omitempty"`
	LimitOwner LimitOwner    `json:"limit_owner,omitempty"`
	Actual     int64         `json:"actual,omitempty"`
	RetryAfter time.Duration `json:"retry_after,omitempty"`
}

func keepError(err error) *keptError {
	var known *Error
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &known):
		return &keptError{}
	}
	return &keptError{known.Kind.Code(), known.Message, known.Field, known.Limit, known.LimitOwner, known.Actual, known.RetryAfter}
}

// errEarlier stands for an error that an earlier call has met and logged.
var errEarlier = errors.New("what an earlier call with the same Idempotency-Key met; see the log of that time")

func (k *keptError) restore() error {
	switch {
	case k == nil:
		return nil
	case k.Code == "":
		return errEarlier
	}
	return &Error{Kind: kindOfCode(k.Code), Message: k.Message, Field: k.Field, Limit: k.Limit, LimitOwner: k.LimitOwner,
		Actual: k.Actual, RetryAfter: k.RetryAfter, Err: errEarlier}
}

func keepItems(items []AttachedItem, draft bool) []keptItem {
	kept := make([]keptItem, len(items))
	for i, item := range items {
		kept[i] = keptItem{Name: item.Name, Size: item.Size, FileID: item.FileID, Link: item.Link, Error: keepError(item.Err)}
		if item.HostID != "" && !item.Path.IsRoot() {
			kept[i].PathID = item.Path.ID()
		}
		if draft {
			kept[i].Info = item.info
		}
	}
	return kept
}

// keepCopies is keepItems with where the copies came from, for who has yet to post them.
func keepCopies(items []AttachedItem, draft bool) []keptItem {
	kept := keepItems(items, draft)
	for i, item := range items {
		kept[i].Source = item.source
	}
	return kept
}

// restore fills in what was kept of the item, but for its error.
func (i *AttachedItem) restore(kept keptItem) {
	if path, err := ParseID("path_id", kept.PathID); err == nil {
		i.Path = path
	}
	i.Name, i.Size, i.FileID, i.info, i.source, i.Link = kept.Name, kept.Size, kept.FileID, kept.Info, kept.Source, kept.Link
}

// fileIDs are the files that have been copied.
func fileIDs(items []keptItem) []string {
	var ids []string
	for _, item := range items {
		if item.FileID != "" {
			ids = append(ids, item.FileID)
		}
	}
	return ids
}

// answer is what the first call with the key was answered, or would have been.
func (r *record) answer(attachment Attachment) (Attached, error) {
	if r.Error != nil {
		return Attached{}, r.Error.restore()
	}
	items := newItems(attachment)
	for i, kept := range r.Items {
		items[i].restore(kept)
		items[i].Err = kept.Error.restore()
	}
	attached := newAttached(attachment, items)
	attached.PostID, attached.Grants = r.PostID, restoreGrants(r.Grants)
	return attached, nil
}
