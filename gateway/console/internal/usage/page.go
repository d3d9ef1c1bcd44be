package usage

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/internal/consoleauth"
)

// browse is show for a page. Who may not read the whole service's chooses an application first.
func (s *Usage) browse(_ http.ResponseWriter, r *http.Request, who consoleauth.Actor) (any, error) {
	var data struct {
		Usage *record
		Apps  []name
		File  string
	}
	data.File = "/api/console/usage/csv?" + r.URL.Query().Encode()
	if r.URL.Query().Get("client_id") != "" || who.Reader() == nil {
		out, err := s.read(r, who)
		data.Usage = &out
		return data, err
	}
	own, _, err := s.c.Store.Apps(r.Context(), who.Sub, "", maxNames)
	for _, a := range own {
		data.Apps = append(data.Apps, name{Name: a.ID})
	}
	return data, err
}

// Plot makes the plot of a record, given its texts in the reader's language.
func (r record) Plot(title, head, calls, errors string) ui.Plot {
	p := ui.Plot{Title: title, Head: head, Bars: []ui.Series{{Name: calls}, {Name: errors}}}
	days := !slices.ContainsFunc(r.Series, func(at point) bool { return !strings.HasSuffix(at.At, midnight) })
	for _, at := range r.Series {
		p.At = append(p.At, label(at.At, days))
		p.Bars[0].Values = append(p.Bars[0].Values, max(0, at.Calls-at.Errors))
		p.Bars[1].Values = append(p.Bars[1].Values, at.Errors)
	}
	return p
}

const midnight = "T00:00:00Z"

// label shortens a time so that it fits under its column: to its day, or to an hour of it.
func label(at string, day bool) string {
	if day {
		return strings.TrimSuffix(at, midnight)
	}
	if t, err := time.Parse(time.RFC3339, at); err == nil {
		return t.Format("01-02 15:04")
	}
	return at
}
