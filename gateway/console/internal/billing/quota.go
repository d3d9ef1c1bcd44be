package billing

import (
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage/counters"
)

// quotaRecord shows what an application has used of its quota, and where that is going.
type quotaRecord struct {
	ClientID string         `json:"client_id"`
	Name     string         `json:"name"`
	Tier     string         `json:"tier"`
	Limit    int64          `json:"calls_limit"` // -1: unlimited
	Used     int64          `json:"calls_used"`  // what is beyond the limit included
	Left     int64          `json:"calls_remaining"`
	Over     int64          `json:"overage"`
	Period   billing.Period `json:"period"`
	ResetAt  string         `json:"reset_at"`
	Forecast forecast       `json:"forecast"`
}

// forecast is an estimate: the last seven days, extended to when the quota begins anew.
type forecast struct {
	PerDay   int64   `json:"calls_per_day"`
	Expected int64   `json:"calls"`
	Over     int64   `json:"overage"`
	OverFen  int64   `json:"overage_fen"`
	RunsOut  *string `json:"runs_out_at"` // null: not before reset_at
}

// Yuan returns what the calls beyond the quota would cost.
func (f forecast) Yuan() string { return yuan(f.OverFen) }

// showQuota serves GET /api/console/quota/{client_id}.
func (s *Billing) showQuota(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q, err := s.quotaOf(r, who, r.PathValue("client_id"))
	return q, err
}

func (s *Billing) quotaOf(r *http.Request, who admin.Actor, id string) (quotaRecord, error) {
	if !adminapi.IsID(id) {
		return quotaRecord{}, noApp
	}
	app, err := s.c.Store.App(r.Context(), id)
	if err == nil && !who.Sees(app.Owner) {
		err = noApp
	}
	if err != nil {
		return quotaRecord{}, adminapi.Refusal(err, noApp)
	}
	f, err := s.c.Billing.Forecast(r.Context(), app, time.Now())
	if err != nil {
		return quotaRecord{}, err
	}
	q := quotaRecord{
		ClientID: app.ID, Name: app.Name, Tier: f.Plan.Tier, Limit: f.Plan.Calls, Used: f.Used, Left: counters.Unlimited,
		Period: f.Plan.Period, ResetAt: f.ResetAt.UTC().Format(adminapi.ISO8601),
		Forecast: forecast{f.PerDay, f.Expected, f.Over, f.OverFen, adminapi.Stamp(f.RunsOut)},
	}
	if q.Limit != counters.Unlimited {
		q.Left, q.Over = max(0, q.Limit-q.Used), max(0, q.Used-q.Limit)
	}
	return q, nil
}

// choice is an application to choose.
type choice struct{ ClientID, Name string }

// maxChoices bounds how many of their own applications somebody chooses among.
const maxChoices = 100

// browseQuota is showQuota for a page, of the application that is named in the query. Without one
// there are the reader's own to choose.
func (s *Billing) browseQuota(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var data struct {
		Quota *quotaRecord
		Apps  []choice
	}
	if id := r.URL.Query().Get("app"); id != "" {
		q, err := s.quotaOf(r, who, id)
		data.Quota = &q
		return data, err
	}
	own, _, err := s.c.Store.Apps(r.Context(), who.Sub, "", maxChoices)
	for _, a := range own {
		data.Apps = append(data.Apps, choice{a.ID, a.Name})
	}
	return data, err
}
