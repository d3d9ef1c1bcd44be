package storage

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
)

// Counts holds how many there are of what a store keeps.
type Counts struct {
	Users      int64 // that were made and not erased
	Apps       int64 // that were registered here
	OpenOrders int64 // that wait for a decision
	// Whole is whether everything that is older than the counters has been counted. A serving process
	// sees to that: see SweepEvery.
	Whole bool
}

// counter is a number of the store's that many writers move on.
type counter struct {
	Name string `json:"name"`
	Last int64  `json:"last"` // of numbersOfUsers, the number that was given last

	// Of a shard, what it adds to the counts: also less than nothing, if they grew in another one.
	Users      int64 `json:"users,omitempty"` // those that were erased: numbersOfUsers counts what was made
	Apps       int64 `json:"apps,omitempty"`
	OpenOrders int64 `json:"open_orders,omitempty"`

	Walk    walk  `json:"walk,omitzero"` // of walkState
	Version int64 `json:"-"`
	carried
}

const (
	// numbersOfUsers hands out the internal user numbers. It is written with each user, so it is how
	// many were made, too. The shards subtract those who were erased.
	numbersOfUsers = "user"
	walkState      = "walk" // how far the walk has come, see walkOn
	shardPrefix    = "shard."
)

var counters = kind[counter]{
	name:    "counter",
	id:      func(c counter) string { return c.Name },
	index:   func(counter) []string { return []string{"all"} },
	version: func(c *counter) *int64 { return &c.Version },
}

// Counts returns how many there are of what the store holds. It does not count: the numbers are kept
// in the same step as what they are of.
func (s *Store) Counts(ctx context.Context) (c Counts, err error) {
	all, err := counters.all(ctx, s, driver.Is("all"))
	if err != nil {
		return c, err
	}
	listed := false
	for _, one := range all {
		switch {
		case one.Name == numbersOfUsers:
			c.Users, listed = c.Users+one.Last, true
		case one.Name == walkState:
			c.Whole = one.Walk.Done
		default:
			c.Users += one.Users
			c.Apps += one.Apps
			c.OpenOrders += one.OpenOrders
		}
	}
	if !listed && !c.Whole { // written before it was on the list
		last, err := counters.get(ctx, s, numbersOfUsers)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return c, err
		}
		c.Users += last.Last
	}
	return c, nil
}

// Recount counts one by one, page by page, what Counts has ready; it is for comparing the two where
// nothing else writes. Whole says nothing.
func (s *Store) Recount(ctx context.Context) (c Counts, err error) {
	for _, part := range []struct {
		kind, entry string
		n           *int64
	}{
		{users.name, "all", &c.Users}, {apps.name, "all", &c.Apps},
		{orders.name, "status=" + OrderPending, &c.OpenOrders}, {orders.name, "status=" + OrderContact, &c.OpenOrders},
	} {
		for span := driver.Is(part.entry); ; {
			docs, next, err := s.backend.List(ctx, part.kind, span, driver.Page)
			if err != nil {
				return c, unavailable("count "+part.kind, err)
			}
			*part.n += int64(len(docs))
			if span.From = next; next == "" {
				break
			}
		}
	}
	return c, nil
}

// tally holds what a write adds to the counts. A record that is counted says so itself, so that it is
// counted once, whoever saves it first, and no more when it is removed. The version that a write
// names makes that exact.
type tally struct{ apps, open, users int64 }

func (t *tally) app(a *App) { t.apps += recount(a.Version, &a.Counted, a.Client == nil) }

func (t *tally) without(a App) { t.apps += recount(a.Version, &a.Counted, false) }

func (t *tally) orders(all []Order) {
	for i := range all {
		t.open += recount(all[i].Version, &all[i].Counted, all[i].Open())
	}
}

// recount marks a record that is to be written, and returns what it adds to its count.
func recount(version int64, counted *bool, counts bool) int64 {
	was := *counted && version != 0 // a new one may be the copy of another
	*counted = counts
	switch {
	case counts && !was:
		return 1
	case was && !counts:
		return -1
	}
	return 0
}

// putApp writes an application.
func (s *Store) putApp(ctx context.Context, a App) (App, error) {
	return s.writeApp(ctx, a, tally{})
}

// writeApp writes an application, and other documents in the same step. If it fails, the application
// is returned as it was.
func (s *Store) writeApp(ctx context.Context, a App, change tally, beside ...driver.Doc) (App, error) {
	if a.BackchannelLogoutURI != "" {
		if err := s.requireFeature(ctx, outgoing); err != nil { // a version before would end sessions without a word
			return a, err
		}
	}
	marked := a
	change.app(&marked)
	d, err := apps.doc(s, marked)
	if err != nil {
		return a, err
	}
	if marked.Version, err = s.writeCounted(ctx, change, append(slices.Clip(beside), d)...); err != nil {
		return a, err
	}
	return marked, nil
}

// writeCounted is write, and changes the counts in the same step.
func (s *Store) writeCounted(ctx context.Context, change tally, docs ...driver.Doc) (int64, error) {
	if change == (tally{}) {
		return s.write(ctx, docs...)
	}
	if err := s.requireFeature(ctx, counting); err != nil {
		return 0, err
	}
	for range maxConflicts {
		version, err := s.writeShard(ctx, change, docs)
		if in := (*driver.PutError)(nil); !errors.As(err, &in) || in.Kind != counters.name || !strings.HasPrefix(in.ID, shardPrefix) {
			return version, err
		}
	}
	return 0, fmt.Errorf("%w: other writers came first %d times", ErrUnavailable, maxConflicts)
}

// writeShard writes documents with one of the shards. An error about the shard alone says that
// another process has changed it, and that nothing was written.
func (s *Store) writeShard(ctx context.Context, change tally, docs []driver.Doc) (int64, error) {
	var at shard
	select {
	case at = <-s.shards:
	case <-ctx.Done():
		return 0, unavailable("wait for a counter", ctx.Err())
	}
	defer func() { s.shards <- at }()
	if !at.known {
		c, err := counters.get(ctx, s, at.Name)
		if err != nil && !errors.Is(err, ErrNotFound) {
			return 0, err
		}
		at.counter.Version, at.Users, at.Apps, at.OpenOrders = c.Version, c.Users, c.Apps, c.OpenOrders
		at.carried = c.carried
	}
	at.known = false // until it is sure what is stored
	next := at.counter
	next.Users += change.users
	next.Apps += change.apps
	next.OpenOrders += change.open
	d, err := counters.doc(s, next)
	if err != nil {
		return 0, err
	}
	version, err := s.write(ctx, append(slices.Clip(docs), d)...)
	if err == nil {
		at.counter, at.known = next, true
		at.counter.Version = version
	}
	return version, err
}

// maxShards counts the counters that the counts are spread over, so that writers of several processes
// seldom meet at one, and those of one process are written in one commit.
const maxShards = 32

// shards are the counters that no writer of this process has at this moment.
type shards chan shard

// shard is one of them, as this process has read or written it last.
type shard struct {
	counter
	known bool
}

func newShards() shards {
	all := make(shards, maxShards)
	for _, i := range rand.Perm(maxShards) { // each process goes round in another order
		all <- shard{counter: counter{Name: fmt.Sprint(shardPrefix, i)}}
	}
	return all
}
