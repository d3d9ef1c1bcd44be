package billing

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// tally counts the calls of one application against the quota of whatever plan it had.
// Rows are given in the order of time, and reach back to where a quota began that the
// first one wanted counts against: see reach.
//
// A period begins anew when the tier changes, and with what its owner has used of it before.
// A row is of the tier that its hour, or day, ends in: who upgrades within an hour has all of
// it under the new quota.
type tally struct {
	plans plans
	app   storage.App
	unit  time.Duration // that a row covers

	tier  string
	used  int64
	until time.Time
}

// reach returns how far back the rows must go for an answer that begins at a time.
func (t plans) reach(app storage.App, from time.Time) time.Time {
	if len(app.Tiers) > 0 {
		return month(from)
	}
	return t.of(app.Tier).Period.start(from)
}

// over adds a row and returns how many of its calls went beyond the quota.
func (c *tally) over(row driver.Count) int64 {
	last := row.At.Add(c.unit - 1)
	tier := c.app.TierAt(last)
	plan := c.plans.of(tier)
	if tier != c.tier || !row.At.Before(c.until) {
		c.tier, c.used, c.until = tier, plan.carried(c.app, last), plan.Period.end(row.At)
	}
	if plan.Calls == counters.Unlimited {
		return 0
	}
	before := max(c.used, plan.Calls)
	c.used = saturate(c.used, row.Calls)
	return max(c.used, plan.Calls) - before
}

// Usage returns the charged calls of an application from a time on, by hour or by day, and how
// many of them went beyond the quota. A quota's period may have begun before the span: rows from
// where it began are among the answer, so that the caller leaves out those before from. Where
// the rows of hours are gone, a day in which the tier changed counts under the later tier whole.
func (b *Billing) Usage(ctx context.Context, app storage.App, from, to time.Time,
	daily bool) (rows []driver.Count, over int64, err error) {
	return b.UsageSince(ctx, app, from, from, to, daily)
}

// UsageSince is Usage with the rows since an earlier time among the answer. The number of calls beyond the
// quota is the same: those rows belong to periods that had ended.
func (b *Billing) UsageSince(ctx context.Context, app storage.App, since, from, to time.Time,
	daily bool) (rows []driver.Count, over int64, err error) {
	counted := b.plans.reach(app, from)
	query := driver.UsageQuery{AppID: app.ID, From: counted, To: to, Daily: daily}
	if since.Before(counted) {
		query.From = since
	}
	if rows, err = b.c.Usage(ctx, query); err != nil {
		return nil, 0, err
	}
	against, unit := rows, time.Hour
	switch {
	case daily && len(app.Tiers) > 0 && !counted.Before(hoursFrom(time.Now())): // a tier may have changed within a day
		query.From, query.Daily = counted, false
		if against, err = b.c.Usage(ctx, query); err != nil {
			return nil, 0, err
		}
	case daily:
		unit = 24 * time.Hour
	}
	count := tally{plans: b.plans, app: app, unit: unit}
	for _, row := range against {
		if more := count.over(row); !row.At.Before(from) {
			over = saturate(over, more)
		}
	}
	return rows, over, nil
}

// hoursFrom returns the time from which on the rows of hours are certain to exist.
func hoursFrom(now time.Time) time.Time { return now.UTC().Add(-driver.UsageHours) }

// FirstHour returns the earliest from that Usage by the hour may have: the quota that it is
// counted against must have begun where the rows are still there.
func (b *Billing) FirstHour(app storage.App, now time.Time) time.Time {
	kept := hoursFrom(now)
	first := driver.Hour(kept).Add(time.Hour)
	if b.plans.reach(app, first).Before(kept) {
		period := PerMonth
		if len(app.Tiers) == 0 {
			period = b.plans.of(app.Tier).Period
		}
		first = period.end(kept)
	}
	return first
}
