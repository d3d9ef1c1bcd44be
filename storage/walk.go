package storage

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage/apps"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
	"github.com/keystile/keystile/storage/people"
)

const (
	// documents that are looked at in a step, which may all be written, beside their epochs
	walkPage  = 70
	walkPause = 50 * time.Millisecond // after each step, so that others can write, too
	walkRetry = 30 * time.Second      // after a failure, and where another process does it
)

// walkPart finds on one page what lacks its entries or is not counted, and how that changes the
// counts. The documents are as they are to be written.
type walkPart func(ctx context.Context, s *Store, from string, n int) (docs []driver.Doc, change document.Tally,
	next string, err error)

var walkParts = []walkPart{
	numbersListed,
	lacking(people.Users, "all", func(*document.Tally, *User) {}),
	lacking(apps.Apps, "all", apps.CountApp),
	lacking(apps.Orders, "status="+OrderPending, tallyOrder), lacking(apps.Orders, "status="+OrderContact, tallyOrder),
}

func tallyOrder(t *document.Tally, o *Order) {
	t.Open += document.Recount(o.Version, &o.Counted, o.Open())
}

// numbersListed puts the numbers of users on the list of counters.
func numbersListed(ctx context.Context, s *Store, _ string, _ int) ([]driver.Doc, document.Tally, string, error) {
	c, err := document.Get(ctx, s.documents, document.Counters, document.NumbersOfUsers)
	if errors.Is(err, ErrNotFound) {
		return nil, document.Tally{}, "", nil
	}
	if err != nil {
		return nil, document.Tally{}, "", err
	}
	d, err := document.Counters.Doc(s.documents, c)
	return []driver.Doc{d}, document.Tally{}, "", err
}

func lacking[T any](k document.Kind[T], entry string, count func(*document.Tally, *T)) walkPart {
	return func(ctx context.Context, s *Store, from string, n int) (docs []driver.Doc, change document.Tally, next string,
		err error) {
		span := driver.Is(entry)
		if from != "" {
			span.From = from
		}
		page, more, err := document.Backend(s.documents).List(ctx, k.Name, span, n)
		if err != nil {
			return nil, change, "", document.Unavailable("list "+k.Name, err)
		}
		for _, there := range page {
			v, err := k.Record(s.documents, there)
			if err != nil {
				return nil, change, "", err
			}
			var by document.Tally
			count(&by, &v)
			d, err := k.Doc(s.documents, v)
			if err != nil {
				return nil, change, "", err
			}
			if by != (document.Tally{}) || !sameEntries(d.Index, there.Index) {
				docs, change = append(docs, d), document.Tally{Apps: change.Apps + by.Apps, Open: change.Open + by.Open}
			}
		}
		if more != "" {
			next = driver.After(entry, page[len(page)-1].ID)
		}
		return docs, change, next, nil
	}
}

func sameEntries(a, b []string) bool {
	return slices.Equal(slices.Compact(slices.Sorted(slices.Values(a))), slices.Compact(slices.Sorted(slices.Values(b))))
}

// walkOn counts what is older than the counters, and gives it the entries that it is found by, until
// that is done or ctx ends. It is done once for ever, by one process at a time, and goes on where
// another one has stopped.
func (s *Store) walkOn(ctx context.Context, failed func(error)) {
	task := lease.New(s, "walk", 3*walkRetry)
	defer func() {
		last, cancel := context.WithTimeout(context.WithoutCancel(ctx), document.ProbeWait)
		defer cancel()
		if err := task.Release(last); err != nil {
			failed(fmt.Errorf("leave the counting to another process: %w", err))
		}
	}()
	for {
		done, wait, err := s.walkTurn(ctx, task)
		if err != nil && ctx.Err() == nil {
			failed(fmt.Errorf("count and index what is older than the search: %w", err))
		}
		if done {
			return
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// walkTurn does a step if it is this process's turn, and says how long to wait for the next one.
func (s *Store) walkTurn(ctx context.Context, task *lease.Task) (done bool, wait time.Duration, err error) {
	if at, err := s.walked(ctx); err != nil || at.Walk.Done {
		return at.Walk.Done, walkRetry, err
	}
	if mine, err := task.Mine(ctx); err != nil || !mine {
		return false, walkRetry, err
	}
	// A version that does not know of it would leave out what it writes behind the walk.
	if err := document.RequireFeature(ctx, s.documents, document.Counting); err != nil {
		return false, walkRetry, err
	}
	if done, err = s.walkStep(ctx); err != nil {
		return done, walkRetry, err
	}
	return done, walkPause, nil
}

func (s *Store) walked(ctx context.Context) (document.Counter, error) {
	at, err := document.Find(ctx, s.documents, document.Counters, document.WalkState)
	at.Name = document.WalkState
	return at, err
}

// walkStep writes what one page lacks together with where the walk goes on. A record that was changed
// since the page was read stays as it was changed: the step is done again, with fewer records each time, so
// that it gets through between the changes of others.
func (s *Store) walkStep(ctx context.Context) (done bool, err error) {
	for n := walkPage; ; n = max(n/4, 1) {
		at, err := s.walked(ctx)
		if err != nil || at.Walk.Done {
			return at.Walk.Done, err
		}
		docs, change, err := s.walkPages(ctx, &at.Walk, n)
		if err != nil {
			return false, err
		}
		state, err := document.Counters.Doc(s.documents, at)
		if err != nil {
			return false, err
		}
		_, err = document.WriteCounted(ctx, s.documents, change, append(docs, state)...)
		if !errors.Is(err, ErrConflict) && !errors.Is(err, ErrExists) || ctx.Err() != nil {
			return at.Walk.Done && err == nil, err
		}
	}
}

// walkPages goes over pages until one lacks something, or ten do not.
func (s *Store) walkPages(ctx context.Context, at *document.Walk, n int) (docs []driver.Doc, change document.Tally,
	err error) {
	for range 10 {
		if docs, change, at.From, err = walkParts[at.Part](ctx, s, at.From, n); err != nil {
			return nil, change, err
		}
		if at.From == "" {
			at.Part++
			at.Done = at.Part == len(walkParts)
		}
		if len(docs) > 0 || at.Done {
			break
		}
	}
	return docs, change, nil
}
