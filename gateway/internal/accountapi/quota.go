package accountapi

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

// quota serves GET /api/v1/quota (protocol 4.7): what is charged so far, including this
// process's last call. It is not charged itself.
func (e *Endpoints) quota(w http.ResponseWriter, r *http.Request) error {
	_, account, err := e.c.Caller(r)
	if err != nil {
		return err
	}
	q, err := e.c.Billing.Quota(r.Context(), account, time.Now())
	if err != nil {
		return err
	}
	for _, name := range e.c.Products {
		q.Month[name] += 0
	}
	e.c.Rate(r).Headers(w.Header())
	return reply.Success(w, quotaRecord{q.Plan.Tier, quotaLeft{q.Remaining, q.Plan.Calls,
		q.ResetAt.Format(adminapi.ISO8601)},
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
func (e *Endpoints) plans(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := e.c.Caller(r); err != nil {
		return err
	}
	all := []planRecord{}
	for _, p := range e.c.Billing.Plans() {
		all = append(all, planRecord{p.Tier, p.PerMinute, p.Calls, p.Period, p.Branding, adminapi.Yearly(p.PriceFen),
			p.OverFen, p.SLA})
	}
	return reply.Success(w, all)
}
