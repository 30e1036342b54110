package tokens

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

const (
	// flowLook is about how often a node looks at the list for flows that nobody looks after, flowLease how long it lets
	// the others be silent. Together they are below a minute.
	flowLook  = 8 * time.Second
	flowLease = 30 * time.Second

	flowPollFirst   = 2 * time.Second
	flowPollLongest = 5 * time.Second
	flowTryLongest  = 5 * time.Minute // between tries at a host that can't be asked

	flowCheckTime = 10 * time.Minute // to find out whose an app password is
	flowsAtOnce   = 8                // that a node asks the host about
	flowListLag   = time.Minute      // of a replica which has the list already and the flow not yet
)

// flowWatch is what a node knows of the flows on the list.
type flowWatch struct {
	mu    sync.Mutex
	known map[string]*flowSight // by id
	wake  chan struct{}
	// connected is told of a user who was connected later than he had said so. nil = nobody asks.
	connected func(ctx context.Context, userID string)
}

func newFlowWatch() flowWatch {
	return flowWatch{known: map[string]*flowSight{}, wake: make(chan struct{}, 1)}
}

// flowSight is what a node knows of one flow.
type flowSight struct {
	due   time.Time     // this node does nothing for it before
	pause time.Duration // after the next time that brings nothing
	busy  bool          // this node tries to save what the host gave for it

	lease     []byte    // the flow as it was last seen...
	leaseSeen time.Time // ...and when it was seen first, by this node's clock
}

// wakeUp lets the node look at the list at once.
func (w *flowWatch) wakeUp() {
	select {
	case w.wake <- struct{}{}:
	default: // it will, anyway
	}
}

// sight returns what is known of a flow.
func (w *flowWatch) sight(id string) *flowSight {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.known[id] == nil {
		w.known[id] = &flowSight{}
	}
	return w.known[id]
}

// keepOnly forgets the flows that are no longer listed.
func (w *flowWatch) keepOnly(listed []listedFlow) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for id := range w.known {
		if !slices.ContainsFunc(listed, func(f listedFlow) bool { return f.ID == id }) {
			delete(w.known, id)
		}
	}
}

func (w *flowWatch) setBusy(sight *flowSight, busy bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sight.busy = busy
}

func (w *flowWatch) isBusy(sight *flowSight) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sight.busy
}

// WatchLoginFlows looks after the login flows of all users until ctx ends: those begun on this node, and those whose node
// is gone. Every node calls it, once. connected is called after a user was connected who had accepted his account before:
// the node that he told so was killed, or the store failed.
func (s *Store) WatchLoginFlows(ctx context.Context, connected func(ctx context.Context, userID string)) {
	if s.flowPath() == "" {
		return
	}
	s.flows.connected = connected
	for {
		again := s.tendFlows(ctx)
		timer := s.config.Clock.NewTimer(again)
		select {
		case <-ctx.Done():
			timer.Stop()
			return
		case <-s.flows.wake:
			timer.Stop()
		case <-timer.Chan():
		}
	}
}

// tendFlows does once what there is to be done for the flows on the list, and returns when to look again.
func (s *Store) tendFlows(ctx context.Context) time.Duration {
	again := jitter(flowLook)
	index, _, err := s.loadFlows(ctx)
	if err != nil {
		return again
	}
	s.flows.keepOnly(index.Flows)
	var mu sync.Mutex
	var group errgroup.Group
	group.SetLimit(flowsAtOnce)
	for _, listed := range index.Flows {
		group.Go(func() error {
			err := filehost.Recovered(func() error {
				next := s.tendFlow(ctx, listed)
				mu.Lock()
				defer mu.Unlock()
				again = min(again, max(0, next))
				return nil
			})
			if err != nil {
				s.config.Log.Error("A sign-in could not be looked after.", "error", err.Error())
			}
			return nil
		})
	}
	_ = group.Wait() // of functions that return none
	return again
}

// tendFlow does what there is to be done for a flow, if this node may, and returns when to look at it again.
func (s *Store) tendFlow(ctx context.Context, listed listedFlow) time.Duration {
	sight := s.flows.sight(listed.ID)
	now := s.config.Clock.Now()
	if s.flows.isBusy(sight) {
		return flowLook
	}
	if wait := sight.due.Sub(now); wait > 0 {
		return wait
	}
	// What has begun is finished although the plugin stops: the host gives an app password once.
	if !s.config.Pending.begin(s.config.Lifetime) {
		return flowLook
	}
	defer s.config.Pending.running.Done()
	ctx = context.WithoutCancel(ctx)
	found, err := s.loadFlow(ctx, listed.ID)
	switch {
	case err != nil:
		return flowLook
	case found.raw == nil && now.Sub(listed.Begun) < flowListLag:
		return flowLook
	case found.raw == nil, found.State == "":
		s.endFlow(ctx, flowEntry{loginFlow: loginFlow{ID: listed.ID}})
		return flowLook
	case found.Origin != s.config.Host.Origin():
		// What was made at another address is never sent to the present one: that may be somebody else's.
		s.config.Log.Warn("A sign-in begun under other settings is forgotten without being revoked.", "host", s.config.Host.ID)
		s.endFlow(ctx, found)
		return flowLook
	}
	wanted := listed.Wanted && s.loginFlowOffered()
	if found.State == flowPending && wanted && now.Before(found.Deadline) {
		return found.Deadline.Sub(now)
	}
	held, ok := s.holdFlow(ctx, sight, found)
	if !ok {
		return flowLook
	}
	return s.advanceFlow(ctx, sight, held, wanted)
}

// advanceFlow does the next thing for a flow that this node holds the lease of, and returns when to look at it again.
func (s *Store) advanceFlow(ctx context.Context, sight *flowSight, held flowEntry, wanted bool) time.Duration {
	now := s.config.Clock.Now()
	switch {
	case held.State == flowWaiting && !now.Before(held.Deadline):
		s.endFlow(ctx, held)
		s.tellOf(held, wanted)
		return flowLook
	case held.State == flowWaiting:
		return s.pollFlow(ctx, sight, held, wanted)
	case held.State == flowReceived && wanted && now.Before(held.Deadline):
		return s.identifyFlow(ctx, sight, held)
	case held.State == flowAccepted && wanted:
		if s.connectFlow(ctx, held) != nil {
			return s.later(sight, flowTryLongest)
		}
		if s.flows.connected != nil {
			s.flows.connected(ctx, held.UserID)
		}
		return flowLook
	case held.State == flowPending && wanted:
		s.noteFlowEnd(ctx, held.UserID, "You did not say in time whether the account is yours, so it was not connected.")
	case held.State == flowReceived && wanted:
		s.noteFlowEnd(ctx, held.UserID, s.config.Host.Name+" did not say in time whose account was signed in with.")
	}
	if held.State != flowEnding {
		next := held.loginFlow
		next.State = flowEnding
		ending, won, err := s.putFlow(ctx, held, next)
		if err != nil || !won {
			return flowLook // its user may just have accepted it
		}
		held = ending
		s.tellOf(held, wanted)
	}
	if !s.revokeFlow(ctx, held) {
		return s.later(sight, flowTryLongest)
	}
	return flowLook
}

// tellOf tells a user's own web clients that his sign-in has got further.
func (s *Store) tellOf(flow flowEntry, wanted bool) {
	if wanted {
		s.config.Notify(flow.UserID)
	}
}

// holdFlow takes or keeps the lease of a flow, unless another node has it. The flow has changed when it fails.
func (s *Store) holdFlow(ctx context.Context, sight *flowSight, found flowEntry) (flowEntry, bool) {
	now := s.config.Clock.Now()
	if !bytes.Equal(sight.lease, found.raw) {
		sight.lease, sight.leaseSeen = found.raw, now
	}
	if held := found.Lease; held != nil {
		own := held.Owner == s.config.Node
		silent := now.Sub(sight.leaseSeen) >= flowLease || now.After(held.Deadline.Add(clockSkew))
		switch {
		case own && now.Before(held.Deadline.Add(-flowLease/2)):
			return found, found.State != flowAccepted // whose request connects it: a second time would be another connection
		case !own && !silent:
			return found, false
		}
	}
	held, won, err := s.putFlow(ctx, found, s.leased(found.loginFlow))
	return held, won && err == nil
}

// leased is a flow that this node looks after.
func (s *Store) leased(flow loginFlow) loginFlow {
	flow.Lease = &lease{Owner: s.config.Node, Deadline: s.config.Clock.Now().Add(flowLease).UTC(), Attempt: 1}
	return flow
}

// later puts a flow off, each time for longer.
func (s *Store) later(sight *flowSight, longest time.Duration) time.Duration {
	sight.pause = min(max(flowPollFirst, sight.pause+sight.pause/4), longest)
	wait := jitter(sight.pause)
	sight.due = s.config.Clock.Now().Add(wait)
	return wait
}

// pollFlow asks the host once whether the user has signed in, and saves what it gives before anything else.
func (s *Store) pollFlow(ctx context.Context, sight *flowSight, held flowEntry, wanted bool) time.Duration {
	granted, err := s.poll(ctx, held.loginFlow)
	switch {
	case errors.Is(err, errNoFlow): // it gives nothing else any more
		s.noteFlowEnd(ctx, held.UserID, s.config.Host.Name+" gave an answer that can't be used.")
		s.endFlow(ctx, held)
		s.tellOf(held, wanted)
		return flowLook
	case err != nil: // also an outage of the host: the user may be signing in all the same
		return s.later(sight, flowPollLongest)
	}
	next := s.leased(held.loginFlow)
	next.State, next.Deadline = flowReceived, s.config.Clock.Now().Add(flowCheckTime).UTC()
	next.LoginName, next.AppPassword, next.PollToken = granted.LoginName, granted.AppPassword, filehost.Secret{}
	if !s.ownAddress(granted.Server) {
		next.State = flowEnding
		s.noteFlowEnd(ctx, held.UserID, "The sign-in was at another address than that of "+s.config.Host.Name+".")
	}
	sight.pause = 0
	s.flows.setBusy(sight, true)
	if s.keepGranted(ctx, held, next) {
		s.flows.setBusy(sight, false)
		return 0
	}
	s.config.Log.Warn("An app password could not be saved yet; this node keeps it and goes on trying.", "host", s.config.Host.ID)
	s.config.Pending.background(s.config.Log, func() {
		defer s.flows.setBusy(sight, false)
		if !s.retry(func() bool { return s.keepGranted(ctx, held, next) }) {
			s.revokeUnsaved(ctx, next) // the plugin stops: nobody will ever use it
		}
		s.flows.wakeUp()
	})
	return flowLook
}

// keepGranted saves the app password of a flow in the place of whatever lease the flow is under by now. It reports false
// when the store fails. When the flow is gone, the app password is revoked instead.
func (s *Store) keepGranted(ctx context.Context, held flowEntry, next loginFlow) (done bool) {
	read := held
	for range 3 {
		_, won, err := s.putFlow(ctx, read, next)
		if won {
			return true
		}
		if err == nil {
			read, err = s.loadFlow(ctx, next.ID)
		}
		switch {
		case err != nil:
			return false
		case read.raw == nil:
			s.revokeUnsaved(ctx, next)
			return true
		case read.AppPassword.Equal(next.AppPassword):
			return true // by a write that seemed to fail
		}
	}
	return false
}

// revokeUnsaved ends an app password that the store does not have.
func (s *Store) revokeUnsaved(ctx context.Context, flow loginFlow) {
	if err := s.revokePassword(ctx, flow); err != nil {
		s.notRevoked(err)
	}
}

// identifyFlow finds out whose an app password is, and offers the account to the user who began if it is his.
func (s *Store) identifyFlow(ctx context.Context, sight *flowSight, held flowEntry) time.Duration {
	var user filehost.HostUser
	err := s.withAppPassword(held.loginFlow, func(credential filehost.Credential) (err error) {
		user, err = s.config.HostUser(ctx, credential)
		return err
	})
	switch {
	case filehost.KindOf(err) == filehost.CredentialRejected: // nor would it end itself: that were one more failed login
		s.noteFlowEnd(ctx, held.UserID, s.config.Host.Name+" did not accept what it gave for your sign-in.")
		s.endFlow(ctx, held)
		s.tellOf(held, true)
		return flowLook
	case err != nil:
		return s.later(sight, flowPollLongest)
	}
	reason, lookup := s.unfit(ctx, held.UserID, user)
	if lookup != nil {
		return s.later(sight, flowPollLongest)
	}
	next := held.loginFlow
	if reason != "" {
		next.State = flowEnding
		s.noteFlowEnd(ctx, held.UserID, reason)
	} else {
		next.State, next.Lease, next.Deadline = flowPending, nil, s.config.Clock.Now().Add(offerTime).UTC()
		next.Account, next.DisplayName, next.Email = user.ID, user.DisplayName, user.Email
		next.Scheme = s.provenScheme(ctx, next.credential())
	}
	_, won, err := s.putFlow(ctx, held, next)
	if err != nil || !won {
		return s.later(sight, flowPollLongest)
	}
	sight.pause = 0
	s.tellOf(held, true)
	return 0
}

// connectFlow keeps an accepted account as the user's connection. It may be called again for a flow that another node has
// left half connected. Should the user have disconnected or begun anew in between, that stands.
func (s *Store) connectFlow(ctx context.Context, held flowEntry) error {
	// A node that died may have left it for hours.
	switch reason, err := s.unfit(ctx, held.UserID, filehost.HostUser{Email: held.Email}); {
	case err != nil:
		return err
	case reason != "":
		return s.refuseFlow(ctx, held, reason)
	}
	fresh := record{
		Grant: loginFlowGrant, Account: held.Account, Username: held.LoginName, Password: held.AppPassword,
		Scheme: held.Scheme, flow: held.ID,
	}
	replaced, err := s.replace(ctx, held.UserID, fresh)
	if err != nil {
		return err
	}
	stands := true
	err = s.changeFlows(ctx, func(index *flowIndex) bool {
		at := slices.IndexFunc(index.Flows, func(f listedFlow) bool { return f.ID == held.ID })
		stands = at < 0 || index.Flows[at].Wanted
		if at < 0 || !stands {
			return false
		}
		index.Flows = slices.Delete(index.Flows, at, at+1)
		return true
	})
	switch {
	case err != nil:
		return err
	case stands:
		s.forget(ctx, s.key("flow_", held.ID))
		return nil
	}
	if err := s.unsave(ctx, held.UserID, held.AppPassword, replaced.record); err != nil {
		return err
	}
	s.revokeFlow(ctx, held)
	return filehost.Invalid("accept", "This sign-in was ended by a later one, or because you have disconnected. Begin again.")
}

// refuseFlow ends a flow whose account was accepted and may no longer be connected to its user. It returns the error for him.
func (s *Store) refuseFlow(ctx context.Context, held flowEntry, reason string) error {
	if err := s.unsave(ctx, held.UserID, held.AppPassword, record{}); err != nil {
		return err
	}
	next := held.loginFlow
	next.State = flowEnding
	ending, won, err := s.putFlow(ctx, held, next)
	if err != nil || !won {
		return storeFailed(err)
	}
	s.noteFlowEnd(ctx, held.UserID, reason)
	s.revokeFlow(ctx, ending)
	s.tellOf(held, true)
	return filehost.E(filehost.Forbidden, reason, nil)
}

// unsave removes a connection that was saved with a password, if it is still there. Who had disconnected stays so.
func (s *Store) unsave(ctx context.Context, userID string, password filehost.Secret, replaced record) error {
	return s.contest(ctx, func() (bool, error) {
		read, err := s.load(ctx, userID)
		if err != nil || read.Password.IsEmpty() || !read.Password.Equal(password) {
			return true, err
		}
		if replaced.State == declined {
			_, won, err := s.swap(ctx, userID, read, record{State: declined, Generation: read.Generation})
			return won, err
		}
		return s.putBack(ctx, userID, read)
	})
}

// revokeFlow ends a flow and its app password. It reports false when the host must be asked again.
func (s *Store) revokeFlow(ctx context.Context, held flowEntry) bool {
	err := s.revokePassword(ctx, held.loginFlow)
	if err != nil && s.config.Clock.Since(held.Begun) < flowKept {
		return false
	}
	if err != nil {
		s.notRevoked(err)
	}
	s.endFlow(ctx, held)
	return true
}

// withAppPassword makes a request with the app password of a flow, in the way that is proved for it. Until one is: as a
// bearer token where the host may take it so, for that passes a throttle that others' wrong passwords have closed and
// counts as no failed login; by Basic where it is rejected as one.
func (s *Store) withAppPassword(flow loginFlow, request func(filehost.Credential) error) error {
	credential := flow.credential()
	if flow.Scheme != "" || !profiles[s.config.Host.Kind].bearsPassword {
		return request(credential)
	}
	credential.Scheme = filehost.Bearer
	err := request(credential)
	if filehost.KindOf(err) != filehost.CredentialRejected {
		return err
	}
	credential.Scheme = filehost.Basic
	return request(credential)
}

// revokePassword lets the app password of a flow end itself. One that has ended already is no failure.
func (s *Store) revokePassword(ctx context.Context, flow loginFlow) error {
	if s.config.Revoke == nil {
		return nil
	}
	ctx, cancel := s.withTimeout(ctx, callLimit)
	defer cancel()
	err := s.withAppPassword(flow, func(credential filehost.Credential) error { return s.config.Revoke(ctx, credential) })
	switch filehost.KindOf(err) {
	case filehost.Forbidden, filehost.CredentialRejected:
		return nil
	}
	return err
}

// endFlow takes a flow from the list and deletes it, as well as it can: else it is found again.
func (s *Store) endFlow(ctx context.Context, flow flowEntry) {
	if _, err := s.unlistFlow(ctx, flow.ID); err == nil {
		s.forget(ctx, s.key("flow_", flow.ID))
	}
}
