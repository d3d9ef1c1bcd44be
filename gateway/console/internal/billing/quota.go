package billing

import (
	"cmp"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/driver"
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
	id := r.PathValue("client_id")
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
	q, err := s.quotaOf(r, app)
	return q, err
}

func (s *Billing) quotaOf(r *http.Request, app storage.App) (quotaRecord, error) {
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
type choice struct{ ClientID, Name, Tier, Owner string }

// quotaChoices bounds how many applications a page offers.
const quotaChoices = 50

// quotaView is the quota of an application or, without one, those to choose.
type quotaView struct {
	Quota *quotaRecord
	Apps  []choice
	Next  string
}

// browseQuota is showQuota for a page, of the application that is named in the query. Without one there are those
// that its reader may see to choose.
func (s *Billing) browseQuota(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	var data quotaView
	if typed := r.URL.Query().Get("app"); typed != "" {
		app, err := s.c.Finder.App(r.Context(), who, "app", typed)
		if err != nil {
			return data, err
		}
		q, err := s.quotaOf(r, app)
		data.Quota = &q
		return data, err
	}
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	owner, from := "", ""
	if who.Reader() != nil {
		owner = who.Sub
	}
	if after != "" {
		from = driver.After(cmp.Or(listOf(owner), "all"), after)
	}
	page, next, err := s.c.Store.Apps(r.Context(), owner, from, quotaChoices)
	for _, a := range page {
		data.Apps = append(data.Apps, choice{a.ID, a.Name, a.TierAt(time.Now()), a.Owner})
	}
	if next != "" {
		data.Next = page[len(page)-1].ID
	}
	return data, err
}

func listOf(owner string) string {
	if owner == "" {
		return ""
	}
	return "owner=" + owner
}
