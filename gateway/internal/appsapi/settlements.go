package appsapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/storage"
)

// maxSettled is the maximum number of applications in one answer.
const maxSettled = 2 * adminapi.PageSize

// settlements serves GET /api/v1/billing/settlements?month=2026-11 (decision 30): what the
// manager's applications owe, those removed since included.
func (e *Endpoints) settlements(_ http.ResponseWriter, r *http.Request, by manager) (any, error) {
	query := r.URL.Query()
	at, err := billing.ParseMonth(query.Get("month"), time.Now())
	if err != nil {
		return nil, adminapi.BadQuery.Saying(err.Error())
	}
	all, err := e.settled(r, by, query.Get("client_id"))
	if err != nil {
		return nil, err
	}
	list, total, err := e.c.Billing.SettleAll(r.Context(), storage.Settling{Apps: all}, at)
	return struct {
		Month       string               `json:"month"`
		Currency    string               `json:"currency"`
		Settlements []billing.Settlement `json:"settlements"`
		TotalFen    int64                `json:"total_fen"`
	}{at.Format("2006-01"), billing.Currency, list, total}, err
}

// settled returns the applications to settle: one, or all of the manager's.
func (e *Endpoints) settled(r *http.Request, by manager, id string) (all []storage.App, err error) {
	ctx := r.Context()
	if id = cmp.Or(id, by.Application); id != "" {
		app, err := by.own(e.c.Billing.App(ctx, id))
		return []storage.App{app}, err
	}
	owner, err := by.ownerOf(r)
	if err != nil {
		return nil, err
	}
	all, more, err := e.c.Store.Apps(ctx, owner, "", maxSettled)
	if err != nil {
		return nil, err
	}
	closed, evenMore, err := e.c.Store.ClosedApps(ctx, owner, "", maxSettled)
	if all = append(all, closed...); len(all) > maxSettled || more+evenMore != "" {
		return nil, adminapi.BadQuery.Saying("these are too many applications for one answer: ask for each with client_id")
	}
	return all, err
}
