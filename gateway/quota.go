package gateway

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// quotaRecord is spec 2.6.
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

const iso8601 = manage.ISO8601

// quota is GET /api/v1/quota (spec 4.7). It tells what is charged so far, this process's
// last call included; it is free itself.
func (g *Gateway) quota(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	now := time.Now()
	plan := account.plan
	rows, err := g.ledger.Series(r.Context(), driver.UsageQuery{AppID: caller.AppID, From: month(now), To: month(now).AddDate(0, 1, 0), Daily: true})
	if err != nil {
		return err
	}
	record := quotaRecord{Tier: plan.Tier, Month: map[string]int64{}}
	for _, name := range g.products.all() {
		record.Month[name] = 0
	}
	start, since := plan.Period.start(now), plan.begins(account.App, now)
	for _, row := range rows {
		record.Month[row.Product] = driver.Count{Calls: record.Month[row.Product]}.Plus(row).Calls
	}
	if since.After(start) {
		rows, err = g.ledger.Series(r.Context(), driver.UsageQuery{AppID: caller.AppID, From: since, To: month(now).AddDate(0, 1, 0)})
		if start = since; err != nil {
			return err
		}
	}
	used := driver.Count{Calls: plan.carried(account.App, now)}
	for _, row := range rows {
		if !row.At.Before(start) {
			used = used.Plus(row)
		}
	}
	record.Quota = quotaLeft{Remaining: plan.remaining(used.Calls), Limit: plan.Calls, ResetAt: plan.Period.end(now).Format(iso8601)}
	entryOf(r).verdict.headers(w.Header())
	return reply.Success(w, record)
}

// planRecord is a line of GET /api/v1/billing/plans (spec 8).
type planRecord struct {
	Tier      string       `json:"tier"`
	PerMinute int          `json:"requests_per_minute"` // -1: unlimited
	Calls     int64        `json:"calls_limit"`         // -1: unlimited
	Period    Period       `json:"period"`
	Branding  bool         `json:"branding"`
	Price     manage.Price `json:"price"`
	OverFen   int64        `json:"overage_fen"` // for a thousand calls beyond the limit
	SLA       string       `json:"sla"`
}

// plans is GET /api/v1/billing/plans.
func (g *Gateway) plans(w http.ResponseWriter, r *http.Request) error {
	if _, _, err := g.caller(r); err != nil {
		return err
	}
	all := []planRecord{}
	for _, tier := range []string{storage.TierFree, storage.TierWhiteLabel, storage.TierEnterprise} {
		p := g.accounts.tiers[tier]
		all = append(all, planRecord{p.Tier, p.PerMinute, p.Calls, p.Period, p.Branding, manage.Yearly(p.PriceFen), p.OverFen, p.SLA})
	}
	return reply.Success(w, all)
}
