package apps

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// Quota is a number of calls in a period that ends at a reset: what an application may make,
// or has made. The zero Quota is none.
type Quota struct {
	Period string    `json:"period"` // "day", "month": two kinds may have their reset at the same time
	Until  time.Time `json:"until"`
	Calls  int64     `json:"calls"` // a negative number is no limit
}

// in reports whether q is of the period that another one is of.
func (q Quota) in(other Quota) bool { return q.Period == other.Period && q.Until.Equal(other.Until) }

// UsedBefore returns how many calls of a period count as made by an application because its
// owner made them with another one, which was removed.
func (a App) UsedBefore(period Quota) int64 {
	if a.Spent.in(period) {
		return a.Spent.Calls
	}
	return 0
}

// spent records what an owner's removed applications have used of current periods. A new
// application takes over as much of it as its limit allows, so that removing one and
// making another does not renew the quota.
type spent struct {
	carried
	Owner   string  `json:"owner"`
	Used    []Quota `json:"used"` // one for each period
	Version int64   `json:"-"`
}

var Spents = document.Kind[spent]{
	Name:    "spent",
	ID:      func(s spent) string { return s.Owner },
	Version: func(s *spent) *int64 { return &s.Version },
	Expires: func(s spent) (last time.Time) {
		for _, q := range s.Used {
			if q.Until.After(last) {
				last = q.Until
			}
		}
		return last
	},
}

// mostPeriods bounds what is kept for one owner. Two go on at a time, and two more at a reset;
// further ones come from a wrong clock, and no application is ever made in their period.
const mostPeriods = 4

// add notes what was used of a period. Those that are over by then are dropped.
func (s *spent) add(used Quota, now time.Time) {
	kept := []Quota{used}
	for _, q := range s.Used {
		switch {
		case q.in(used):
			kept[0].Calls = driver.Count{Calls: used.Calls}.Plus(driver.Count{Calls: q.Calls}).Calls
		case now.Before(q.Until) && q.Calls > 0:
			kept = append(kept, q)
		}
	}
	slices.SortStableFunc(kept[1:], func(a, b Quota) int { return a.Until.Compare(b.Until) })
	s.Used = kept[:min(len(kept), mostPeriods)]
}

// take takes what is used of a period, as much as a limit allows.
func (s *spent) take(limit Quota) (taken Quota) {
	for i := range s.Used {
		if q := &s.Used[i]; q.in(limit) && limit.Calls > 0 {
			taken = *q
			taken.Calls = min(q.Calls, limit.Calls)
			q.Calls -= taken.Calls
		}
	}
	return taken
}

func (s *Store) spentBy(ctx context.Context, owner string) (spent, error) {
	v, err := document.Find(ctx, s.docs, Spents, owner)
	v.Owner = owner
	return v, err
}
