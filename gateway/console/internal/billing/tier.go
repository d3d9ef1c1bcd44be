package billing

import (
	"fmt"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/event"
)

// tierRecord shows what a tier allows and costs, as GET /api/v1/billing/plans does.
type tierRecord struct {
	Tier      string         `json:"tier"`
	PerMinute int            `json:"requests_per_minute"` // -1: unlimited
	Calls     int64          `json:"calls_limit"`         // -1: unlimited
	Period    billing.Period `json:"period"`
	Branding  bool           `json:"branding"`
	Price     manage.Price   `json:"price"`
	OverFen   int64          `json:"overage_fen"` // for a thousand calls beyond the limit
	SLA       string         `json:"sla"`
}

// Yuan returns the price for a year.
func (t tierRecord) Yuan() string { return yuan(t.Price.Amount) }

// OverYuan returns the price of a thousand calls beyond the limit.
func (t tierRecord) OverYuan() string { return yuan(t.OverFen) }

// listTiers serves GET /api/console/tiers.
func (s *Billing) listTiers(http.ResponseWriter, *http.Request, admin.Actor) (any, error) {
	all := []tierRecord{}
	for _, p := range s.c.Billing.Plans() {
		all = append(all, tierRecord{p.Tier, p.PerMinute, p.Calls, p.Period, p.Branding, manage.Yearly(p.PriceFen), p.OverFen, p.SLA})
	}
	return struct {
		Tiers []tierRecord `json:"tiers"`
	}{all}, nil
}

// givenTier is the answer to setting a tier.
type givenTier struct {
	ClientID string  `json:"client_id"`
	Tier     string  `json:"tier"`
	Until    *string `json:"until"` // null: no end is agreed on
}

// setTier serves POST /api/console/tiers: a tier at once and for nothing. The books say so, and an
// order of the application's that waits is canceled.
func (s *Billing) setTier(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, "client_id", "tier", "until")
	if err != nil {
		return nil, err
	}
	id, tier := "", ""
	if err := f.Read("client_id", "a text", &id); err != nil {
		return nil, err
	}
	if err := f.Read("tier", "a text", &tier); err != nil {
		return nil, err
	}
	until, err := untilOf(f)
	if err != nil {
		return nil, err
	}
	if !manage.IsID(id) {
		return nil, noApp
	}
	before, err := s.c.Store.App(r.Context(), id)
	if err != nil {
		return nil, manage.Refusal(err, noApp)
	}
	after, err := s.c.Billing.SetTier(r.Context(), id, tier, who.Sub, until)
	if err != nil {
		return nil, manage.Refusal(err, noApp)
	}
	s.c.Forget(id)
	now := time.Now()
	err = s.c.Recorder.Note(r.Context(), who, admin.Act{
		What: "tier set", On: id, App: id, User: after.Owner,
		Changes: []string{fmt.Sprintf("tier %s -> %s", tierText(before, now), tierText(after, now))},
	})
	if err != nil {
		return nil, err
	}
	s.c.Recorder.Notify(r.Context(), who, event.Notice{Kind: event.NoticeApp, App: after.Name, Detail: "tier set to " + after.TierAt(now)}, after.Owner)
	return givenTier{id, after.TierAt(now), manage.Stamp(after.TierUntil(now))}, nil
}

// tierText tells of a tier for the trail, with its end if there is one.
func tierText(a storage.App, now time.Time) string {
	text := a.TierAt(now)
	if end := a.TierUntil(now); !end.IsZero() {
		text += " until " + end.UTC().Format(manage.ISO8601)
	}
	return text
}
