package filehost

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/jonboulle/clockwork"
)

// LossReason says why a connection ended that its user has not ended himself.
type LossReason int

// The reasons.
const (
	LostRejected   LossReason = iota // the host or the sign-in server no longer accepts the credential
	LostUnreadable                   // the key that encrypted it is gone
	LostSettings                     // it was made for another host, client or sign-in server than is configured now
	LostMethod                       // the admin no longer allows the way in which it was made
)

// Loss is the end of a connection that its user has not ended himself.
type Loss struct {
	UserID  string
	Account string // as the host names the user; "" = not known
	Reason  LossReason
	Of      string // tells the connection that was lost from the user's other ones
}

const (
	// reminderRest is how long a user is left alone after a reminder, whatever else he loses.
	reminderRest = 24 * time.Hour
	// reminderTTL is how long a reminder is remembered: who goes on using what he has lost is reminded again then.
	reminderTTL = 30 * 24 * time.Hour
)

// RemindersConfig is what Reminders work with. All of it is required.
type RemindersConfig struct {
	Host  Host
	Users func(ctx context.Context, userID string) (User, error)
	Bot   Bot
	KV    KV
	Clock clockwork.Clock
	Log   *slog.Logger
}

// Reminders asks users who have lost their connection to connect again, by a direct message of the plugin's bot: once for
// each loss, and once in 24 hours, whichever node is first. It is safe for concurrent use.
type Reminders struct{ RemindersConfig }

// NewReminders returns the reminders of one host.
func NewReminders(config RemindersConfig) *Reminders { return &Reminders{config} }

// reminder is what is kept of the last one that a user got.
type reminder struct {
	At     time.Time `json:"at"`
	Of     string    `json:"of"`
	PostID string    `json:"post_id,omitempty"` // "" while it is being sent, and when the message has been settled
	// Claimed means that a node is about to send it. Should the node be killed first, the loss is told when the day is over.
	Claimed bool `json:"claimed,omitempty"`
}

// covers tells whether a loss needs no further message at a time, or may have none yet.
func (r reminder) covers(loss Loss, now time.Time) bool {
	return now.Sub(r.At) < reminderRest || r.Of == loss.Of && !r.Claimed
}

// Lost reminds the user unless he knows already. Bots and deactivated users get no message. It may be called by every node
// and any number of times for the same loss: when a message can't be sent, the next call tries again.
func (r *Reminders) Lost(ctx context.Context, loss Loss) error {
	key := r.key(loss.UserID)
	old, last, err := r.last(ctx, key)
	now := r.Clock.Now().UTC()
	if err != nil || old != nil && last.covers(loss, now) {
		return err
	}
	user, err := r.Users(ctx, loss.UserID)
	if KindOf(err) == NotFound || err == nil && (user.Bot || !user.Active) {
		return nil
	}
	if err != nil {
		return err
	}
	if r.Bot.Check(ctx) != nil {
		return nil // the check of that name tells the admin, who may want no messages; a later use tries again
	}
	claimed := reminder{At: now, Of: loss.Of, Claimed: true}
	claim, won, err := r.replace(ctx, key, old, claimed)
	if err != nil || !won {
		return err // another node tells him, or this one has read a stale replica
	}
	ctx = context.WithoutCancel(ctx) // a claim is either kept or given back
	claimed.PostID, err = r.Bot.Message(ctx, loss.UserID, r.message(loss))
	if err != nil {
		return r.giveBack(ctx, key, claim, old, err)
	}
	claimed.Claimed = false
	_, _, err = r.replace(ctx, key, claim, claimed)
	return err
}

// giveBack undoes the claim of a message that could not be sent, for that reason.
func (r *Reminders) giveBack(ctx context.Context, key string, claim, old []byte, reason error) error {
	var err error
	if old == nil {
		_, err = r.KV.CompareAndDelete(ctx, key, claim)
	} else {
		_, err = r.KV.CompareAndSet(ctx, key, claim, old, reminderTTL)
	}
	if err != nil {
		return StoreDown(err)
	}
	return reason
}

// Connected settles the reminder of a user who has connected again: its message says so and loses its buttons. What can't
// be settled is logged; the user is connected all the same.
func (r *Reminders) Connected(ctx context.Context, userID string) {
	key := r.key(userID)
	old, last, err := r.last(ctx, key)
	if err == nil && last.PostID != "" {
		post := last.PostID
		last.PostID = ""
		var won bool
		if _, won, err = r.replace(ctx, key, old, last); won {
			err = r.Bot.Edit(ctx, userID, post, Message{Text: "You are connected to " + literal(r.Host.Name) + " again."})
		}
	}
	if err != nil && KindOf(err) != NotFound { // he may have deleted the message
		r.Log.Warn("A reminder to connect again stays as it was.", "host", r.Host.ID, "user_id", userID, "error", err)
	}
}

// key names the value of a user in at most 50 characters, and tells nothing about whose it is.
func (r *Reminders) key(userID string) string {
	hash := sha256.Sum256([]byte(r.Host.ID + "|" + userID))
	return "told_" + base64.RawURLEncoding.EncodeToString(hash[:])
}

// last returns the last reminder of a user with the bytes it was read from; none when there is none that can be read.
func (r *Reminders) last(ctx context.Context, key string) (raw []byte, last reminder, err error) {
	if raw, err = r.KV.Get(ctx, key); err != nil {
		return nil, reminder{}, StoreDown(err)
	}
	if raw != nil && json.Unmarshal(raw, &last) != nil {
		last = reminder{}
	}
	return raw, last, nil
}

func (r *Reminders) replace(ctx context.Context, key string, old []byte, next reminder) (raw []byte, won bool, err error) {
	if raw, err = json.Marshal(next); err != nil {
		return nil, false, err
	}
	if won, err = r.KV.CompareAndSet(ctx, key, old, raw, reminderTTL); err != nil {
		err = StoreDown(err)
	}
	return raw, won, err
}

// message words a reminder.
func (r *Reminders) message(loss Loss) Message {
	host := literal(r.Host.Name)
	as := ""
	if loss.Account != "" {
		as = " as " + literal(loss.Account)
	}
	reason := map[LossReason]string{
		LostRejected:   host + " no longer accepts your sign-in" + as + ".",
		LostUnreadable: "Mattermost can no longer read your sign-in to " + host + ", because its encryption key has changed.",
		LostSettings:   "The settings of " + host + " in Mattermost have changed, and your sign-in was for the former ones.",
		LostMethod:     "Your admin has changed how people connect to " + host + ", and your sign-in" + as + " is of the former kind.",
	}[loss.Reason]
	return Message{
		Text: reason + " Connect again to get at your files there. If you no longer need them in Mattermost, there is nothing to do.",
		Buttons: []Button{
			{Action: ActionConnect, Label: "Connect again", HostID: r.Host.ID},
			{Action: ActionCode, Label: "Enter a code", HostID: r.Host.ID},
		},
	}
}
