package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// maxSettled is how many applications one answer settles.
const maxSettled = 2 * manage.PageSize

// settlements is GET /api/v1/billing/settlements?month=2026-11 (entry 30 of the decisions):
// what the manager's applications owe, those removed since included.
func (g *Gateway) settlements(w http.ResponseWriter, r *http.Request) error {
	m, err := g.manager(r)
	if err != nil {
		return err
	}
	query := r.URL.Query()
	at, err := ParseMonth(query.Get("month"), time.Now())
	if err != nil {
		return badQuery.Saying(err.Error())
	}
	all, err := g.settled(r, m, query.Get("client_id"))
	if err != nil {
		return err
	}
	list, total := []Settlement{}, int64(0)
	for _, app := range all {
		s, err := g.Settle(r.Context(), app, at)
		if err != nil {
			return err
		}
		list, total = append(list, s), saturate(total, s.TotalFen)
	}
	return reply.Success(w, struct {
		Month       string       `json:"month"`
		Currency    string       `json:"currency"`
		Settlements []Settlement `json:"settlements"`
		TotalFen    int64        `json:"total_fen"`
	}{at.Format("2006-01"), manage.Currency, list, total})
}

// Settle makes the settlement of one application for the UTC month that at is in, this
// process's last call included. It needs Apps.
func (g *Gateway) Settle(ctx context.Context, app storage.App, at time.Time) (Settlement, error) {
	return Books{Plans: g.c.Plans, Usage: g.ledger.Series, Orders: g.c.Apps.Orders}.Settle(ctx, app, at)
}

// settled returns the applications to settle: one, or all of the manager's.
func (g *Gateway) settled(r *http.Request, m manager, id string) (all []storage.App, err error) {
	ctx := r.Context()
	if id == "" && m.itself() {
		id = m.app.ID
	}
	if id != "" {
		app, err := apps.Settled(ctx, g.c.Apps, id)
		if err == nil {
			err = m.mine(app)
		}
		return []storage.App{app}, refusal(err)
	}
	all, more, err := g.c.Apps.Apps(ctx, m.user.Sub, "", maxSettled)
	if err != nil {
		return nil, err
	}
	closed, evenMore, err := g.c.Apps.ClosedApps(ctx, m.user.Sub, "", maxSettled)
	for _, c := range closed {
		all = append(all, c.App())
	}
	if len(all) > maxSettled || more+evenMore != "" {
		return nil, badQuery.Saying("these are too many applications for one answer: ask for each with client_id")
	}
	return all, err
}
