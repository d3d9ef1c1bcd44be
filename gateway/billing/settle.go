package billing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Settlement sums what one application owes for one month (protocol 8: no quota interrupts
// anything, and settlement is monthly). It is made of the ledger and of approved orders
// alone, so that anybody who has both makes the same one. Amounts are in hundredths of a
// yuan.
//
// A month that began more than 400 days ago is settled by the rows of days, because those of
// hours are not kept for longer. Its calls are the same; what went beyond the quota may be
// attributed to another tier or product on a day in which the tier changed or the quota
// ended.
type Settlement struct {
	ClientID     string        `json:"client_id"`
	Name         string        `json:"name"`
	Month        string        `json:"month"` // such as 2026-11, in UTC
	Final        bool          `json:"final"` // the month is over
	Tiers        []SettledTier `json:"tiers"`
	Products     []SettledCall `json:"products"`
	Calls        int64         `json:"calls"`
	Overage      int64         `json:"overage"` // calls beyond the quota
	Subscription int64         `json:"subscription_fen"`
	OverageFen   int64         `json:"overage_fen"`
	TotalFen     int64         `json:"total_fen"`
}

// SettledTier is one of the tiers that the application had in the month.
type SettledTier struct {
	Tier    string `json:"tier"`
	From    string `json:"from"`
	To      string `json:"to"` // exclusive
	Limit   int64  `json:"calls_limit"`
	Period  Period `json:"period"` // that the limit is for
	Calls   int64  `json:"calls"`
	Overage int64  `json:"overage"`
	fen     int64  // for the overage
	plan    Plan
}

// SettledCall holds the application's calls of one product. A quota is that of all
// products together: calls beyond it are attributed by the order of the hours, and within
// an hour by product name.
type SettledCall struct {
	Product string `json:"product"`
	Calls   int64  `json:"calls"`
	Errors  int64  `json:"errors"` // of the calls
	Overage int64  `json:"overage"`
}

const iso8601 = "2006-01-02T15:04:05Z"

// ParseMonth reads a month such as 2026-11. "" is the month of now.
func ParseMonth(text string, now time.Time) (time.Time, error) {
	if text == "" {
		return month(now), nil
	}
	at, err := time.Parse("2006-01", text)
	if err != nil || at.Year() < 1970 || at.Year() > 2200 {
		return time.Time{}, fmt.Errorf("%q is not a month such as 2026-11", text)
	}
	return at, nil
}

// App returns the fields of an application that a settlement needs, even of a removed one,
// or storage.ErrNotFound if there never was one.
func (b *Billing) App(ctx context.Context, id string) (storage.App, error) {
	app, err := b.c.Store.App(ctx, id)
	if !errors.Is(err, storage.ErrNotFound) {
		return app, err
	}
	return b.c.Store.ClosedApp(ctx, id)
}

// Settle makes the settlement of one application for the UTC month that at is in.
func (b *Billing) Settle(ctx context.Context, app storage.App, at time.Time) (Settlement, error) {
	all, _, err := b.SettleAll(ctx, storage.Settling{Apps: []storage.App{app}}, at)
	if err != nil {
		return Settlement{}, err
	}
	return all[0], nil
}

// SettleAll makes the settlements of several applications for a month, and the sum that they owe. It reads the usage of
// up to driver.MaxMeters of them at once, and their orders, unless the page is Whole and has them.
func (b *Billing) SettleAll(ctx context.Context, page storage.Settling,
	at time.Time) (all []Settlement, totalFen int64, err error) {
	all = []Settlement{}
	from, to := month(at), month(at).AddDate(0, 1, 0)
	daily := from.Before(hoursFrom(time.Now()))
	for some := range slices.Chunk(page.Apps, driver.MaxMeters) {
		ids := make([]string, len(some))
		for i, app := range some {
			ids[i] = app.ID
		}
		rows, err := b.c.UsageOf(ctx, ids, driver.UsageQuery{From: from, To: to, Daily: daily})
		if err != nil {
			return nil, 0, err
		}
		subscriptions, err := b.subscriptions(ctx, page, ids, from, to)
		if err != nil {
			return nil, 0, err
		}
		for _, app := range some {
			s := b.settle(app, rows[app.ID], from, to, daily)
			s.Subscription = subscriptions[app.ID]
			s.TotalFen = saturate(s.Subscription, s.OverageFen)
			all, totalFen = append(all, s), saturate(totalFen, s.TotalFen)
		}
	}
	return all, totalFen, nil
}

// settle makes a settlement of rows of usage, without its orders.
func (b *Billing) settle(app storage.App, rows []driver.Count, from, to time.Time, daily bool) Settlement {
	unit := time.Hour
	if daily {
		unit = 24 * time.Hour
	}
	slices.SortFunc(rows, func(a, b driver.Count) int {
		return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.Product, b.Product))
	})
	s := Settlement{
		ClientID: app.ID, Name: app.Name, Month: from.Format("2006-01"), Final: !time.Now().Before(to),
		Tiers: b.plans.spans(app, from, to),
	}
	s.count(tally{plans: b.plans, app: app, unit: unit}, rows)
	for _, span := range s.Tiers {
		s.OverageFen = saturate(s.OverageFen, span.fen)
	}
	return s
}

// count adds up the rows of the month.
func (s *Settlement) count(against tally, rows []driver.Count) {
	products := map[string]*SettledCall{}
	for _, row := range rows {
		over := against.over(row)
		p := products[row.Product]
		if p == nil {
			p = &SettledCall{Product: row.Product}
			products[row.Product] = p
		}
		p.Calls, p.Errors, p.Overage = saturate(p.Calls, row.Calls), saturate(p.Errors, row.Errors), saturate(p.Overage, over)
		s.Calls, s.Overage = saturate(s.Calls, row.Calls), saturate(s.Overage, over)
		in := s.spanOf(row.At.Add(against.unit - 1))
		in.Calls, in.Overage = saturate(in.Calls, row.Calls), saturate(in.Overage, over)
		in.fen = in.plan.overageFen(in.Overage)
	}
	s.Products = []SettledCall{}
	for _, name := range slices.Sorted(maps.Keys(products)) {
		s.Products = append(s.Products, *products[name])
	}
}

// spanOf returns the tier that a row counts under: the one its hour, or day, ends in.
func (s *Settlement) spanOf(end time.Time) *SettledTier {
	last := end.UTC().Format(iso8601)
	for i := len(s.Tiers) - 1; i > 0; i-- {
		if s.Tiers[i].From <= last {
			return &s.Tiers[i]
		}
	}
	return &s.Tiers[0]
}

// spans returns the tiers of a month, in the order of time.
func (t plans) spans(app storage.App, from, to time.Time) (spans []SettledTier) {
	for at := from; at.Before(to); {
		end := app.TierUntil(at)
		if end.IsZero() || end.After(to) {
			end = to
		}
		p := t.of(app.TierAt(at))
		spans = append(spans, SettledTier{
			Tier: p.Tier, From: at.UTC().Format(iso8601), To: end.UTC().Format(iso8601), Limit: p.Calls, Period: p.Period,
			plan: p,
		})
		at = end
	}
	return spans
}

// nearby bounds how many orders of one stretch of applications are read at once to find those of some.
const nearby = driver.Page

// subscriptions returns the prices of the orders that took effect in a month, by application. The orders of
// a page of applications lie side by side; where too many of others lie between, each is asked for.
func (b *Billing) subscriptions(ctx context.Context, page storage.Settling, ids []string,
	from, to time.Time) (map[string]int64, error) {
	fen := make(map[string]int64, len(ids))
	add := func(o storage.Order) {
		if o.Status == storage.OrderApproved && slices.Contains(ids, o.AppID) && !o.EffectiveAt.Before(from) &&
			o.EffectiveAt.Before(to) {
			fen[o.AppID] = saturate(fen[o.AppID], o.AmountFen)
		}
	}
	if page.Whole {
		for _, o := range page.Orders {
			add(o)
		}
		return fen, nil
	}
	if len(ids) > 1 {
		page, next, err := b.c.Store.OrdersOfApps(ctx, slices.Min(ids), slices.Max(ids), "", nearby)
		if err != nil {
			return nil, err
		}
		if next == "" {
			for _, o := range page {
				add(o)
			}
			return fen, nil
		}
	}
	for _, id := range ids {
		if err := b.approved(ctx, id, add); err != nil {
			return nil, err
		}
	}
	return fen, nil
}

// approved calls each with every approved order of an application, the oldest first.
func (b *Billing) approved(ctx context.Context, id string, each func(storage.Order)) error {
	for after := ""; ; {
		page, next, err := b.c.Store.Orders(ctx, storage.OrderQuery{AppID: id, Status: storage.OrderApproved}, after,
			driver.Page)
		if err != nil {
			return err
		}
		for _, o := range page {
			each(o)
		}
		if after = next; next == "" {
			return nil
		}
	}
}
