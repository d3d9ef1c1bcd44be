package ledger

import (
	"math"
	"time"

	"github.com/keystile/keystile/storage"
)

// Period is a stretch of time for which a plan allows a number of calls.
type Period struct {
	From time.Time // inclusive
	To   time.Time // exclusive; when the quota starts again
}

// DayOf is the UTC day of a moment.
func DayOf(at time.Time) Period {
	from := storage.Day(at)
	return Period{from, from.AddDate(0, 0, 1)}
}

// MonthOf is the UTC month of a moment.
func MonthOf(at time.Time) Period {
	year, month, _ := at.UTC().Date()
	from := time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
	return Period{from, from.AddDate(0, 1, 0)}
}

// PeriodOf is the period of a tier's quota (spec 8): the UTC day for free, the UTC month
// for the others. Enterprise has no limit; its period ends with the month all the same.
func PeriodOf(tier string, at time.Time) Period {
	if tier == storage.TierFree {
		return DayOf(at)
	}
	return MonthOf(at)
}

// Unlimited is the limit, and what remains of it, of a plan without one.
const Unlimited = -1

// Remaining is how many of limit calls are left. It stops at 0, because a quota never
// interrupts; of Unlimited, Unlimited is left.
func Remaining(limit, used int64) int64 {
	if limit < 0 {
		return Unlimited
	}
	return max(0, limit-max(0, used))
}

// Overage is how many calls went beyond a daily limit: the sum over days of what exceeds
// it. The rows are those of one application, by UTC day, in any order, with any number of
// products a day. Under Unlimited it is 0.
func Overage(days []storage.Count, limit int64) int64 {
	if limit < 0 {
		return 0
	}
	sums := map[time.Time]storage.Count{}
	for _, row := range days {
		day := storage.Day(row.At)
		sums[day] = sums[day].Plus(row)
	}
	var over int64
	for _, day := range sums {
		if beyond := day.Calls - limit; beyond > 0 {
			over += min(beyond, math.MaxInt64-over)
		}
	}
	return over
}
