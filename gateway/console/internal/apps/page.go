package apps

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/keystile/keystile/gateway/console/internal/ui"
	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/page"
	"github.com/keystile/keystile/storage"
)

// appFacts is an application with what only its pages show.
type appFacts struct {
	appRecord
	Snippets   []snippet `json:"snippets"`
	MayChange  bool      `json:"-"`
	Tested     string    `json:"-"` // a redirect_uri
	WhyRefused string    `json:"-"` // "": it is allowed
	Branded    bool      `json:"-"` // its tier shows its brand
	Along      goesAlong `json:"-"`
	Orders     []order   `json:"-"` // the newest
	Typed      []string  `json:"-"` // domains that were typed, of which the host alone is stored
}

// order is a line of what an application has ordered.
type order struct{ ID, From, Tier, Status, At string }

// named returns whom a page names.
func named(data any) (apps, users []string) {
	switch v := data.(type) {
	case appFacts:
		users = []string{v.Owner}
	case grantList:
		users = append(v.people(), v.Owner)
		for _, c := range v.Consents {
			users = append(users, c.Sub)
		}
	case clientFacts:
		users = v.people()
	case appList:
		for _, a := range v.Apps {
			users = append(users, a.Owner)
		}
	}
	return nil, slices.DeleteFunc(users, func(sub string) bool { return sub == "" })
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
	return s.factsOfApp(r, who, app), nil
}

func (s *Apps) factsOfApp(r *http.Request, who admin.Actor, app storage.App) appFacts {
	p := appFacts{appRecord: recordOf(app), MayChange: who.Changes(app.Owner), Tested: r.URL.Query().Get("redirect_uri")}
	p.Snippets, p.Branded = s.snippets(p.appRecord), !page.BrandOf(app).Mark
	switch {
	case len(p.Tested) > maxTested:
		p.Tested, p.WhyRefused = p.Tested[:80], "it is longer than 2,048 bytes"
	case p.Tested != "":
		if err := app.AllowsRedirect(p.Tested); err != nil {
			p.WhyRefused = err.Error()
		}
	}
	return p
}

// dangers gets what the page shows on which an application is deleted.
func (s *Apps) dangers(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	p := s.factsOfApp(r, who, app)
	if p.MayChange {
		p.Along, err = s.goesAlong(r.Context(), app)
	}
	return p, err
}

// shownOrders bounds how many orders the page of an application's activity has.
const shownOrders = 10

// activity gets the last orders of an application.
func (s *Apps) activity(_ http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	p := s.factsOfApp(r, who, app)
	last, _, err := s.c.Store.Orders(r.Context(), storage.OrderQuery{AppID: app.ID}, "", shownOrders)
	for _, o := range last {
		p.Orders = append(p.Orders, order{o.ID, o.From, o.Tier, o.Status, o.CreatedAt.UTC().Format(adminapi.ISO8601)})
	}
	return p, err
}

// made holds what a page shows of an application whose secret is new.
func (s *Apps) made(do ui.Action) ui.Action {
	return func(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
		result, err := do(w, r, who)
		if err != nil {
			return nil, err
		}
		record := result.(appRecord)
		return appFacts{appRecord: record, Snippets: s.snippets(record), Typed: moreThanHosts(r)}, nil
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
		return nil, &ui.Mistyped{Failure: notNamed, Field: "confirm"}
	}
	return s.deleteApp(w, adminapi.WithFields(r, adminapi.Fields{}), who)
}
