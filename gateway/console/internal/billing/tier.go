package billing

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
)

// tierRecord shows what a tier allows and costs, as GET /api/v1/billing/plans does.
type tierRecord struct {
	Tier      string         `json:"tier"`
	PerMinute int            `json:"requests_per_minute"` // -1: unlimited
	Calls     int64          `json:"calls_limit"`         // -1: unlimited
	Period    billing.Period `json:"period"`
	Branding  bool           `json:"branding"`
	Price     adminapi.Price `json:"price"`
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
		all = append(all, tierRecord{p.Tier, p.PerMinute, p.Calls, p.Period, p.Branding, adminapi.Yearly(p.PriceFen),
			p.OverFen,
			p.SLA})
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

// setTier serves POST /api/console/tiers: a tier at once and for nothing.
func (s *Billing) setTier(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, tier, end := "", "", ""
	if err := adminapi.ReadInto(w, r, adminapi.Text("client_id", &id), adminapi.Text("tier", &tier),
		adminapi.Text("until", &end)); err != nil {
		return nil, err
	}
	until, err := untilOf(end)
	if err != nil {
		return nil, err
	}
	app, err := s.c.Finder.App(r.Context(), who, "client_id", id)
	if err != nil {
		return nil, err
	}
	_, app, err = s.c.Acts.SetTier(r.Context(), who, app.ID, tier, until)
	now := time.Now()
	return givenTier{app.ID, app.TierAt(now), adminapi.Stamp(app.TierUntil(now))}, adminapi.Refusal(err, noApp)
}
