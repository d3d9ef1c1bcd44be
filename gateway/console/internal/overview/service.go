package overview

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
)

// service shows the whole service.
type service struct {
	Calls      int64   `json:"calls_today"` // since midnight, UTC
	Errors     int64   `json:"errors_today"`
	P95        int64   `json:"p95_ms"` // of the last 24 hours; 0: not known
	Series     []point `json:"series"` // the last 24 hours, by hour
	TopApps    []name  `json:"top_apps"`
	TopTools   []name  `json:"top_tools"`
	Users      int64   `json:"users"`
	Apps       int64   `json:"apps"`
	OpenOrders int64   `json:"open_orders"`
	Counted    bool    `json:"counted"` // false: older records are still being counted
	Nodes      int     `json:"nodes"`
	Live       int     `json:"nodes_live"`
	Well       bool    `json:"well"`
	Vitals     []vital `json:"vitals"`

	figures bool // there are some
	kept    bool // the users are counted
}

// point holds the calls of an hour.
type point struct {
	At     string `json:"at"`
	Calls  int64  `json:"calls"`
	Errors int64  `json:"errors"`
	P95    int64  `json:"p95_ms"` // 0: not known
}

// name holds the calls of an application or a tool.
type name struct {
	ID      string `json:"id"`
	Name    string `json:"name"`
	Calls   int64  `json:"calls"`
	Errors  int64  `json:"errors"`
	AtLeast bool   `json:"at_least"` // it may have more
}

// Known returns what an application is called; "": it was removed.
func (n name) Known() string {
	if n.Name == n.ID {
		return ""
	}
	return n.Name
}

type vital struct {
	Name  string `json:"name"`
	Value string `json:"value"`
	Well  bool   `json:"well"`
}

// service reads the whole service, in three reads beside what changes slowly.
func (s *Overview) service(ctx context.Context, now time.Time, who admin.Actor, out *record) error {
	v := &service{Series: []point{}, TopApps: []name{}, TopTools: []name{}, Vitals: []vital{}, Well: true}
	out.Service = v
	counts, err := s.c.Store.Counts(ctx)
	if err != nil {
		return err
	}
	v.kept = !s.c.Elsewhere
	v.Users, v.Apps, v.OpenOrders, v.Counted = counts.Users, counts.Apps, counts.OpenOrders, counts.Whole
	if s.c.Reader != nil {
		if err := s.figures(ctx, now, v); err != nil {
			return err
		}
	}
	sum, err := s.summary.of(ctx, now, s.summarize)
	if err != nil {
		return err
	}
	out.Missing = sum.less
	v.TopApps, v.TopTools = append(v.TopApps, sum.topApps...), append(v.TopTools, sum.topTools...)
	v.Nodes, v.Live = sum.nodes, sum.live
	for _, one := range sum.vitals {
		v.Vitals = append(v.Vitals, vital{one.Name, ui.Shown(one.Value, maxShown), one.Well})
		v.Well = v.Well && one.Well
	}
	out.Todo = append(out.Todo, s.openTools(sum.strangers)...)
	if v.OpenOrders > 0 {
		out.Todo = append(out.Todo, ordersWait(v.OpenOrders))
	}
	out.Todo = append(out.Todo, sum.todo...)
	if who.Writer() == nil {
		out.Steps = s.steps(v, sum.begun)
	}
	return nil
}

// figures reads the last day.
func (s *Overview) figures(ctx context.Context, now time.Time, v *service) error {
	from := now.Truncate(time.Hour).Add(-23 * time.Hour)
	f, err := s.c.Reader.Figures(ctx, usage.FiguresQuery{From: from, To: from.Add(24 * time.Hour)})
	if err != nil {
		return err
	}
	v.figures, v.P95 = true, f.Total.P95.Milliseconds()
	today := now.Truncate(24 * time.Hour)
	for _, p := range f.Series {
		v.Series = append(v.Series, point{p.At.UTC().Format(adminapi.ISO8601), p.Calls, p.Errors, p.P95.Milliseconds()})
		if !p.At.Before(today) {
			v.Calls, v.Errors = v.Calls+p.Calls, v.Errors+p.Errors
		}
	}
	return nil
}

// Kept reports whether the users are counted.
func (v *service) Kept() bool { return v.kept }

// Known reports whether there are figures at all.
func (v *service) Known() bool { return v.figures }

// Called reports whether anything was called in the last day.
func (v *service) Called() bool {
	return slices.ContainsFunc(v.Series, func(p point) bool { return p.Calls > 0 })
}

// Plot makes the plot of the last day, given its texts in the reader's language.
func (v *service) Plot(title, head, answered, errors string) ui.Plot {
	p := ui.Plot{Title: title, Head: head, Bars: []ui.Series{{Name: answered}, {Name: errors}},
		Line: &ui.Series{Name: "p95", Unit: "ms"}}
	for _, one := range v.Series {
		at, _ := time.Parse(adminapi.ISO8601, one.At) // as it was written
		p.At = append(p.At, at)
		p.Bars[0].Values = append(p.Bars[0].Values, max(0, one.Calls-one.Errors))
		p.Bars[1].Values = append(p.Bars[1].Values, one.Errors)
		took := one.P95
		if took == 0 {
			took = -1
		}
		p.Line.Values = append(p.Line.Values, took)
	}
	return p
}

// Share returns the errors in percent of the calls, with one decimal.
func (v *service) Share() string {
	tenths := int64(0)
	if v.Calls > 0 {
		tenths = v.Errors * 1000 / v.Calls
	}
	return fmt.Sprintf("%d.%d", tenths/10, tenths%10)
}
