package apps

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/page"
)

// appFacts is an application with what only its page shows.
type appFacts struct {
	appRecord
	Snippets   []snippet `json:"snippets"`
	MayChange  bool      `json:"-"`
	Tested     string    `json:"-"` // a redirect_uri
	WhyRefused string    `json:"-"` // "": it is allowed
	Branded    bool      `json:"-"` // its tier shows its brand
	Along      goesAlong `json:"-"`
}

// BrandPart returns the name, the logo or the color of the brand, "" for none.
func (f appFacts) BrandPart(of string) string {
	if f.Brand == nil {
		return ""
	}
	return map[string]string{"name": f.Brand.Name, "logo": f.Brand.Logo, "color": f.Brand.Color}[of]
}

// maxTested bounds a redirect_uri that is tested, in bytes.
const maxTested = 2048

// appPage gets what the page of an application shows: with ?redirect_uri=, whether authorize takes it.
func (s *Apps) appPage(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	p := appFacts{appRecord: recordOf(app), MayChange: who.Changes(app.Owner), Tested: r.URL.Query().Get("redirect_uri")}
	p.Snippets = s.snippets(p.appRecord)
	if p.MayChange {
		if p.Along, err = s.goesAlong(r.Context(), app); err != nil {
			return nil, err
		}
	}
	p.Branded = !page.BrandOf(app).Mark
	switch {
	case len(p.Tested) > maxTested:
		p.Tested, p.WhyRefused = p.Tested[:80], "it is longer than 2,048 bytes"
	case p.Tested != "":
		if err := app.AllowsRedirect(p.Tested); err != nil {
			p.WhyRefused = err.Error()
		}
	}
	return p, nil
}

// made holds what a page shows of an application whose secret is new.
func (s *Apps) made(do ui.Action) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		result, err := do(w, r, who)
		if err != nil {
			return nil, err
		}
		record := result.(appRecord)
		return appFacts{appRecord: record, Snippets: s.snippets(record)}, nil
	}
}

// changeBrand changes the brand of an application as a whole, by three fields of a form.
func (s *Apps) changeBrand(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, "brand_name", "brand_logo", "brand_color")
	if err != nil {
		return nil, err
	}
	brand := map[string]json.RawMessage{}
	for name, value := range f {
		brand[strings.TrimPrefix(name, "brand_")] = value
	}
	whole, err := json.Marshal(brand)
	if err != nil {
		return nil, err
	}
	return s.changeApp(w, adminapi.WithFields(r, adminapi.Fields{"brand": whole}), who)
}

// deleteNamed deletes an application whose name was typed.
func (s *Apps) deleteNamed(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	typed, err := adminapi.ReadText(w, r, "confirm", "")
	if err != nil {
		return nil, err
	}
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	if typed != app.Name {
		return nil, notNamed
	}
	return s.deleteApp(w, adminapi.WithFields(r, adminapi.Fields{}), who)
}
