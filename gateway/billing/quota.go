package billing

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
)

// Quota shows the usage of an application's quota (protocol 2.6).
type Quota struct {
	Plan      Plan
	Remaining int64            // stops at 0; counters.Unlimited
	ResetAt   time.Time        // UTC
	Month     map[string]int64 // calls of this month, by product; those without any are left out
}

// Quota returns the usage of an application's quota at a time.
func (b *Billing) Quota(ctx context.Context, app storage.App, now time.Time) (Quota, error) {
	plan, next := b.plans.of(app.TierAt(now)), month(now).AddDate(0, 1, 0)
	rows, err := b.c.Usage(ctx, driver.UsageQuery{AppID: app.ID, From: month(now), To: next, Daily: true})
	if err != nil {
		return Quota{}, err
	}
	q := Quota{Plan: plan, ResetAt: plan.Period.end(now), Month: map[string]int64{}}
	for _, row := range rows {
		q.Month[row.Product] = saturate(q.Month[row.Product], row.Calls)
	}
	start, since := plan.Period.start(now), plan.begins(app, now)
	if since.After(start) {
		rows, err = b.c.Usage(ctx, driver.UsageQuery{AppID: app.ID, From: since, To: next})
		if start = since; err != nil {
			return Quota{}, err
		}
	}
	used := plan.carried(app, now)
	for _, row := range rows {
		if !row.At.Before(start) {
			used = saturate(used, row.Calls)
		}
	}
	q.Remaining = plan.remaining(used)
	return q, nil
}

// Used returns what an application has used of the quota of its present period, up to its
// limit: calls beyond it are settled, and not carried over. Calls of other processes are
// included once they have sent them, within a second. The zero Quota is for an application
// without an owner, or a limit.
func (b *Billing) Used(ctx context.Context, app storage.App) (storage.Quota, error) {
	if err := b.recover(ctx); err != nil {
		return storage.Quota{}, err
	}
	now := b.now()
	plan := b.plans.of(app.TierAt(now))
	used := plan.period(now)
	if app.Owner == "" || plan.Calls == counters.Unlimited {
		return storage.Quota{}, nil
	}
	rows, err := b.c.Usage(ctx, driver.UsageQuery{AppID: app.ID, From: plan.begins(app, now), To: used.Until})
	if err != nil {
		return storage.Quota{}, err
	}
	sum := plan.carried(app, now)
	for _, row := range rows {
		sum = saturate(sum, row.Calls)
	}
	used.Calls = min(sum, plan.Calls)
	return used, nil
}

// Limit returns the quota of an application that is made now.
func (b *Billing) Limit(app storage.App) storage.Quota {
	now := b.now()
	return b.plans.of(app.TierAt(now)).period(now)
}

// recover sends the calls in the journal of a killed process to the store. It fails while
// another process uses the journal.
func (b *Billing) recover(ctx context.Context) error {
	if b.c.Journal == "" {
		return nil
	}
	l, err := ledger.Open(ctx, ledger.Config{Store: b.c.Store, Path: b.c.Journal})
	if err != nil {
		return fmt.Errorf("billing: %w", err)
	}
	return l.Close(ctx)
}
