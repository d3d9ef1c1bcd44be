package usage

import (
	"cmp"
	"context"
	"embed"
	"encoding/csv"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Config holds what New needs.
type Config struct {
	Store  *storage.Store
	Reader *usage.Reader // nil: there is no page, and the endpoints answer 404
	Finder *ui.Finder
}

// Usage is this part of the console.
type Usage struct{ c Config }

// New makes a Usage.
func New(c Config) *Usage { return &Usage{c} }

//go:embed *.html
var pages embed.FS

var usagePage = ui.Parse(pages, "usage.html")

var notKept = &reply.Failure{Status: 404, Msg: "usage is not shown here: ask the operator"} // protocol 7

// protocol 7
var noApp = &reply.Failure{Status: 404, Msg: "no such application: see GET /api/console/apps for those there are"}

// Part returns the endpoints and pages.
func (s *Usage) Part() ui.Part {
	part := ui.Part{
		APIs: []ui.API{
			{Path: "/api/console/usage", Owned: true, Methods: map[string]ui.Action{"GET": s.show}},
			{Path: "/api/console/usage/csv", Owned: true, Raw: map[string]ui.Raw{"GET": s.file}},
		},
		Texts: texts,
	}
	if s.c.Reader != nil {
		part.Pages = []ui.Page{{Path: "/console/usage", Title: "Usage", Section: "Usage & billing", Owned: true,
			Get: s.browse, Template: usagePage, Names: namesOf}}
	}
	return part
}

// point holds what was called in an hour or a day.
type point struct {
	At     string `json:"at"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
}

// name holds what was called of a product or a tool, or by an application, a person or an agent.
type name struct {
	Name    string `json:"name"`
	Calls   int64  `json:"calls"`
	Errors  int64  `json:"errors"`
	AtLeast bool   `json:"at_least"` // it may have more: of the whole service
}

// record shows what was called.
type record struct {
	ClientID    string  `json:"client_id"` // "": the whole service
	From        string  `json:"from"`
	To          string  `json:"to"` // exclusive
	Granularity string  `json:"granularity"`
	Series      []point `json:"series"` // each hour or day of the span, ascending
	Names       []name  `json:"names"`  // the most calls first, at most 100
	Calls       int64   `json:"calls"`
	Errors      int64   `json:"errors"`
	Before      int64   `json:"calls_before"` // in the span before, of the same length
	Overage     int64   `json:"overage"`

	rows   []usage.Row
	before []int64 // the calls of the span before, of each point
}

const maxNames = 100

// show serves GET /api/console/usage?client_id=&from=&to=&granularity=&by=.
func (s *Usage) show(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	return s.read(r, who, storage.App{})
}

// read is given the application that is asked for where the caller has it.
func (s *Usage) read(r *http.Request, who admin.Actor, app storage.App) (record, error) {
	q, err := readQuery(r)
	if err == nil && s.c.Reader == nil {
		err = notKept
	}
	if err != nil {
		return record{}, err
	}
	if q.ClientID == "" {
		if err := who.Reader(); err != nil {
			return record{}, adminapi.BadQuery.Saying("client_id is missing: name one of your applications")
		}
		out, err := s.service(r.Context(), q)
		if err != nil {
			return record{}, adminapi.Refusal(err, noApp)
		}
		return out, nil
	}
	if app.ID != q.ClientID {
		if app, err = s.c.Store.App(r.Context(), q.ClientID); err != nil {
			return record{}, adminapi.Refusal(err, noApp)
		}
	}
	return s.of(r, who, app, q)
}

// of shows what one application has called.
func (s *Usage) of(r *http.Request, who admin.Actor, app storage.App, q usage.Query) (record, error) {
	if !who.Sees(app.Owner) {
		return record{}, noApp
	}
	q.Account, q.Before = app, true
	out, err := s.application(r.Context(), q)
	return out, adminapi.Refusal(err, noApp)
}

func (s *Usage) application(ctx context.Context, q usage.Query) (record, error) {
	a, err := s.c.Reader.Usage(ctx, q)
	if err != nil {
		return record{}, err
	}
	out := newRecord(q, a.From, a.To)
	out.Overage, out.Before, out.rows = a.Overage, a.Before, a.Series
	by, unit := map[string]*name{}, unitOf(q)
	first := a.From.UTC().Truncate(unit)
	for at := first; at.Before(a.To); at = at.Add(unit) { // a time without calls is shown as one
		out.Series = append(out.Series, point{At: at.Format(adminapi.ISO8601)})
	}
	for _, row := range a.Series {
		i := int(row.At.Sub(first) / unit)
		if i < 0 || i >= len(out.Series) {
			continue
		}
		p, n := &out.Series[i], by[row.Name]
		if n == nil {
			n = &name{Name: row.Name}
			by[row.Name] = n
		}
		p.Calls, p.Errors = p.Calls+row.Calls, p.Errors+row.Errors
		n.Calls, n.Errors = n.Calls+row.Calls, n.Errors+row.Errors
		out.Calls, out.Errors = out.Calls+row.Calls, out.Errors+row.Errors
	}
	out.compare(first, unit, a.Earlier)
	for _, n := range by {
		out.Names = append(out.Names, *n)
	}
	slices.SortFunc(out.Names,
		func(a, b name) int { return cmp.Or(cmp.Compare(b.Calls, a.Calls), cmp.Compare(a.Name, b.Name)) })
	out.Names = out.Names[:min(len(out.Names), maxNames)]
	return out, nil
}

func newRecord(q usage.Query, from, to time.Time) record {
	out := record{ClientID: q.ClientID, From: from.Format(adminapi.ISO8601), To: to.Format(adminapi.ISO8601),
		Granularity: "hour", Series: []point{}, Names: []name{}}
	if q.Daily {
		out.Granularity = "day"
	}
	return out
}

// readQuery reads the parameters. Without from it is the last 30 days by day, or 7 by hour.
func readQuery(r *http.Request) (q usage.Query, err error) {
	form, now := r.URL.Query(), time.Now().UTC()
	q.ClientID, q.By, q.Daily = form.Get("client_id"), form.Get("by"), form.Get("granularity") != "hour"
	if q.ClientID != "" && !adminapi.IsID(q.ClientID) {
		return q, noApp
	}
	unit, days := unitOf(q), 7
	if q.Daily {
		days = 30
	}
	end := now.Truncate(unit).Add(unit)
	if q.To, err = timeOf(form.Get("to"), end); err != nil {
		return q, err
	}
	q.From, err = timeOf(form.Get("from"), q.To.AddDate(0, 0, -days))
	return q, err
}

// unitOf returns the length of time that a point of the answer is about.
func unitOf(q usage.Query) time.Duration {
	if q.Daily {
		return 24 * time.Hour
	}
	return time.Hour
}

func timeOf(text string, fallback time.Time) (time.Time, error) {
	if text == "" {
		return fallback, nil
	}
	for _, layout := range []string{time.DateOnly, time.RFC3339} {
		if at, err := time.Parse(layout, text); err == nil && at.Year() > 1970 && at.Year() < 2200 {
			return at.UTC(), nil
		}
	}
	return fallback, adminapi.BadQuery.Saying("from and to are dates such as 2026-11-21, or times such as " +
		"2026-11-21T15:00:00Z")
}

// file serves GET /api/console/usage/csv: every row.
func (s *Usage) file(w http.ResponseWriter, r *http.Request, who admin.Actor) error {
	out, err := s.read(r, who, storage.App{})
	if err != nil {
		return err
	}
	var text strings.Builder
	rows := csv.NewWriter(&text)
	rows.Write([]string{"at", "name", "calls", "errors"})
	for _, row := range out.rows {
		rows.Write([]string{row.At.UTC().Format(adminapi.ISO8601), adminapi.Cell(row.Name), strconv.FormatInt(row.Calls, 10),
			strconv.FormatInt(row.Errors, 10)})
	}
	rows.Flush()
	reply.NoStore(w)
	w.Header().Set("Content-Type", "text/csv; charset=utf-8; header=present")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	_, err = w.Write([]byte(text.String()))
	return err
}
