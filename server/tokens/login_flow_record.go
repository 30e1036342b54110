package tokens

import (
	"cmp"
	"context"
	"crypto/rand"
	"fmt"
	"slices"
	"time"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// flowKept is how long a login flow is kept at most: long enough that an app password which is not wanted is ended even
// though the host is away for a day.
const flowKept = 24 * time.Hour

// flowState is where a login flow stands.
type flowState string

const (
	flowWaiting  flowState = "waiting"  // for the user to sign in at the host, which is polled
	flowReceived flowState = "received" // the app password is there; whose it is is not known yet
	flowPending  flowState = "pending"  // the account waits for its user's word
	flowAccepted flowState = "accepted" // it has come
	flowEnding   flowState = "ending"   // the app password is to be revoked
)

// loginFlow is a login flow that a user has begun. It is stored by itself, so that nodes that look after different flows
// don't contend; which of them may still connect is in the list of all.
type loginFlow struct {
	ID       string    `json:"id"`
	UserID   string    `json:"user_id"`
	Origin   string    `json:"origin"`
	State    flowState `json:"state"`
	Begun    time.Time `json:"begun"`
	Deadline time.Time `json:"deadline"`        // of the state
	Lease    *lease    `json:"lease,omitempty"` // of the node that looks after it. Two would do no harm: the host gives the app password once

	Endpoint  string          `json:"endpoint"`
	PollToken filehost.Secret `json:"-"`

	// From flowReceived on.
	LoginName   string          `json:"login_name,omitempty"` // may differ from the account
	AppPassword filehost.Secret `json:"-"`

	// From flowPending on.
	Account     string          `json:"account,omitempty"`
	DisplayName string          `json:"display_name,omitempty"`
	Email       string          `json:"email,omitempty"`
	Scheme      filehost.Scheme `json:"scheme,omitempty"`
}

func newLoginFlow(userID, origin string, now time.Time) loginFlow {
	return loginFlow{ID: rand.Text(), UserID: userID, Origin: origin, State: flowWaiting, Begun: now, Deadline: now.Add(flowTime)}
}

// Format implements fmt.Formatter without the secrets.
func (f loginFlow) Format(out fmt.State, _ rune) {
	_, _ = fmt.Fprintf(out, "loginFlow(%s %s)", f.UserID, f.State)
}

// plainFlow is a loginFlow with its secrets spelled out. It exists only between the flow and the cipher.
type plainFlow struct {
	loginFlow
	PollToken   string `json:"poll_token,omitempty"`
	AppPassword string `json:"app_password,omitempty"`
}

// Format implements fmt.Formatter without the secrets.
func (p plainFlow) Format(out fmt.State, verb rune) { p.loginFlow.Format(out, verb) }

func (f loginFlow) credential() filehost.Credential {
	return filehost.Credential{Scheme: cmp.Or(f.Scheme, filehost.Basic), Username: f.LoginName, Secret: f.AppPassword, Account: f.Account, UserID: f.UserID}
}

// flowEntry is a loginFlow as it was read, with the bytes that a compare-and-set needs; nil = there is none.
type flowEntry struct {
	loginFlow
	raw []byte
}

// loadFlow reads a flow. One that can't be read, because its key is gone, has bytes and no state.
func (s *Store) loadFlow(ctx context.Context, id string) (flowEntry, error) {
	key := s.key("flow_", id)
	raw, err := s.config.KV.Get(ctx, key)
	if err != nil {
		return flowEntry{}, storeFailed(err)
	}
	var plain plainFlow
	if raw == nil || s.config.Cipher.decryptJSON(s.place(flowPurpose, id), raw, &plain) != nil {
		return flowEntry{raw: raw}, nil
	}
	found := plain.loginFlow
	found.PollToken, found.AppPassword = filehost.NewSecret(plain.PollToken), filehost.NewSecret(plain.AppPassword)
	return flowEntry{found, raw}, nil
}

// putFlow replaces what was read by next, if nobody has changed it in between.
func (s *Store) putFlow(ctx context.Context, read flowEntry, next loginFlow) (flowEntry, bool, error) {
	plain := plainFlow{next, next.PollToken.Reveal(), next.AppPassword.Reveal()}
	raw, err := s.config.Cipher.encryptJSON(s.place(flowPurpose, next.ID), plain)
	if err != nil {
		return flowEntry{}, false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
	}
	won, err := s.config.KV.CompareAndSet(ctx, s.key("flow_", next.ID), read.raw, raw, flowKept+time.Hour)
	if err != nil {
		return flowEntry{}, false, storeFailed(err)
	}
	return flowEntry{next, raw}, won, nil
}

// flowIndex lists the login flows of all users, so that every node finds those that nobody looks after. It also says which
// of them may connect.
type flowIndex struct {
	Flows []listedFlow `json:"flows"` // the earliest first
}

type listedFlow struct {
	ID     string    `json:"id"`
	UserID string    `json:"user_id"`
	Begun  time.Time `json:"begun"`
	Wanted bool      `json:"wanted"` // it is its user's latest, and he has not disconnected since
}

// loadFlows reads the list and the bytes it was read from.
func (s *Store) loadFlows(ctx context.Context) (flowIndex, []byte, error) {
	raw, err := s.config.KV.Get(ctx, s.key("flows_", ""))
	if err != nil {
		return flowIndex{}, nil, storeFailed(err)
	}
	var index flowIndex
	if raw != nil && s.config.Cipher.decryptJSON(s.place(flowIndexPurpose, ""), raw, &index) != nil {
		index = flowIndex{} // of a key that is gone, as the flows themselves
	}
	return index, raw, nil
}

// changeFlows replaces the list by what change makes of it, under compare-and-set: change may be called again. It reports
// false when there is nothing to be changed.
func (s *Store) changeFlows(ctx context.Context, change func(*flowIndex) bool) error {
	return s.contest(ctx, func() (bool, error) {
		index, old, err := s.loadFlows(ctx)
		if err != nil {
			return false, err
		}
		if !change(&index) {
			return true, nil
		}
		raw, err := s.config.Cipher.encryptJSON(s.place(flowIndexPurpose, ""), index)
		if err != nil {
			return false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
		}
		key := s.key("flows_", "")
		won, err := s.config.KV.CompareAndSet(ctx, key, old, raw, flowKept+time.Hour)
		if err != nil {
			return false, storeFailed(err)
		}
		if won && len(index.Flows) == 0 {
			_, _ = s.config.KV.CompareAndDelete(ctx, key, raw) // else it expires
		}
		return won, nil
	})
}

// roomForFlow fails when a user, or all together, have as many flows under way as they may.
func (s *Store) roomForFlow(ctx context.Context, userID string) error {
	index, _, err := s.loadFlows(ctx)
	if err != nil {
		return err
	}
	return s.crowded(index, userID)
}

// crowded is the error for a list that takes no further flow of a user; nil = it does.
func (s *Store) crowded(index flowIndex, userID string) error {
	now := s.config.Clock.Now()
	ofAll, own := index.Flows, slices.DeleteFunc(slices.Clone(index.Flows), func(f listedFlow) bool { return f.UserID != userID })
	for _, group := range []struct {
		flows []listedFlow
		most  int
	}{{own, maxFlows}, {ofAll, maxAllFlows}} {
		if len(group.flows) >= group.most {
			return &filehost.Error{
				Kind: filehost.RateLimited, RetryAfter: max(time.Second, group.flows[0].Begun.Add(flowTime).Sub(now)),
				Message: "Too many sign-ins to " + s.config.Host.Name + " have been begun and not finished. Try again later.",
			}
		}
	}
	return nil
}

// listFlow makes a flow the one that may connect its user.
func (s *Store) listFlow(ctx context.Context, flow loginFlow) error {
	var crowded error
	err := s.changeFlows(ctx, func(index *flowIndex) bool {
		if crowded = s.crowded(*index, flow.UserID); crowded != nil {
			return false
		}
		index.drop(flow.UserID, "")
		index.Flows = append(index.Flows, listedFlow{ID: flow.ID, UserID: flow.UserID, Begun: flow.Begun, Wanted: true})
		return true
	})
	if err == nil {
		err = crowded
	}
	return err
}

// drop lets none of a user's flows but one connect him any more, and tells whether there were any.
func (i *flowIndex) drop(userID, but string) bool {
	dropped := false
	for at := range i.Flows {
		if flow := &i.Flows[at]; flow.UserID == userID && flow.ID != but && flow.Wanted {
			flow.Wanted, dropped = false, true
		}
	}
	return dropped
}

// dropFlows ends what flows a user has under way, but one. Their app passwords are revoked by whoever looks after them.
// Of who has none the list of all stays as it is: else one user's calls could keep it from everybody else.
func (s *Store) dropFlows(ctx context.Context, userID, but string) error {
	if s.flowPath() == "" {
		return nil
	}
	latest := false
	if s.loginFlowOffered() {
		var err error
		if latest, err = s.takeLatest(ctx, userID); err != nil {
			return err
		}
	}
	changed := false
	err := s.changeFlows(ctx, func(index *flowIndex) bool {
		// Also without any in sight: only a compare-and-set knows that the list is the latest.
		changed = index.drop(userID, but) || latest
		return changed
	})
	if err == nil && changed {
		s.flows.wakeUp()
	}
	return err
}

// latestFlow is what is noted of a user's latest flow.
type latestFlow struct {
	Begun bool `json:"begun"` // just now
}

// noteLatest notes that a user begins a flow now. The note lasts until every replica shows the flow in the list of all.
func (s *Store) noteLatest(ctx context.Context, userID string) error {
	_, _, err := s.exchangeLatest(ctx, userID, latestFlow{Begun: true})
	return err
}

// takeLatest takes the note of a user's latest flow away and tells whether there was one: then he has a flow that a replica
// may not show yet.
func (s *Store) takeLatest(ctx context.Context, userID string) (begun bool, err error) {
	before, taken, err := s.exchangeLatest(ctx, userID, latestFlow{})
	if err != nil {
		return false, err
	}
	_, _ = s.config.KV.CompareAndDelete(ctx, s.key("latest_", userID), taken) // else it expires
	return before.Begun, nil
}

// exchangeLatest puts a note in the place of what is noted of a user's latest flow, and returns what was and the bytes that
// are there now. They are new each time: only what changes something confirms what was read.
func (s *Store) exchangeLatest(ctx context.Context, userID string, note latestFlow) (before latestFlow, now []byte, err error) {
	key, at := s.key("latest_", userID), s.place(latestFlowPurpose, userID)
	err = s.contest(ctx, func() (bool, error) {
		old, err := s.config.KV.Get(ctx, key)
		if err != nil {
			return false, storeFailed(err)
		}
		before = latestFlow{}
		if old != nil && s.config.Cipher.decryptJSON(at, old, &before) != nil {
			before = latestFlow{} // of a key that is gone, as the flow itself
		}
		if now, err = s.config.Cipher.encryptJSON(at, note); err != nil {
			return false, filehost.E(filehost.Internal, "The sign-in could not be encrypted.", err)
		}
		won, err := s.config.KV.CompareAndSet(ctx, key, old, now, flowListLag)
		if err != nil {
			return false, storeFailed(err)
		}
		return won, nil
	})
	return before, now, err
}

// unlistFlow takes a flow from the list, and tells whether it might still have connected its user.
func (s *Store) unlistFlow(ctx context.Context, id string) (wanted bool, err error) {
	err = s.changeFlows(ctx, func(index *flowIndex) bool {
		wanted = false
		before := len(index.Flows)
		index.Flows = slices.DeleteFunc(index.Flows, func(f listedFlow) bool {
			wanted = wanted || f.ID == id && f.Wanted
			return f.ID == id
		})
		return len(index.Flows) < before
	})
	return wanted, err
}

// flowEnd is what a user is told of a flow that has not connected him.
type flowEnd struct {
	Reason string `json:"reason"`
}

// noteFlowEnd keeps what a user is to be told, as well as it can.
func (s *Store) noteFlowEnd(ctx context.Context, userID, reason string) {
	key := s.key("ended_", userID)
	raw, err := s.config.Cipher.encryptJSON(s.place(flowEndPurpose, userID), flowEnd{reason})
	if err != nil {
		return
	}
	if old, err := s.config.KV.Get(ctx, key); err == nil {
		_, _ = s.config.KV.CompareAndSet(ctx, key, old, raw, offerTime)
	}
}

// flowEndOf returns what a user is to be told; "" = nothing.
func (s *Store) flowEndOf(ctx context.Context, userID string) (string, error) {
	raw, err := s.config.KV.Get(ctx, s.key("ended_", userID))
	if err != nil {
		return "", storeFailed(err)
	}
	var end flowEnd
	if raw == nil || s.config.Cipher.decryptJSON(s.place(flowEndPurpose, userID), raw, &end) != nil {
		return "", nil
	}
	return end.Reason, nil
}
