package usage

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage/driver"
)

// Kinds of names that Top ranks.
const (
	Apps   = ranking.Apps   // by client_id
	Tools  = ranking.Tools  // by full name
	Users  = ranking.Users  // by sub
	Agents = ranking.Agents // by client_id or sub: who acts by delegation, else the application
)

// MaxTopDays is the longest span of a TopQuery.
const MaxTopDays = 32

// TopQuery asks who called most.
type TopQuery struct {
	Of       string    // Apps, Tools, Users or Agents
	From, To time.Time // widened to whole UTC days; zero: today
	N        int       // names; 0: 10, at most 100
}

// TopEntry is one name.
type TopEntry struct {
	Name          string
	Calls, Errors int64
	AtLeast       bool // it may have more: Calls and Errors are what is certain
}

// Top returns the names with the most calls, the first the most. A name is in it if it has more than
// a thousandth of the calls of each day in each process. It is read from the store at most once in
// half a minute for each question, and not at all from the rows of applications.
func (r *Reader) Top(ctx context.Context, q TopQuery) ([]TopEntry, error) {
	if !slices.Contains(ranking.Kinds(), q.Of) {
		return nil, refused("top is of apps, tools, users or agents")
	}
	if q.N = min(cmp.Or(q.N, 10), 100); q.N < 0 {
		return nil, refused("top has a positive number of names")
	}
	now := time.Now()
	if q.From.IsZero() {
		q.From = now
	}
	if q.To.IsZero() {
		q.To = now
	}
	from, to := driver.Day(q.From), driver.Day(q.To)
	if to.Before(q.To) || to.Equal(from) {
		to = to.AddDate(0, 0, 1)
	}
	switch {
	case !from.Before(to):
		return nil, refused("from is before to; to itself is not in the answer")
	case to.Sub(from) > MaxTopDays*24*time.Hour:
		return nil, refused("top is of up to %d days", MaxTopDays)
	}
	stored, err := r.tops.of(ctx, r.c.Store, question{q.Of, from, to}, now)
	if err != nil {
		return nil, err
	}
	return stored.with(r.c.Live(q.Of, from, to)).top(q.N), nil
}

type question struct {
	of       string
	from, to time.Time
}

const (
	topsFresh = 30 * time.Second // processes write each minute
	maxTops   = 16               // questions that are remembered
)

// tops remembers what the store has said.
type tops struct {
	mu    sync.Mutex
	known map[question]*stored
}

// stored holds rankings as they were read.
type stored struct {
	read time.Time
	all  []ranking.Ranking
	more bool
}

func (t *tops) of(ctx context.Context, store Store, q question, now time.Time) (*stored, error) {
	t.mu.Lock()
	known := t.known[q]
	t.mu.Unlock()
	if known != nil && now.Sub(known.read) < topsFresh && !now.Before(known.read) {
		return known, nil
	}
	all, more, err := store.Rankings(ctx, q.of, q.from, q.to)
	if err != nil {
		return nil, err
	}
	known = &stored{now, all, more}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.known == nil || len(t.known) >= maxTops {
		t.known = map[question]*stored{}
	}
	t.known[q] = known
	return known, nil
}
