package gateway

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/reply"
)

// quotaRecord is protocol 2.6.
type quotaRecord struct {
	Tier  string           `json:"tier"`
	Quota quotaLeft        `json:"quota"`
	Month map[string]int64 `json:"usage_this_month"` // by product
}

type quotaLeft struct {
	Remaining int64  `json:"calls_remaining"` // stops at 0; Unlimited
	Limit     int64  `json:"calls_limit"`     // Unlimited
	ResetAt   string `json:"reset_at"`        // ISO 8601, UTC, whole seconds
}

const iso8601 = adminapi.ISO8601

// quota serves GET /api/v1/quota (protocol 4.7): what is charged so far, including this
// process's last call. It is not charged itself.
func (g *Gateway) quota(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	q, err := g.billing.Quota(r.Context(), account.payer(caller), time.Now())
	if err != nil {
		return err
	}
	for _, name := range g.products.all() {
		q.Month[name] += 0
	}
	entryOf(r).verdict.Headers(w.Header())
	return reply.Success(w, quotaRecord{q.Plan.Tier, quotaLeft{q.Remaining, q.Plan.Calls, q.ResetAt.Format(iso8601)},
		q.Month})
}

// planRecord is a line of GET /api/v1/billing/plans (protocol 8).
type planRecord struct {
	Tier      string         `json:"tier"`
	PerMinute int            `json:"requests_per_minute"` // -1: unlimited
	Calls     int64          `json:"calls_limit"`         // -1: unlimited
	Period    billing.Period `json:"period"`
	Branding  bool           `json:"branding"`
	Price     adminapi.Price `json:"price"`
	OverFen   int64          `json:"overage_fen"` // for a thousand calls beyond the limit
	SLA       string         `json:"sla"`
}

// plans serves GET /api/v1/billing/plans.
func (g *Gateway) plans(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := g.caller(r); err != nil {
		return err
	}
	all := []planRecord{}
	for _, p := range g.billing.Plans() {
		all = append(all, planRecord{p.Tier, p.PerMinute, p.Calls, p.Period, p.Branding, adminapi.Yearly(p.PriceFen),
			p.OverFen,
			p.SLA})
	}
	return reply.Success(w, all)
}
