package usage

import (
	"cmp"
	"net/http"
	"net/url"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// browsed holds what the page shows.
type browsed struct {
	Usage *record // nil: nothing is chosen yet
	By    string
	Apps  []choice // to choose among; empty if there are too many
	Spans []span
	File  string

	names map[string]string
}

// choice is an application to choose.
type choice struct{ ID, Name string }

// span is a link to a time.
type span struct {
	Title, Path string
	Here        bool
}

// Called returns the name of an application, or what else calls is called.
func (b browsed) Called(id string) string { return cmp.Or(b.names[id], id) }

// browse is show for a page. A reader who may not read the whole service's chooses an application
// first. The whole service's calls are ranked by application, unless something else is asked for.
func (s *Usage) browse(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	form := r.URL.Query()
	all, chosen := who.Reader() == nil, form.Get("client_id")
	if all && chosen == "" && form.Get("by") == "" {
		if q, err := readQuery(r); err == nil && q.To.Sub(q.From) <= usage.MaxTopDays*24*time.Hour {
			form.Set("by", byApp)
		}
	}
	if chosen != "" && form.Get("by") == byApp {
		form.Del("by")
	}
	data := browsed{By: form.Get("by"), Spans: spansOf(form, time.Now().UTC()), names: map[string]string{}}
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
		data.names[a.ID] = a.Name
		if next == "" {
			data.Apps = append(data.Apps, choice{a.ID, a.Name})
		}
	}
	if next == "" && chosen != "" && data.names[chosen] == "" {
		data.Apps = append(data.Apps, choice{chosen, chosen})
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

// Plot makes the plot of a record, given its texts in the reader's language.
func (r record) Plot(title, head, calls, errors string) ui.Plot {
	p := ui.Plot{Title: title, Head: head, Bars: []ui.Series{{Name: calls}, {Name: errors}}}
	var columns []point
	p.At, columns = r.columns()
	for _, at := range columns {
		p.Bars[0].Values = append(p.Bars[0].Values, max(0, at.Calls-at.Errors))
		p.Bars[1].Values = append(p.Bars[1].Values, at.Errors)
	}
	return p
}
