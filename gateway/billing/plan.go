package billing

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// Currency is the currency of all prices, which are in fen, hundredths of a yuan.
const Currency = "CNY"

// Period is the calendar period of a quota, in UTC.
type Period string

// The periods of protocol 8.
const (
	PerDay   Period = "day"
	PerMonth Period = "month"
)

// start returns when the period that contains at began, and end when the next one begins.
func (p Period) start(at time.Time) time.Time {
	if p == PerDay {
		return driver.Day(at)
	}
	return month(at)
}

func (p Period) end(at time.Time) time.Time {
	if p == PerDay {
		return p.start(at).AddDate(0, 0, 1)
	}
	return p.start(at).AddDate(0, 1, 0)
}

// month returns the start of the UTC month that contains at.
func month(at time.Time) time.Time {
	y, m, _ := at.UTC().Date()
	return time.Date(y, m, 1, 0, 0, 0, 0, time.UTC)
}

// Plan holds the limits and the price of a tier (protocol 8). Calls beyond the quota are not
// refused: they are counted and settled.
type Plan struct {
	Tier      string // storage.TierFree, TierWhiteLabel or TierEnterprise
	PerMinute int    // requests in any 60 seconds, or counters.Unlimited
	Calls     int64  // charged calls in a Period, or counters.Unlimited
	Period    Period
	Branding  bool   // pages carry the Keystile mark
	PriceFen  int64  // a year, in hundredths of a yuan; 0: free, or to be negotiated
	OverFen   int64  // a thousand calls beyond the quota, in hundredths of a yuan; 0: free (protocol 8 names no price)
	SLA       string // availability promised, "" if none
}

// Plans returns the table of protocol 8.
func Plans() []Plan {
	return []Plan{
		{Tier: storage.TierFree, PerMinute: 60, Calls: 1_000, Period: PerDay, Branding: true},
		{Tier: storage.TierWhiteLabel, PerMinute: 600, Calls: 50_000, Period: PerMonth, PriceFen: 99_900},
		{Tier: storage.TierEnterprise, PerMinute: counters.Unlimited, Calls: counters.Unlimited, Period: PerMonth,
			SLA: "99.9%"},
	}
}

// ranks orders the tiers.
var ranks = []string{storage.TierFree, storage.TierWhiteLabel, storage.TierEnterprise}

func rank(tier string) int { return slices.Index(ranks, tier) }

// checkTier returns an error that tells the client that there is no such tier.
func checkTier(tier string) error {
	if rank(tier) < 0 {
		return fmt.Errorf("%w: tier is none of free, white_label, enterprise", storage.ErrInvalid)
	}
	return nil
}

// plans holds the plans by tier.
type plans map[string]Plan

func newPlans(table []Plan) (plans, error) {
	if len(table) == 0 {
		table = Plans()
	}
	t := plans{}
	var errs []error
	for _, p := range table {
		if _, twice := t[p.Tier]; twice {
			errs = append(errs, fmt.Errorf("plan %q is there twice", p.Tier))
		}
		if !isLimit(int64(p.PerMinute)) || !isLimit(p.Calls) {
			errs = append(errs, fmt.Errorf("plan %q: a limit is above 0, or Unlimited", p.Tier))
		}
		if p.PriceFen < 0 || p.OverFen < 0 {
			errs = append(errs, fmt.Errorf("plan %q: a price is negative", p.Tier))
		}
		if p.Period != PerDay && p.Period != PerMonth {
			errs = append(errs, fmt.Errorf("plan %q: the period is %q or %q", p.Tier, PerDay, PerMonth))
		}
		t[p.Tier] = p
	}
	for _, tier := range ranks {
		if _, there := t[tier]; !there {
			errs = append(errs, fmt.Errorf("plan %q is missing", tier))
		}
	}
	return t, errors.Join(errs...)
}

func isLimit(n int64) bool { return n > 0 || n == counters.Unlimited }

func (t plans) of(tier string) Plan {
	p, ok := t[tier]
	if !ok {
		p = t[storage.TierFree]
	}
	return p
}

// remaining returns how many calls are left, at least 0.
func (p Plan) remaining(used int64) int64 {
	if p.Calls == counters.Unlimited {
		return counters.Unlimited
	}
	return max(0, p.Calls-used)
}

// begins returns from when on calls count against an application's quota at a time: a new
// tier begins with its whole quota.
func (p Plan) begins(app storage.App, at time.Time) time.Time {
	start := p.Period.start(at)
	if since := driver.Hour(app.TierSince(at)); since.After(start) {
		return since
	}
	return start
}

// period returns the quota period that contains a time.
func (p Plan) period(at time.Time) storage.Quota {
	return storage.Quota{Period: string(p.Period), Until: p.Period.end(at), Calls: p.Calls}
}

// carried returns the calls that count as used because the owner made them with an
// application that was removed. They count from the hour in which this one was made.
func (p Plan) carried(app storage.App, at time.Time) int64 {
	if driver.Hour(app.CreatedAt).Before(p.begins(app, at)) {
		return 0
	}
	return app.UsedBefore(p.period(at))
}

// overageFen returns the price of calls beyond the quota, in whole fen, rounded down.
func (p Plan) overageFen(calls int64) int64 {
	whole, rest := calls/1000, calls%1000
	return saturate(times(whole, p.OverFen), times(rest, p.OverFen)/1000)
}

// times multiplies, and stops at the largest number instead of overflowing.
func times(a, b int64) int64 {
	if a != 0 && b > (1<<63-1)/a {
		return 1<<63 - 1
	}
	return a * b
}

// saturate adds, and stops at the largest number.
func saturate(a, b int64) int64 { return driver.Count{Calls: a}.Plus(driver.Count{Calls: b}).Calls }
