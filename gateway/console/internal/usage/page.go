package usage

import (
	"net/http"

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
	for _, at := range r.Series {
		p.At = append(p.At, at.At)
		p.Bars[0].Values = append(p.Bars[0].Values, max(0, at.Calls-at.Errors))
		p.Bars[1].Values = append(p.Bars[1].Values, at.Errors)
	}
	return p
}
