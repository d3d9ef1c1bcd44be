package gateway

import (
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// tally counts the calls of one application against the quota of whatever plan it had.
// Rows are given in the order of time, and reach back to where a quota began that the
// first one wanted counts against: see reach.
//
// A period begins anew when the tier changes, and with what its owner has used of it before.
// A row is of the tier that its hour, or day,
// ends in: who upgrades within an hour has all of it under the new quota.
type tally struct {
	tiers tiers
	app   storage.App
	unit  time.Duration // that a row covers

	tier  string
	used  int64
	until time.Time
}

// reach is how far back rows have to go for an answer that begins at a time.
func (t tiers) reach(app storage.App, from time.Time) time.Time {
	if len(app.Tiers) > 0 {
		return month(from)
	}
	return t.of(app.Tier).Period.start(from)
}

// over adds a row and returns the plan it counts under, and how many of its calls went
// beyond the quota.
func (c *tally) over(row driver.Count) (Plan, int64) {
	tier := c.app.TierAt(row.At.Add(c.unit - 1))
	plan := c.tiers.of(tier)
	if tier != c.tier || !row.At.Before(c.until) {
		c.tier, c.used, c.until = tier, plan.carried(c.app, row.At.Add(c.unit-1)), plan.Period.end(row.At)
	}
	if plan.Calls == Unlimited {
		return plan, 0
	}
	before := max(c.used, plan.Calls)
	c.used = driver.Count{Calls: c.used}.Plus(driver.Count{Calls: row.Calls}).Calls
	return plan, max(c.used, plan.Calls) - before
}
