package filehost

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"slices"
	"time"

	"github.com/pkg/errors"
)

const (
	todoShelves  = 16
	mostTodos    = 500 // on one shelf...
	mostTodosOf  = 50  // ...and of these of one user
	todosAtOnce  = 50  // of one shelf in one look
	todoLife     = 60 * 24 * time.Hour
	todoTime     = time.Minute     // one task may take
	todoLease    = 2 * time.Minute // nobody else begins with it meanwhile
	todoInterval = time.Minute
	todoFirst    = time.Minute   // before a task that failed is tried again; twice as long after each further time...
	todoLast     = 6 * time.Hour // ...and at most this
	wakes        = 64
)

// What is to be looked after.
const (
	todoHold = "hold" // a request for links that may have died
	todoPost = "post" // links of a post that was deleted
)

// todo is something that is to be done later, by any node.
type todo struct {
	Kind   string    `json:"kind"`
	ID     string    `json:"id"`
	UserID string    `json:"user"` // as whom
	By     owner     `json:"by,omitzero"`
	Due    time.Time `json:"due"` // unless By is over before
	Tries  int       `json:"tries,omitempty"`
}

func (t todo) is(other todo) bool { return t.Kind == other.Kind && t.ID == other.ID }

// shelfOf is where a task is kept. There are a few shelves, so that few who put something on one are in each other's way.
func shelfOf(task todo) string {
	sum := fnv.New32a()
	_, _ = sum.Write([]byte(task.Kind + task.ID))
	return shelfKey(int(sum.Sum32() % todoShelves))
}

func shelfKey(shelf int) string { return fmt.Sprintf("%s%x", todoPrefix, shelf) }

// changeShelf changes the tasks of a shelf. Nothing is written when change reports false.
func (s *Service) changeShelf(ctx context.Context, key string, change func([]todo) ([]todo, bool, error)) error {
	for tries := 0; s.mayTry(ctx, tries); tries++ {
		raw, err := s.KV.Get(ctx, key)
		if err != nil {
			return storeFailed(err)
		}
		var tasks []todo
		_ = json.Unmarshal(raw, &tasks) // what can't be read is nothing
		tasks, changed, err := change(tasks)
		if err != nil || !changed {
			return err
		}
		next, err := json.Marshal(tasks)
		if err != nil {
			return errors.Wrap(err, "keep what is to be done")
		}
		var won bool
		if len(tasks) == 0 && raw != nil {
			won, err = s.KV.CompareAndDelete(ctx, key, raw)
		} else {
			won, err = s.KV.CompareAndSet(ctx, key, raw, next, todoLife)
		}
		if err != nil {
			return storeFailed(err)
		}
		if won {
			return nil
		}
	}
	return E(Timeout, "What is to be done could not be kept in time.", ctx.Err())
}

// enqueue has a task done when it is due. It fails with RateLimited when too much is to be done already, or for its user.
func (s *Service) enqueue(ctx context.Context, task todo) error {
	return s.changeShelf(ctx, shelfOf(task), func(tasks []todo) ([]todo, bool, error) {
		if slices.ContainsFunc(tasks, task.is) {
			return nil, false, nil
		}
		of := 0
		for _, each := range tasks {
			if each.UserID == task.UserID {
				of++
			}
		}
		if len(tasks) >= mostTodos || of >= mostTodosOf {
			return nil, false, &Error{Kind: RateLimited, RetryAfter: todoInterval, Message: "Too many links are being made; try again in a minute."}
		}
		return append(tasks, task), true, nil
	})
}

// LookAfterLinks does what is due, first what a run before has left behind, until ctx ends.
func (s *Service) LookAfterLinks(ctx context.Context) {
	s.DoDue(ctx, "")
	ticker := s.Clock.NewTicker(todoInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.Chan():
			s.DoDue(ctx, "")
		case userID := <-s.woken:
			s.DoDue(ctx, userID)
		}
	}
}

// wake has what waits for a user done soon, as he has connected.
func (s *Service) wake(userID string) {
	if _, waits := s.awaited.Load(userID); !waits {
		return
	}
	select {
	case s.woken <- userID:
	default: // it is done when it is due
	}
}

// DoDue does what is due, and what waits for a user; "" = for none. Several nodes may do so at once.
func (s *Service) DoDue(ctx context.Context, userID string) {
	s.awaited.Clear() // and filled again
	for shelf := range todoShelves {
		err := Recovered(func() error { return s.doShelf(ctx, shelfKey(shelf), userID) })
		if err != nil && ctx.Err() == nil {
			s.Log.Warn("What is to be done for links could not be looked at; it is tried again.", "error", err)
		}
	}
}

func (s *Service) doShelf(ctx context.Context, key, userID string) error {
	raw, err := s.KV.Get(ctx, key)
	if err != nil || raw == nil {
		return err
	}
	var tasks []todo
	_ = json.Unmarshal(raw, &tasks)
	done := 0
	for _, task := range tasks {
		if task.Kind == todoPost {
			s.awaited.Store(task.UserID, nil)
		}
		if !s.due(task) && (userID == "" || task.UserID != userID || task.Kind != todoPost) {
			continue
		}
		if done++; done > todosAtOnce {
			return nil
		}
		if err = s.doTask(ctx, key, task); err != nil {
			return err
		}
	}
	return nil
}

func (s *Service) due(task todo) bool {
	return !s.Clock.Now().Before(task.Due) || task.By != owner{} && s.Claims.ended(task.By)
}

// doTask does a task unless another node is at it.
func (s *Service) doTask(ctx context.Context, key string, task todo) error {
	mine := task
	mine.Due, mine.By, mine.Tries = s.Clock.Now().Add(todoLease).UTC(), owner{}, task.Tries+1
	won := false
	err := s.changeShelf(ctx, key, func(tasks []todo) ([]todo, bool, error) {
		at := slices.IndexFunc(tasks, task.is)
		if won = at >= 0 && tasks[at].Due.Equal(task.Due); !won {
			return nil, false, nil
		}
		tasks[at] = mine
		return tasks, true, nil
	})
	if err != nil || !won {
		return err
	}
	again := s.try(ctx, mine)
	return s.changeShelf(ctx, key, func(tasks []todo) ([]todo, bool, error) {
		at := slices.IndexFunc(tasks, mine.is)
		if at < 0 || !tasks[at].Due.Equal(mine.Due) {
			return nil, false, nil
		}
		if again.IsZero() {
			return slices.Delete(tasks, at, at+1), true, nil
		}
		tasks[at].Due = again.UTC()
		return tasks, true, nil
	})
}

// try does a task and returns when it is to be tried again; zero = it is done.
func (s *Service) try(ctx context.Context, task todo) (again time.Time) {
	ctx, cancel := context.WithTimeout(ctx, todoTime)
	defer cancel()
	err := Recovered(func() (err error) {
		switch task.Kind {
		case todoHold:
			again, err = s.settleHold(ctx, task)
		case todoPost:
			again, err = s.settleDeleted(ctx, task.ID)
		}
		return err
	})
	if err == nil {
		return again
	}
	if KindOf(err) != NotConnected { // who is not connected is waited for
		s.Log.Warn("Links could not be removed yet; it is tried again.", "user_id", task.UserID, "tries", task.Tries, "error", err)
	}
	return s.Clock.Now().Add(min(todoFirst<<min(task.Tries-1, 10), todoLast))
}
