package accountapi

import (
	"encoding/csv"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// usageRecord is the answer of GET /api/v1/usage.
type usageRecord struct {
	From        string           `json:"from"` // inclusive
	To          string           `json:"to"`   // exclusive
	Granularity string           `json:"granularity"`
	Series      []usageRow       `json:"series"` // rows without calls are left out
	Totals      map[string]int64 `json:"totals"` // calls by product
	Overage     int64            `json:"overage"`
}

type usageRow struct {
	At      string `json:"at"` // the start of the hour or day, UTC
	Product string `json:"product"`
	Calls   int64  `json:"calls"`
	Errors  int64  `json:"errors"`
}

// usageQuery holds the parameters of a usage request.
type usageQuery struct {
	usage.Query
	csv bool
}

// usage serves GET /api/v1/usage (protocol 4.7): what was charged to the caller's
// application, by day or hour, and how much of it went beyond the quota. It is not charged
// itself.
func (e *Endpoints) usage(w http.ResponseWriter, r *http.Request) error {
	_, account, err := e.c.Caller(r)
	if err != nil {
		return err
	}
	q, err := readUsageQuery(r.URL.Query())
	if err != nil {
		return err
	}
	if q.Product != "" && !slices.Contains(e.c.Products, q.Product) {
		return BadProduct
	}
	q.Account = account
	q.ClientID = q.Account.ID
	if first := e.c.Billing.FirstHour(q.Account, time.Now()); !q.Daily && q.From.Before(first) {
		return adminapi.BadQuery.Saying("rows by hour are kept for 400 days: by hour, from is " +
			first.Format(adminapi.ISO8601) +
			" or later; ask for what was before with granularity=day")
	}
	if q.By != usage.ByProduct {
		return e.usageBy(w, r, q)
	}
	a, err := e.c.Reader.Usage(r.Context(), q.Query)
	if err != nil {
		return badUsage(err)
	}
	record := usageRecord{
		From: a.From.Format(adminapi.ISO8601), To: a.To.Format(adminapi.ISO8601), Granularity: granularity(a),
		Series: []usageRow{}, Totals: a.Totals, Overage: a.Overage,
	}
	for _, row := range a.Series {
		record.Series = append(record.Series, usageRow{row.At.Format(adminapi.ISO8601), row.Name, row.Calls, row.Errors})
	}
	if q.csv {
		return writeCSV(w, record)
	}
	return reply.Success(w, record)
}

func granularity(a usage.Answer) string {
	if a.Daily {
		return "day"
	}
	return "hour"
}

// badUsage returns the refusal of a question that cannot be answered.
func badUsage(err error) error {
	switch {
	case errors.Is(err, usage.ErrBusy):
		return busySumming
	case errors.Is(err, storage.ErrInvalid):
		return adminapi.BadQuery.Saying(err.Error())
	}
	return err
}

// readUsageQuery reads from, to, granularity, product, by and format. Without them it is this month
// by day, as JSON. Times are widened to whole days or hours.
func readUsageQuery(form url.Values) (q usageQuery, err error) {
	for name, values := range form {
		if len(values) > 1 {
			return q, adminapi.BadQuery.Saying(strconv.Quote(name) + " is there more than once")
		}
	}
	switch form.Get("granularity") {
	case "", "day":
		q.Daily = true
	case "hour":
	default:
		return q, adminapi.BadQuery.Saying("granularity is day or hour")
	}
	switch form.Get("format") {
	case "", "json":
	case "csv":
		q.csv = true
	default:
		return q, adminapi.BadQuery.Saying("format is json or csv")
	}
	if q.From, err = readTime(form.Get("from")); err != nil {
		return q, err
	}
	if q.To, err = readTime(form.Get("to")); err != nil {
		return q, err
	}
	q.Product, q.By = form.Get("product"), form.Get("by")
	if !slices.Contains([]string{"", usage.ByMember, usage.ByTool, usage.ByUser, usage.ByAgent}, q.By) {
		return q, adminapi.BadQuery.Saying("by is member, tool, user or agent")
	}
	if q.Query, err = q.Check(); err != nil {
		return q, badUsage(err)
	}
	return q, nil
}

// readTime reads 2026-11-21 or 2026-11-21T15:04:05Z; "" is no time.
func readTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && t.UTC().Year() > 1970 && t.UTC().Year() < 2200 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, adminapi.BadQuery.Saying("from and to are dates such as 2026-11-21, or times such as " +
		"2026-11-21T15:00:00Z")
}

// writeCSV writes the series. Product names and times hold nothing that a spreadsheet
// would run.
func writeCSV(w http.ResponseWriter, u usageRecord) error {
	var text strings.Builder
	out := csv.NewWriter(&text)
	out.Write([]string{"at", "product", "calls", "errors"})
	for _, row := range u.Series {
		out.Write([]string{row.At, row.Product, strconv.FormatInt(row.Calls, 10), strconv.FormatInt(row.Errors, 10)})
	}
	out.Flush()
	return sendCSV(w, text.String())
}

func sendCSV(w http.ResponseWriter, text string) error {
	reply.NoStore(w)
	h := w.Header()
	h.Set("Content-Type", "text/csv; charset=utf-8; header=present")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Length", strconv.Itoa(len(text)))
	_, err := w.Write([]byte(text))
	return err
}
