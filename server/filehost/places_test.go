package filehost_test

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/filehost/mattermost-plugin-filehost-attach/server/filehost"
)

// queue has one after the other wait for a place, and remembers the order in which they had it.
type queue struct {
	*filehost.Places
	t       *testing.T
	perUser int
	had     []string
	leave   map[string]func()
}

func newQueue(t *testing.T) *queue {
	return &queue{Places: filehost.NewPlaces("listings"), t: t, perUser: 1, leave: map[string]func(){}}
}

// wait lets a user wait under a name, at perUser places a user and two in all, and returns once he has it or can't.
func (q *queue) wait(ctx context.Context, name, userID string) {
	go func() {
		leave, err := q.Wait(ctx, userID, q.perUser, 2)
		if assert.NoError(q.t, err) {
			q.had = append(q.had, name)
			q.leave[name] = leave
		}
	}()
	synctest.Wait()
}

// end ends the work of one who has a place.
func (q *queue) end(name string) {
	require.Contains(q.t, q.leave, name)
	q.leave[name]()
	synctest.Wait()
}

func TestPlacesAreGivenInTheOrderOfTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		for _, name := range []string{"alice 1", "alice 2", "bob 1", "alice 3", "bob 2", "carol"} {
			q.wait(t.Context(), name, name[:3])
		}
		assert.Equal(t, []string{"alice 1", "bob 1"}, q.had, "one a user")
		q.end("alice 1")
		assert.Equal(t, []string{"alice 1", "bob 1", "alice 2"}, q.had, "who came first")
		q.end("bob 1")
		assert.Equal(t, []string{"alice 1", "bob 1", "alice 2", "bob 2"}, q.had, "alice has hers")
		q.end("bob 2")
		q.end("alice 2")
		q.end("alice 3")
		q.end("carol")
		assert.Equal(t, []string{"alice 1", "bob 1", "alice 2", "bob 2", "carol", "alice 3"}, q.had)
		leave, err := q.Take("ali", 1, 2)
		require.NoError(t, err, "all places are free again")
		leave()
	})
}

func TestWhoStopsWaitingLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.wait(t.Context(), "first", "alice")
		ctx, cancel := context.WithCancel(t.Context())
		var err error
		go func() { _, err = q.Wait(ctx, "alice", 1, 2) }()
		synctest.Wait()
		q.wait(t.Context(), "third", "alice")
		cancel()
		synctest.Wait()
		assert.Equal(t, filehost.RateLimited, filehost.KindOf(err))
		q.end("first")
		assert.Equal(t, []string{"first", "third"}, q.had)
		q.end("third")
	})
}

func TestUsersHaveTheirTurnsOneAfterTheOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(t)
		q.perUser = 2
		for _, name := range []string{"mallory 1", "mallory 2", "mallory 3", "mallory 4", "mallory 5", "alice 1", "bob 1", "alice 2"} {
			q.wait(t.Context(), name, name[:3])
		}
		for _, name := range []string{"mallory 1", "mallory 2", "mallory 3", "alice 1", "bob 1", "mallory 4", "alice 2", "mallory 5"} {
			q.end(name)
		}
		assert.Equal(t, []string{"mallory 1", "mallory 2", "mallory 3", "alice 1", "bob 1", "mallory 4", "alice 2", "mallory 5"}, q.had)
	})
}

// crowd is as many as may wait for one user at once.
const crowd = 512

// gather has a crowd wait for mallory, who has the only place that she may have. dismiss ends that, and tells what they met.
func gather(t *testing.T, p *filehost.Places) (dismiss func() []error) {
	leave, err := p.Take("mallory", 1, 2)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	met := make(chan error, crowd)
	for range crowd {
		go func() {
			_, err := p.Wait(ctx, "mallory", 1, 2)
			met <- err
		}()
	}
	synctest.Wait()
	return func() (all []error) {
		cancel()
		for range crowd {
			all = append(all, <-met)
		}
		leave()
		return all
	}
}

func TestNoMoreThanACrowdWaitsForAUser(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := filehost.NewPlaces("listings")
		dismiss := gather(t, p)

		_, err := p.Wait(t.Context(), "mallory", 1, 2)
		var known *filehost.Error
		require.ErrorAs(t, err, &known, "she is told at once")
		assert.Equal(t, filehost.RateLimited, known.Kind)
		assert.EqualValues(t, crowd, known.Limit)
		assert.Equal(t, filehost.OwnerPlugin, known.LimitOwner)
		assert.NotZero(t, known.RetryAfter)
		assert.Contains(t, known.Message, "listings waiting")

		leave, err := p.Wait(t.Context(), "bob", 1, 2)
		require.NoError(t, err, "others have their places")
		leave()
		for _, err := range dismiss() {
			require.ErrorAs(t, err, &known)
			assert.EqualValues(t, 1, known.Limit)
		}
		leave, err = p.Wait(t.Context(), "mallory", 1, 2)
		require.NoError(t, err, "she may come again")
		leave()
	})
}

func TestWhoWaitsCostsOthersNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		cost := func(p *filehost.Places) float64 {
			return testing.AllocsPerRun(100, func() {
				leave, err := p.Take("bob", 1, 2)
				require.NoError(t, err)
				leave()
			})
		}
		crowded := filehost.NewPlaces("listings")
		dismiss := gather(t, crowded)
		assert.InDelta(t, cost(filehost.NewPlaces("listings")), cost(crowded), 0.5, "allocations")
		dismiss()
	})
}

// lastMoment is over just after a place has come.
type lastMoment struct {
	context.Context
	place func()
}

func (l lastMoment) Done() <-chan struct{} {
	l.place()
	over := make(chan struct{})
	close(over)
	return over
}

func TestAPlaceThatComesAtTheLastMomentIsNotLost(t *testing.T) {
	for range 100 { // which of the two is seen first is chance
		p := filehost.NewPlaces("listings")
		first, err := p.Take("alice", 1, 1)
		require.NoError(t, err)
		leave, err := p.Wait(lastMoment{t.Context(), first}, "bob", 1, 1)
		require.NoError(t, err)
		_, err = p.Take("carol", 1, 1)
		require.Equal(t, filehost.RateLimited, filehost.KindOf(err), "bob has it")
		leave()
		leave()
		leave, err = p.Take("carol", 1, 1)
		require.NoError(t, err)
		_, err = p.Take("dora", 1, 1)
		require.Equal(t, filehost.RateLimited, filehost.KindOf(err), "bob has left once")
		leave()
	}
}
