package usage

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Names by which usage is summed up.
const (
	ByProduct = "product"
	ByMember  = "member" // capability that a tool belongs to
	ByTool    = "tool"
	ByUser    = "user"
	ByAgent   = "agent" // who acts by delegation, else the application
)

var dimensions = map[string]ledger.Dimension{
	"": ledger.ByProduct, ByProduct: ledger.ByProduct, ByMember: ledger.ByMember, ByTool: ledger.ByTool,
	ByUser: ledger.ByUser, ByAgent: ledger.ByAgent,
}

// Query asks for the usage of one application.
type Query struct {
	ClientID string    // what calls are charged to: storage.Caller.Account
	From, To time.Time // widened to whole hours or days; zero: from the beginning of the month, until now
	Daily    bool      // by UTC day; else by hour
	By       string    // "": ByProduct
	Product  string    // only this one, by product; "": all
	Before   bool      // count the calls of the span before as well, of the same length

	// Account is the application as it pays, where the caller has it; zero: it is read.
	Account storage.App
}

// Answer is the usage of one application.
type Answer struct {
	From, To time.Time
	Daily    bool
	By       string
	Series   []Row            // ascending by time, then name; rows without calls are left out
	Totals   map[string]int64 // calls by name
	Overage  int64            // calls beyond the quota, of all products together; by product alone
	Before   int64            // calls of the span before, if asked for; 0 where its rows are gone
	Earlier  []Row            // the same by time, ascending, all names together
	Omitted  Omitted          // of all but products
}

// Row holds what was called under one name in an hour or a day.
type Row struct {
	At     time.Time // start of the hour or day, UTC
	Name   string
	Calls  int64
	Errors int64
}

// Omitted counts the names that are not in an answer because it has enough: those with the fewest
// calls.
type Omitted struct {
	Names int
	Calls int64
}

// Check returns what is wrong with a query as an error that wraps storage.ErrInvalid, and else the
// query with its span as it is answered.
func (q Query) Check() (Query, error) {
	if q.By == "" {
		q.By = ByProduct
	}
	if _, known := dimensions[q.By]; !known {
		return q, refused("by is product, member, tool, user or agent")
	}
	if q.By != ByProduct && q.Product != "" {
		return q, refused("by and product exclude each other: users and agents are summed up over all products, tools and " +
			"members are of mcp")
	}
	var err error
	q.From, q.To, err = widened(q.From, q.To, q.Daily)
	return q, err
}

// Usage returns the usage of one application: exactly, calls aside that other processes have not sent
// yet, within a second. It returns storage.ErrNotFound where there is no such application and was none,
// an error that wraps storage.ErrInvalid for a question that cannot be answered, and ErrBusy.
func (r *Reader) Usage(ctx context.Context, q Query) (Answer, error) {
	q, err := q.Check()
	if err == nil {
		err = r.checkProduct(q.Product)
	}
	if err != nil {
		return Answer{}, err
	}
	if q.Account.ID == "" {
		if q.Account, err = r.account(ctx, q.ClientID); err != nil {
			return Answer{}, err
		}
	}
	first := r.c.Billing.FirstHour(q.Account, time.Now())
	if !q.Daily && q.From.Before(first) {
		return Answer{}, refused("rows by hour are kept for 400 days: by hour, from is %s or later; ask for what was "+
			"before by day", first.Format(time.RFC3339))
	}
	since := q.From
	if before := q.From.Add(q.From.Sub(q.To)); q.Before && (q.Daily || !before.Before(first)) {
		since = before
	}
	if q.By != ByProduct {
		return r.byName(ctx, q, since)
	}
	rows, over, err := r.c.Billing.UsageSince(ctx, q.Account, since, q.From, q.To, q.Daily)
	if err != nil {
		return Answer{}, err
	}
	a := q.answer()
	a.Overage = over
	for _, name := range r.c.Products {
		if q.Product == "" || q.Product == name {
			a.Totals[name] = 0
		}
	}
	for _, row := range rows {
		switch {
		case q.Product != "" && q.Product != row.Product:
		case !row.At.Before(q.From):
			a.add(row)
		case !row.At.Before(since): // others are there for the quota alone
			a.addBefore(row)
		}
	}
	return a, nil
}

func (q Query) answer() Answer {
	return Answer{From: q.From, To: q.To, Daily: q.Daily, By: q.By, Series: []Row{}, Totals: map[string]int64{}}
}

func (a *Answer) add(row driver.Count) {
	a.Series = append(a.Series, Row{row.At, row.Product, row.Calls, row.Errors})
	a.Totals[row.Product] = driver.Count{Calls: a.Totals[row.Product]}.Plus(row).Calls
}

// addBefore adds a row of the span before.
func (a *Answer) addBefore(row driver.Count) {
	a.Before = driver.Count{Calls: a.Before}.Plus(row).Calls
	i, known := slices.BinarySearchFunc(a.Earlier, row.At, func(r Row, at time.Time) int { return r.At.Compare(at) })
	if !known {
		a.Earlier = slices.Insert(a.Earlier, i, Row{At: row.At})
	}
	sum := driver.Count{Calls: a.Earlier[i].Calls, Errors: a.Earlier[i].Errors}.Plus(row)
	a.Earlier[i].Calls, a.Earlier[i].Errors = sum.Calls, sum.Errors
}

// Calls returns what each of several applications has called in a span of whole UTC days, in one read of
// the store: the sums, by client_id. An application without calls is not in it. There are up to
// driver.MaxMeters.
func (r *Reader) Calls(ctx context.Context, apps []string, from, to time.Time) (map[string]Row, error) {
	from, to, err := widened(from, to, true)
	if err != nil {
		return nil, err
	}
	rows, err := r.c.SeriesOf(ctx, apps, driver.UsageQuery{From: from, To: to, Daily: true})
	sums := make(map[string]Row, len(rows))
	for app, all := range rows {
		var sum driver.Count
		for _, row := range all {
			sum = sum.Plus(row)
		}
		if sum.Calls > 0 {
			sums[app] = Row{At: from, Calls: sum.Calls, Errors: sum.Errors}
		}
	}
	return sums, err
}

// account returns an application as it pays, also one that was removed.
func (r *Reader) account(ctx context.Context, id string) (storage.App, error) {
	clientID, _, _ := strings.Cut(id, " ") // an application that nobody registered has an account for each user
	app, err := r.c.Billing.App(ctx, clientID)
	app.ID = id
	return app, err
}

// Forecast returns where the calls of an application are going: see billing.Billing.
func (r *Reader) Forecast(ctx context.Context, clientID string) (billing.Forecast, error) {
	app, err := r.account(ctx, clientID)
	if err != nil {
		return billing.Forecast{}, err
	}
	return r.c.Billing.Forecast(ctx, app, time.Now())
}
