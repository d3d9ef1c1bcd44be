package billing

import (
	"context"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// Forecast says where the calls of an application are going until its quota begins anew.
type Forecast struct {
	Plan     Plan
	ResetAt  time.Time // UTC
	Used     int64     // of the quota, what is beyond it included
	PerDay   int64     // calls a day, as the last seven days had them
	Expected int64     // at ResetAt, if it goes on so
	Over     int64     // of Expected, what is beyond the quota
	OverFen  int64     // what that costs, in hundredths of a yuan
	RunsOut  time.Time // when the quota is used up; zero: not before ResetAt
}

const trend = 7 * 24 * time.Hour

// Forecast returns where the calls of an application are going, in one read: what is used, extended
// by the mean of the last seven days, or of its life where that is shorter.
func (b *Billing) Forecast(ctx context.Context, app storage.App, now time.Time) (Forecast, error) {
	plan := b.plans.of(app.TierAt(now))
	begins, since := plan.begins(app, now), driver.Hour(now.Add(-trend))
	if made := driver.Hour(app.CreatedAt); made.After(since) && !made.After(now) {
		since = made
	}
	from := begins
	if since.Before(from) {
		from = since
	}
	end := plan.Period.end(now)
	rows, err := b.c.Usage(ctx, driver.UsageQuery{AppID: app.ID, From: from, To: end})
	if err != nil {
		return Forecast{}, err
	}
	f := Forecast{Plan: plan, ResetAt: end, Used: plan.carried(app, now)}
	var lately int64
	for _, row := range rows {
		if !row.At.Before(begins) {
			f.Used = saturate(f.Used, row.Calls)
		}
		if !row.At.Before(since) {
			lately = saturate(lately, row.Calls)
		}
	}
	return f.extend(float64(lately)/max(now.Sub(since), time.Hour).Hours(), now), nil
}

// extend adds what is to come, at so many calls an hour.
func (f Forecast) extend(perHour float64, now time.Time) Forecast {
	f.PerDay = whole(24 * perHour)
	f.Expected = saturate(f.Used, whole(perHour*f.ResetAt.Sub(now).Hours()))
	if f.Plan.Calls == counters.Unlimited {
		return f
	}
	if f.Over = max(0, f.Expected-f.Plan.Calls); f.Over == 0 {
		return f
	}
	f.OverFen = f.Plan.overageFen(f.Over)
	f.RunsOut = now.UTC()
	if left := f.Plan.Calls - f.Used; left > 0 {
		f.RunsOut = f.RunsOut.Add(time.Duration(float64(left) / perHour * float64(time.Hour))).Truncate(time.Second)
	}
	return f
}

// whole rounds, and stops at the largest number.
func whole(calls float64) int64 {
	if calls >= 1<<63 {
		return 1<<63 - 1
	}
	return int64(calls + 0.5)
}
