package gateway

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Used returns what an application has used of the quota of its present period, up to its
// limit: what went beyond is settled, and not its owner's to carry. This process's last
// call is in it; other processes' calls are when they have sent them, within a second. The zero Quota is for an application
// without an owner, or a limit.
func (g *Gateway) Used(ctx context.Context, app storage.App) (storage.Quota, error) {
	return Books{Plans: g.c.Plans, Usage: g.ledger.Series}.Used(ctx, app)
}

// Limit returns what an application may use that is made now.
func (g *Gateway) Limit(app storage.App) storage.Quota {
	now := time.Now()
	return g.accounts.tiers.of(app.TierAt(now)).period(now)
}

// Used is [Gateway.Used], as far as the books know.
func (b Books) Used(ctx context.Context, app storage.App) (storage.Quota, error) {
	t, err := newTiers(b.Plans)
	if err != nil {
		return storage.Quota{}, fmt.Errorf("gateway: %w", err)
	}
	now := time.Now()
	plan := t.of(app.TierAt(now))
	used := plan.period(now)
	if app.Owner == "" || plan.Calls == Unlimited {
		return storage.Quota{}, nil
	}
	rows, err := b.Usage(ctx, driver.UsageQuery{AppID: app.ID, From: plan.begins(app, now), To: used.Until})
	if err != nil {
		return storage.Quota{}, err
	}
	sum := driver.Count{Calls: plan.carried(app, now)}
	for _, row := range rows {
		sum = sum.Plus(row)
	}
	used.Calls = min(sum.Calls, plan.Calls)
	return used, nil
}

// Limit is [Gateway.Limit], by plans that New takes.
func (b Books) Limit(app storage.App) storage.Quota {
	t, _ := newTiers(b.Plans)
	now := time.Now()
	return t.of(app.TierAt(now)).period(now)
}

// Recover sends what a killed process has left in its journal to the store, so that the books
// know of it. It fails while a process has the journal.
func Recover(ctx context.Context, store Store, journal string, log *slog.Logger) error {
	l, err := ledger.Open(ctx, ledger.Config{Store: store, Path: journal, Log: log})
	if err != nil {
		return fmt.Errorf("gateway: %w", err)
	}
	return l.Close(ctx)
}
