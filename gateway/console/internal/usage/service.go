package usage

import (
	"context"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
)

// byApp ranks the calls of the whole service by client_id.
const byApp = "app"

// ranked are the names by which the whole service's calls are ranked.
var ranked = map[string]string{byApp: usage.Apps, usage.ByTool: usage.Tools, usage.ByUser: usage.Users}

// service sums up the whole service. The span before is read along with it, where one answer has both.
func (s *Usage) service(ctx context.Context, q usage.Query) (record, error) {
	of := ranked[q.By]
	if of == "" && q.By != "" && q.By != usage.ByProduct {
		return record{}, adminapi.BadQuery.Saying("by is app, tool or user for the whole service: name one application " +
			"with " +
			"client_id for more")
	}
	from := q.From.Add(q.From.Sub(q.To))
	f, err := s.c.Reader.Figures(ctx, usage.FiguresQuery{From: from, To: q.To, Daily: q.Daily})
	if err != nil {
		if f, err = s.c.Reader.Figures(ctx, usage.FiguresQuery{From: q.From, To: q.To, Daily: q.Daily}); err != nil {
			return record{}, err
		}
	}
	began := q.From.Truncate(unitOf(q))
	out := newRecord(q, began, f.To)
	for _, p := range f.Series {
		if p.At.Before(began) {
			out.Before += p.Calls
			continue
		}
		out.rows = append(out.rows, usage.Row{At: p.At, Calls: p.Calls, Errors: p.Errors})
		out.Series = append(out.Series, point{p.At.Format(adminapi.ISO8601), p.Calls, p.Errors})
		out.Calls, out.Errors = out.Calls+p.Calls, out.Errors+p.Errors
	}
	if of == "" {
		return out, nil
	}
	top, err := s.c.Reader.Top(ctx, usage.TopQuery{Of: of, From: q.From, To: q.To, N: shownNames})
	for _, one := range top {
		out.Names = append(out.Names, name{one.Name, one.Calls, one.Errors, one.AtLeast})
	}
	return out, err
}

// shownNames bounds how many names of the whole service there are.
const shownNames = 50

// most bounds the columns of a plot; more hours are summed.
const most = 120

// columns returns the series in at most 120 columns, each called by its time.
func (r record) columns() (labels []string, all []point) {
	layout, each := "01-02", (len(r.Series)+most-1)/most
	if r.Granularity == "hour" {
		layout = "15:04"
		if len(r.Series) > 24 {
			layout = "01-02 15:04"
		}
	}
	if each == 0 {
		return nil, nil
	}
	for group := range slices.Chunk(r.Series, each) {
		sum := point{At: group[0].At}
		for _, p := range group {
			sum.Calls, sum.Errors = sum.Calls+p.Calls, sum.Errors+p.Errors
		}
		label := sum.At
		if at, err := time.Parse(adminapi.ISO8601, sum.At); err == nil {
			label = at.Format(layout)
		}
		labels, all = append(labels, label), append(all, sum)
	}
	return labels, all
}
