package overview

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// own shows what belongs to somebody.
type own struct {
	Apps   []ownApp   `json:"apps"`   // at most 20
	More   bool       `json:"more"`   // they have more applications
	Orders []ownOrder `json:"orders"` // at most 10
}

// ownApp shows an application.
type ownApp struct {
	ClientID string `json:"client_id"`
	Name     string `json:"name"`
	Tier     string `json:"tier"`
	Disabled bool   `json:"disabled"`
	Calls    *int64 `json:"calls_today"` // null: see its usage
	Errors   *int64 `json:"errors_today"`
}

// Sums returns the calls and errors of today, where they are known.
func (a ownApp) Sums() []int64 {
	if a.Calls == nil || a.Errors == nil {
		return nil
	}
	return []int64{*a.Calls, *a.Errors}
}

type ownOrder struct {
	OrderID  string `json:"order_id"`
	ClientID string `json:"client_id"`
	Tier     string `json:"tier"`
	Status   string `json:"status"`
	At       string `json:"created_at"`
	Name     string `json:"-"` // of the application
}

const ownApps, ownOrders, ownCaps = 20, 10, 50

// own reads what belongs to somebody, in four reads.
func (s *Overview) own(ctx context.Context, now time.Time, who admin.Actor, out *record) error {
	v := &own{Apps: []ownApp{}, Orders: []ownOrder{}}
	out.Own = v
	capabilities := 0
	if who.Developer() == nil && s.c.WhyUnlisted != nil {
		capabilities = ownCaps
	}
	apps, more, orders, all, err := s.c.Store.OwnedBy(ctx, who.Sub, ownApps, ownOrders, capabilities)
	if err != nil {
		return err
	}
	v.More = more
	for _, c := range all {
		out.Todo = append(out.Todo, capabilityWaits(c, s.c.WhyUnlisted)...)
	}
	out.Steps = append(out.Steps, step{"app", newApp, len(apps) > 0})
	if capabilities > 0 {
		out.Steps = append(out.Steps, step{"capability", importAPI, len(all) > 0})
	}
	called, err := s.called(ctx, apps, now)
	out.Missing = err != nil
	for _, a := range apps {
		one := ownApp{ClientID: a.ID, Name: ui.Shown(a.Name, maxShown), Tier: a.TierAt(now), Disabled: a.Disabled}
		if sum := called[a.ID]; called != nil {
			one.Calls, one.Errors = &sum.Calls, &sum.Errors
		}
		v.Apps = append(v.Apps, one)
	}
	for _, o := range orders {
		one := ownOrder{o.ID, o.AppID, o.Tier, o.Status, o.CreatedAt.UTC().Format(adminapi.ISO8601), ""}
		if i := slices.IndexFunc(apps, func(a storage.App) bool { return a.ID == o.AppID }); i >= 0 {
			one.Name = apps[i].Name
		}
		v.Orders = append(v.Orders, one)
	}
	return nil
}

// called returns what applications have called today; nil: it is not known.
func (s *Overview) called(ctx context.Context, apps []storage.App, now time.Time) (map[string]usage.Row, error) {
	if s.c.Reader == nil || len(apps) == 0 {
		return nil, nil
	}
	ids := make([]string, len(apps))
	for i, a := range apps {
		ids[i] = a.ID
	}
	all, err := s.c.Reader.Calls(ctx, ids, now.Truncate(24*time.Hour), now.Add(1))
	if err != nil {
		return nil, err
	}
	return all, nil
}
