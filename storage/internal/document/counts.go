package document

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/state"
)

// Walk says how far the walk over what is older than counts and search has come.
type Walk struct {
	Part int    `json:"part,omitempty"` // of walkParts
	From string `json:"from,omitempty"` // in that part; "": its beginning
	Done bool   `json:"done,omitempty"`
	carried
}

// Counter is a number of the store's that many writers move on.
type Counter struct {
	Name string `json:"name"`
	Last int64  `json:"last"` // of numbersOfUsers, the number that was given last

	// Of a shard, what it adds to the counts: also less than nothing, if they grew in another one.
	Users      int64 `json:"users,omitempty"` // those that were erased: numbersOfUsers counts what was made
	Apps       int64 `json:"apps,omitempty"`
	OpenOrders int64 `json:"open_orders,omitempty"`

	Walk    Walk  `json:"walk,omitzero"` // of walkState
	Version int64 `json:"-"`
	carried
}

const (
	// NumbersOfUsers hands out the internal user numbers. It is written with each user, so it is how
	// many were made, too. The shards subtract those who were erased.
	NumbersOfUsers = "user"
	WalkState      = "walk" // how far the walk has come, see walkOn
	shardPrefix    = "shard."
)

var Counters = Kind[Counter]{
	Name:    "counter",
	ID:      func(c Counter) string { return c.Name },
	Index:   func(Counter) []string { return []string{"all"} },
	Version: func(c *Counter) *int64 { return &c.Version },
}

// Counts returns how many there are of what the store holds. It does not count: the numbers are kept
// in the same step as what they are of.
func (s *Store) Counts(ctx context.Context) (c state.Counts, err error) {
	all, err := All(ctx, s, Counters, driver.Is("all"))
	if err != nil {
		return c, err
	}
	listed := false
	for _, one := range all {
		switch {
		case one.Name == NumbersOfUsers:
			c.Users, listed = c.Users+one.Last, true
		case one.Name == WalkState:
			c.Whole = one.Walk.Done
		default:
			c.Users += one.Users
			c.Apps += one.Apps
			c.OpenOrders += one.OpenOrders
		}
	}
	if !listed && !c.Whole { // written before it was on the list
		last, err := Find(ctx, s, Counters, NumbersOfUsers)
		if err != nil {
			return c, err
		}
		c.Users += last.Last
	}
	return c, nil
}

// Tally holds what a write adds to the counts. A record that is counted says so itself, so that it is
// counted once, whoever saves it first, and no more when it is removed. The version that a write
// names makes that exact.
type Tally struct{ Apps, Open, Users int64 }

// Recount marks a record that is to be written, and returns what it adds to its count.
func Recount(version int64, counted *bool, counts bool) int64 {
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

// WriteCounted is write, and changes the counts in the same step.
func WriteCounted(ctx context.Context, s *Store, change Tally, docs ...driver.Doc) (int64, error) {
	if change == (Tally{}) {
		return Write(ctx, s, docs...)
	}
	if err := RequireFeature(ctx, s, Counting); err != nil {
		return 0, err
	}
	for range maxConflicts {
		version, err := s.writeShard(ctx, change, docs)
		if in := (*driver.PutError)(nil); !errors.As(err, &in) || in.Kind != Counters.Name ||
			!strings.HasPrefix(in.ID, shardPrefix) {
			return version, err
		}
	}
	return 0, fmt.Errorf("%w: other writers came first %d times", ErrUnavailable, maxConflicts)
}

// writeShard writes documents with one of the shards. An error about the shard alone says that
// another process has changed it, and that nothing was written.
func (s *Store) writeShard(ctx context.Context, change Tally, docs []driver.Doc) (int64, error) {
	var at shard
	select {
	case at = <-s.shards:
	case <-ctx.Done():
		return 0, Unavailable("wait for a counter", ctx.Err())
	}
	defer func() { s.shards <- at }()
	if !at.known {
		c, err := Find(ctx, s, Counters, at.Name)
		if err != nil {
			return 0, err
		}
		at.Counter.Version, at.Users, at.Apps, at.OpenOrders = c.Version, c.Users, c.Apps, c.OpenOrders
		at.carried = c.carried
	}
	at.known = false // until it is sure what is stored
	next := at.Counter
	next.Users += change.Users
	next.Apps += change.Apps
	next.OpenOrders += change.Open
	d, err := Counters.Doc(s, next)
	if err != nil {
		return 0, err
	}
	version, err := Write(ctx, s, append(slices.Clip(docs), d)...)
	if err == nil {
		at.Counter, at.known = next, true
		at.Counter.Version = version
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
	Counter
	known bool
}

func newShards() shards {
	all := make(shards, maxShards)
	for _, i := range rand.Perm(maxShards) { // each process goes round in another order
		all <- shard{Counter: Counter{Name: fmt.Sprint(shardPrefix, i)}}
	}
	return all
}
