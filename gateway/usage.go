package gateway

import (
	"encoding/csv"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage/driver"
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
	from, to time.Time
	daily    bool
	product  string
	by       string // "": by product
	csv      bool
}

// Spans that one answer covers at most.
const (
	maxDays  = 400 * 24 * time.Hour
	maxHours = 32 * 24 * time.Hour
)

// usage serves GET /api/v1/usage (protocol 4.7): what was charged to the caller's
// application, by day or hour, and how much of it went beyond the quota. It is not charged
// itself.
func (g *Gateway) usage(w http.ResponseWriter, r *http.Request) error {
	caller, account, err := g.caller(r)
	if err != nil {
		return err
	}
	payer := account.payer(caller)
	q, err := readUsageQuery(r.URL.Query(), time.Now())
	if err != nil {
		return err
	}
	if q.product != "" && !g.products.has(q.product) {
		return badProduct
	}
	if first := g.billing.FirstHour(payer, time.Now()); !q.daily && q.from.Before(first) {
		return badQuery.Saying("rows by hour are kept for 400 days: by hour, from is " + first.Format(iso8601) + " or later; ask for what was before with granularity=day")
	}
	if q.by != "" {
		return g.usageBy(w, r, q)
	}
	rows, over, err := g.billing.Usage(r.Context(), payer, q.from, q.to, q.daily)
	if err != nil {
		return err
	}
	record := q.record(rows, over)
	for _, name := range g.products.all() {
		if q.product == "" || q.product == name {
			record.Totals[name] += 0
		}
	}
	if q.csv {
		return writeCSV(w, record)
	}
	return reply.Success(w, record)
}

// record makes the answer. The overage is that of all products together, as the quota is.
func (q usageQuery) record(rows []driver.Count, over int64) usageRecord {
	u := usageRecord{
		From: q.from.Format(iso8601), To: q.to.Format(iso8601), Granularity: "hour",
		Series: []usageRow{}, Totals: map[string]int64{}, Overage: over,
	}
	if q.daily {
		u.Granularity = "day"
	}
	for _, row := range rows {
		if row.At.Before(q.from) || q.product != "" && q.product != row.Product {
			continue
		}
		u.Series = append(u.Series, usageRow{row.At.Format(iso8601), row.Product, row.Calls, row.Errors})
		u.Totals[row.Product] = driver.Count{Calls: u.Totals[row.Product]}.Plus(row).Calls
	}
	return u
}

// readUsageQuery reads from, to, granularity, product, by and format. What is left out is this
// month by day, as JSON. Times are widened to whole days or hours.
func readUsageQuery(form url.Values, now time.Time) (q usageQuery, err error) {
	for name, values := range form {
		if len(values) > 1 {
			return q, badQuery.Saying(strconv.Quote(name) + " is there more than once")
		}
	}
	switch form.Get("granularity") {
	case "", "day":
		q.daily = true
	case "hour":
	default:
		return q, badQuery.Saying("granularity is day or hour")
	}
	switch form.Get("format") {
	case "", "json":
	case "csv":
		q.csv = true
	default:
		return q, badQuery.Saying("format is json or csv")
	}
	unit, most := time.Hour, maxHours
	if q.daily {
		unit, most = 24*time.Hour, maxDays
	}
	month, _ := billing.ParseMonth("", now)
	if q.from, err = readTime(form.Get("from"), month); err != nil {
		return q, err
	}
	if q.to, err = readTime(form.Get("to"), now.UTC().Add(1)); err != nil { // this hour is in it from its first moment on
		return q, err
	}
	q.from = q.from.Truncate(unit)
	if cut := q.to.Truncate(unit); cut.Before(q.to) {
		q.to = cut.Add(unit)
	}
	switch {
	case !q.from.Before(q.to):
		return q, badQuery.Saying("from is before to; to itself is not in the answer")
	case q.to.Sub(q.from) > most:
		return q, badQuery.Saying("one answer covers up to 400 days by day, or 32 days by hour: ask in several steps")
	}
	q.product, q.by = form.Get("product"), form.Get("by")
	if _, known := dimensionsOf[q.by]; q.by != "" && !known {
		return q, badQuery.Saying("by is member, tool or user")
	}
	if q.by != "" && q.product != "" {
		return q, badQuery.Saying("by and product exclude each other: users are summed up over all products, tools and members are of mcp")
	}
	return q, nil
}

// readTime reads 2026-11-21 or 2026-11-21T15:04:05Z.
func readTime(text string, fallback time.Time) (time.Time, error) {
	if text == "" {
		return fallback, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if t, err := time.Parse(layout, text); err == nil && t.UTC().Year() > 1970 && t.UTC().Year() < 2200 {
			return t.UTC(), nil
		}
	}
	return time.Time{}, badQuery.Saying("from and to are dates such as 2026-11-21, or times such as 2026-11-21T15:00:00Z")
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
