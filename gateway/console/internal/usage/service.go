package usage

import (
	"context"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
)

// byApp ranks the calls of the whole service by client_id.
const byApp = "app"

// ranked are the names by which the whole service's calls are ranked.
var ranked = map[string]string{byApp: usage.Apps, usage.ByTool: usage.Tools, usage.ByUser: usage.Users,
	usage.ByAgent: usage.Agents}

// service sums up the whole service. The span before is read along with it, where one answer has both.
func (s *Usage) service(ctx context.Context, q usage.Query) (record, error) {
	of := ranked[q.By]
	if of == "" && q.By != "" && q.By != usage.ByProduct {
		return record{}, adminapi.BadQuery.Saying("by is app, tool, user or agent for the whole service: name one " +
			"application with client_id for more")
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
	var earlier []usage.Row
	for _, p := range f.Series {
		if p.At.Before(began) {
			out.Before, earlier = out.Before+p.Calls, append(earlier, usage.Row{At: p.At, Calls: p.Calls})
			continue
		}
		out.rows = append(out.rows, usage.Row{At: p.At, Calls: p.Calls, Errors: p.Errors})
		out.Series = append(out.Series, point{p.At.Format(adminapi.ISO8601), p.Calls, p.Errors})
		out.Calls, out.Errors = out.Calls+p.Calls, out.Errors+p.Errors
	}
	out.compare(began, unitOf(q), earlier)
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

// each returns how many hours or days a column of the plot sums.
func (r record) each() int { return max(1, (len(r.Series)+most-1)/most) }

// compare takes the calls of the span before, which ends where the series begins.
func (r *record) compare(began time.Time, unit time.Duration, earlier []usage.Row) {
	r.before = make([]int64, len(r.Series))
	for _, row := range earlier {
		if i := len(r.Series) - int(began.Sub(row.At)/unit); i >= 0 && i < len(r.before) {
			r.before[i] += row.Calls
		}
	}
}
