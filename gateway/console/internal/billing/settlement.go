package billing

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

const (
	settledApps = 20  // on a page: each costs reads of its own
	filedApps   = 500 // in a file
	// removed stands before the id in an after that leads among the applications that were removed: they
	// come behind all others. No id has it.
	removed = "~"

	monthForm = "2006-01"
)

// settlementsRecord is a page of settlements.
type settlementsRecord struct {
	Month       string               `json:"month"`
	Settlements []billing.Settlement `json:"settlements"`
	TotalFen    int64                `json:"total_fen"` // of this page
	Currency    string               `json:"currency"`
	Next        string               `json:"next"` // send it as after for more; "": there is no more
}

// settleQuery asks for settlements.
type settleQuery struct {
	month time.Time
	owner string // "": everybody's
	app   string // "": all
	after string
}

func readSettleQuery(r *http.Request, who admin.Actor) (q settleQuery, err error) {
	form := r.URL.Query()
	if q.month, err = billing.ParseMonth(form.Get("month"), time.Now()); err != nil {
		return q, adminapi.BadQuery.Saying(err.Error())
	}
	q.app = form.Get("client_id")
	q.after = form.Get("after")
	if id := strings.TrimPrefix(q.after, removed); id != "" && !adminapi.IsID(id) {
		return q, adminapi.BadQuery.Saying("after is the next of the page before, as it was sent")
	}
	if who.Reader() != nil {
		q.owner = who.Sub
	}
	return q, nil
}

// listSettlements serves GET /api/console/settlements?month=&client_id=&after=.
func (s *Billing) listSettlements(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	q, err := readSettleQuery(r, who)
	if err != nil {
		return nil, err
	}
	if q.app != "" {
		if q.app, err = s.c.Finder.AppID(r.Context(), who, "client_id", q.app); err != nil {
			return settlementsRecord{Month: q.month.Format(monthForm)}, err
		}
	}
	return s.settle(r, who, q)
}

// settle makes a page of settlements. It is a page of the applications that there are, and behind the
// last one of those that were removed.
func (s *Billing) settle(r *http.Request, who admin.Actor, q settleQuery) (out settlementsRecord, err error) {
	var page storage.Settling
	if q.app != "" && !adminapi.IsID(q.app) {
		return out, noApp
	}
	if q.app != "" {
		page, err = s.c.Store.AppToSettle(r.Context(), q.app)
		if err == nil && !who.Sees(page.Apps[0].Owner) {
			err = noApp
		}
		err = adminapi.Refusal(err, noApp)
	} else {
		page, out.Next, err = s.settleable(r, q)
	}
	if err != nil {
		return out, err
	}
	out.Settlements, out.TotalFen, err = s.c.Billing.SettleAll(r.Context(), page, q.month)
	out.Month, out.Currency = q.month.Format(monthForm), billing.Currency
	return out, err
}

// settleable reads a page and where the next one begins.
func (s *Billing) settleable(r *http.Request, q settleQuery) (page storage.Settling, next string, err error) {
	id, gone := strings.CutPrefix(q.after, removed)
	read := s.c.Store.AppsToSettle
	if gone {
		read = s.c.Store.ClosedAppsToSettle
	}
	page, err = read(r.Context(), q.owner, id, settledApps)
	switch {
	case err != nil:
	case page.Next != "" && gone:
		next = removed + page.Apps[len(page.Apps)-1].ID
	case page.Next != "":
		next = page.Apps[len(page.Apps)-1].ID
	case page.Closed && !gone:
		next = removed
	}
	return page, next, err
}

// settlementsFile serves GET /api/console/settlements/csv. It is made before it is sent, so that no
// file is half there; Link leads to the next one.
func (s *Billing) settlementsFile(w http.ResponseWriter, r *http.Request, who admin.Actor) error {
	q, err := readSettleQuery(r, who)
	if err != nil {
		return err
	}
	var text strings.Builder
	rows := csv.NewWriter(&text)
	rows.Write([]string{"month", "client_id", "name", "final", "calls", "overage", "subscription_fen", "overage_fen",
		"total_fen", "total_cny"})
	for n := 0; n < filedApps; {
		page, err := s.settle(r, who, q)
		if err != nil {
			return err
		}
		for _, one := range page.Settlements {
			rows.Write(cells(one))
		}
		n, q.after = n+max(1, len(page.Settlements)), page.Next
		if page.Next == "" {
			break
		}
	}
	rows.Flush()
	reply.NoStore(w)
	if q.after != "" {
		next := url.Values{"month": {q.month.Format(monthForm)}, "after": {q.after}}
		w.Header().Set("Link", fmt.Sprintf(`<%s?%s>; rel="next"`, r.URL.Path, next.Encode()))
	}
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("Content-Disposition", `attachment; filename="settlements-`+q.month.Format(monthForm)+`.csv"`)
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, err = w.Write([]byte(text.String()))
	return err
}

func cells(s billing.Settlement) []string {
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	return []string{
		s.Month, adminapi.Cell(s.ClientID), adminapi.Cell(s.Name), strconv.FormatBool(s.Final), num(s.Calls), num(s.Overage),
		num(s.Subscription), num(s.OverageFen), num(s.TotalFen), yuan(s.TotalFen),
	}
}

// Yuan writes an amount of fen.
func (settlementsRecord) Yuan(fen int64) string { return yuan(fen) }

// Beside returns the month so many months later, as it stands in an address.
func (p settlementsRecord) Beside(months int) string {
	at, err := time.Parse(monthForm, p.Month)
	if err != nil {
		return ""
	}
	return at.AddDate(0, months, 0).Format(monthForm)
}

// File returns the address of the page's file.
func (p settlementsRecord) File(after string) string {
	q := url.Values{"month": {p.Month}}
	if after != "" {
		q.Set("after", after)
	}
	return pathSettlements + "/csv?" + q.Encode()
}
