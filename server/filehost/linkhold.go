package filehost

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/pkg/errors"
)

const (
	holdPrefix = "hold_"
	// holdLife is how long shares are remembered that were made for a post, after the last try to end them.
	holdLife = 7 * 24 * time.Hour
	// holdTime is how long a request may take that makes links: nobody else ends its shares before.
	holdTime = 15 * time.Minute
)

// holdStage is how far a request for links has come.
type holdStage string

const (
	sharing  holdStage = "sharing"
	carrying holdStage = "posting" // the post may be there
	removing holdStage = "removing"
)

// held is what the store has of a request for public links until its post is there and remembered. It is sealed.
type held struct {
	Stage   holdStage `json:"stage"`
	Owner   owner     `json:"owner"`
	Begun   time.Time `json:"begun"`
	Until   time.Time `json:"until"`            // before then, the owner may be at work
	Posting time.Time `json:"posting,omitzero"` // when the stage began
	Posted  Posted    `json:"posted"`           // what the post is to be remembered by
}

// hold is a request's hold on the shares that it makes: should it die, whoever looks after links ends them, or finds the
// post that they were made for.
type hold struct {
	*Service
	card string
	raw  []byte // as stored; nil = nothing is
	held held
}

func (s *Service) newHold(l *linking) *hold {
	h := &hold{Service: s, card: rand.Text()}
	h.held = held{Stage: sharing, Owner: s.Claims.begin(), Begun: s.Clock.Now().UTC(), Posted: Posted{HostID: s.Host.ID, UserID: l.userID, ChannelID: l.attachment.ChannelID,
		Account: l.account, Card: h.card, RootID: l.attachment.RootID}}
	return h
}

func holdKey(card string) string { return holdPrefix + card }

func sealedHold(card string) string { return "hold\x00" + card }

// end tells this run of the plugin that the request is over.
func (h *hold) end() { h.Claims.end(h.held.Owner) }

// begin keeps the hold, unless it is kept already. First it is put where it is looked after.
func (h *hold) begin(ctx context.Context) error {
	if h.raw != nil {
		return nil
	}
	task := todo{Kind: todoHold, ID: h.card, UserID: h.held.Posted.UserID, By: h.held.Owner, Due: h.Clock.Now().Add(holdTime).UTC()}
	if err := h.enqueue(ctx, task); err != nil {
		return err
	}
	return h.change(ctx, func(*held) {})
}

// change keeps the hold with a change. It fails when somebody else has taken it.
func (h *hold) change(ctx context.Context, apply func(*held)) error {
	next := h.held
	next.Posted.Items = append([]PostedItem(nil), next.Posted.Items...)
	apply(&next)
	next.Until = h.Clock.Now().Add(holdTime).UTC()
	plain, err := json.Marshal(next)
	if err != nil {
		return errors.Wrap(err, "keep what links were made")
	}
	sealed, err := h.Sealer.Seal(sealedHold(h.card), plain)
	if err != nil {
		return errors.Wrap(err, "keep what links were made")
	}
	won, err := h.KV.CompareAndSet(ctx, holdKey(h.card), h.raw, []byte(sealed), holdLife)
	switch {
	case err != nil:
		return storeFailed(err)
	case !won:
		return E(Conflict, "The links took too long to be made and are taken back; try again.", nil)
	}
	h.held, h.raw = next, []byte(sealed)
	return nil
}

// posting notes that the post is being created.
func (h *hold) posting(ctx context.Context) error {
	if h.raw == nil {
		return nil
	}
	return h.change(context.WithoutCancel(ctx), func(next *held) { next.Stage, next.Posting = carrying, h.Clock.Now().UTC() })
}

// drop forgets the hold.
func (h *hold) drop(ctx context.Context) error {
	if h.raw == nil {
		return nil
	}
	_, err := h.KV.CompareAndDelete(ctx, holdKey(h.card), h.raw)
	return errors.Wrap(err, "forget what links were made")
}

// undo ends the shares that are held.
func (h *hold) undo(ctx context.Context) error {
	if h.raw == nil {
		return nil
	}
	if err := h.change(ctx, func(next *held) { next.Stage = removing }); err != nil {
		return err
	}
	if err := h.endShares(ctx, h.held.Posted, everyShare); err != nil {
		return err
	}
	return h.drop(ctx)
}

// readHold returns the hold of a card; nil = there is none that can be read.
func (s *Service) readHold(ctx context.Context, card string) (*hold, error) {
	raw, err := s.KV.Get(ctx, holdKey(card))
	if err != nil || raw == nil {
		return nil, errors.Wrap(err, "read what links were made")
	}
	h := &hold{Service: s, card: card, raw: raw}
	plain, err := s.Sealer.Open(sealedHold(card), string(raw))
	if err != nil || json.Unmarshal(plain, &h.held) != nil || h.held.Posted.HostID != s.Host.ID {
		s.Log.Warn("Which links were made for a post can't be read any more; they stay as they are.", "error", err)
		return nil, nil
	}
	return h, nil
}

// settleHold ends what a request has left behind that has died, or that could not end it itself. It returns when to come
// again; zero = all is done.
func (s *Service) settleHold(ctx context.Context, task todo) (again time.Time, err error) {
	h, err := s.readHold(ctx, task.ID)
	if err != nil || h == nil {
		return time.Time{}, err
	}
	now := s.Clock.Now()
	if h.held.Stage != removing && !s.Claims.ended(h.held.Owner) && now.Before(h.held.Until) {
		return h.held.Until, nil
	}
	which := everyShare
	if h.held.Stage == carrying {
		postID, gone, err := s.Mattermost.FindCard(ctx, Post{UserID: h.held.Posted.UserID, ChannelID: h.held.Posted.ChannelID, Card: h.card}, h.held.Posting.Add(-lookBack))
		settled := h.held.Posting.Add(settleTime)
		switch {
		case KindOf(err) == Conflict:
			s.Log.Warn("Whether a post with links was made can't be told any more; its links stay as they are.", "user_id", task.UserID)
			return time.Time{}, h.drop(ctx)
		case err != nil:
			return time.Time{}, err
		case postID != "":
			h.held.Posted.PostedAt = h.held.Posting
			if err = s.keepLinks(ctx, postID, h.held.Posted); err != nil {
				return time.Time{}, err
			}
			return time.Time{}, h.drop(ctx)
		case gone:
			which = withTheirPost
		case now.Before(settled): // the server may still be at it
			return settled, nil
		}
	}
	if err = h.change(ctx, func(next *held) { next.Stage, next.Owner = removing, owner{} }); err != nil {
		return time.Time{}, err
	}
	err = s.endShares(ctx, h.held.Posted, which)
	switch {
	case err != nil && now.Sub(h.held.Begun) < removalLife:
		return time.Time{}, err
	case err != nil:
		s.Log.Error("Links that were made for a post that was not were not removed; their user can still do so at the host.", "user_id", task.UserID, "error", err)
	}
	return time.Time{}, h.drop(ctx)
}
