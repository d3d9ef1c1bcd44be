package usage

import (
	"cmp"
	"fmt"
	"math"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// browsed holds what the page shows.
type browsed struct {
	Usage  *record // nil: nothing is chosen yet
	Chosen string  // the client_id of an application; "": the whole service, or none
	By     string
	Apps   []choice // to choose among; empty if there are too many
	Spans  []span
	File   string
	All    bool // the reader sees everybody's applications, and what people are called
}

// Custom reports whether another time than those of the links is shown.
func (b browsed) Custom() bool {
	return !slices.ContainsFunc(b.Spans, func(s span) bool { return s.Here })
}

// choice is an application to choose. An agent that was chosen by its address has no name here.
type choice struct{ ID, Name string }

// span is a link to a time.
type span struct {
	Title, Path string
	Here        bool
}

// namesOf returns what is called by its name on a page.
func namesOf(data any) (apps, users []string) {
	b := data.(browsed)
	for _, c := range b.Apps {
		if c.Name == "" {
			apps = append(apps, c.ID)
		}
	}
	if b.Usage == nil {
		return apps, nil
	}
	for _, one := range b.Usage.Names {
		switch b.By {
		case byApp:
			apps = append(apps, one.Name)
		case usage.ByUser:
			if b.All { // owners see how many calls were whose, and not what people are called
				users = append(users, one.Name)
			}
		case usage.ByAgent:
			if b.All {
				apps, users = append(apps, one.Name), append(users, one.Name)
			}
		}
	}
	return apps, users
}

// browse is show for a page. A reader who may not read the whole service's chooses an application
// first. The whole service's calls are ranked by application, unless something else is asked for.
func (s *Usage) browse(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	form := r.URL.Query()
	all, chosen := who.Reader() == nil, form.Get("client_id")
	if chosen != "" {
		id, err := s.c.Finder.AppID(r.Context(), who, "client_id", chosen)
		if err != nil {
			return browsed{By: form.Get("by"), Spans: spansOf(form, time.Now().UTC()), All: all}, err
		}
		chosen = id
		form.Set("client_id", id)
	}
	if all && chosen == "" && form.Get("by") == "" {
		if q, err := readQuery(r); err == nil && q.To.Sub(q.From) <= usage.MaxTopDays*24*time.Hour {
			form.Set("by", byApp)
		}
	}
	if chosen != "" && form.Get("by") == byApp {
		form.Del("by")
	}
	data := browsed{Chosen: chosen, By: form.Get("by"), Spans: spansOf(form, time.Now().UTC()), All: all}
	data.File = "/api/console/usage/csv?" + form.Encode()
	owner := who.Sub
	if all {
		owner = ""
	}
	apps, next, err := s.c.Store.Apps(r.Context(), owner, "", maxNames)
	if err != nil {
		return data, err
	}
	var app storage.App
	for _, a := range apps {
		if a.ID == chosen {
			app = a
		}
		if next == "" {
			data.Apps = append(data.Apps, choice{a.ID, a.Name})
		}
	}
	if next == "" && chosen != "" && app.ID == "" {
		data.Apps = append(data.Apps, choice{chosen, ""})
	}
	if chosen != "" || all {
		asked := r.Clone(r.Context())
		asked.URL.RawQuery = form.Encode()
		out, err := s.read(asked, who, app)
		data.Usage = &out
		return data, err
	}
	return data, nil
}

// spansOf returns links to today, by hour, and to the last 7 and 30 days.
func spansOf(form url.Values, now time.Time) (all []span) {
	for _, one := range []struct {
		title, unit string
		days        int
	}{{"Today", "hour", 1}, {"7 days", "day", 7}, {"30 days", "day", 30}} {
		q, from := url.Values{}, now.AddDate(0, 0, 1-one.days).Format(time.DateOnly)
		for _, kept := range []string{"client_id", "by"} {
			if form.Get(kept) != "" {
				q.Set(kept, form.Get(kept))
			}
		}
		q.Set("from", from)
		q.Set("granularity", one.unit)
		unit := cmp.Or(form.Get("granularity"), "day")
		here := unit == one.unit && form.Get("to") == "" && (form.Get("from") == from || form.Get("from") == "" &&
			one.days == 30)
		all = append(all, span{one.title, "/console/usage?" + q.Encode(), here})
	}
	return all
}

// Plot makes the plot of a record, given its texts in the reader's language. The calls of the span before are a line.
func (r record) Plot(title, head, answered, errors, before string) ui.Plot {
	p := ui.Plot{Title: title, Head: head, Bars: []ui.Series{{Name: answered}, {Name: errors}}}
	each := r.each()
	for group := range slices.Chunk(r.Series, each) {
		sum := point{}
		for _, at := range group {
			sum.Calls, sum.Errors = sum.Calls+at.Calls, sum.Errors+at.Errors
		}
		at, _ := time.Parse(adminapi.ISO8601, group[0].At) // as it was written
		p.At = append(p.At, at)
		p.Bars[0].Values = append(p.Bars[0].Values, max(0, sum.Calls-sum.Errors))
		p.Bars[1].Values = append(p.Bars[1].Values, sum.Errors)
	}
	if r.Before == 0 {
		return p
	}
	p.Before = &ui.Series{Name: before}
	for group := range slices.Chunk(r.before, each) {
		sum := int64(0)
		for _, n := range group {
			sum += n
		}
		p.Before.Values = append(p.Before.Values, sum)
	}
	return p
}

// Compared says how the calls differ from those of the span before, in percent; "": there is nothing to compare with.
func (r record) Compared() string {
	if r.Before == 0 {
		return ""
	}
	change := (float64(r.Calls)/float64(r.Before) - 1) * 100
	if math.Round(change*10) == 0 {
		return "0 %"
	}
	return fmt.Sprintf("%+.1f %%", change)
}
