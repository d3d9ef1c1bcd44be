package gateway

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// appRecord is an application as its owner sees it (entry 29 of the decisions, spec 2.8).
type appRecord struct {
	ClientID      string       `json:"client_id"`
	ClientSecret  string       `json:"client_secret,omitempty"` // once: when it is made
	Name          string       `json:"name"`
	Domains       []string     `json:"domains"`
	RedirectURIs  []string     `json:"redirect_uris"`
	Public        bool         `json:"public"`
	IDTokenAlg    string       `json:"id_token_alg"`
	LegacyCode    int          `json:"legacy_success_code"`
	Brand         *brandRecord `json:"brand"` // null: Keystile's own look
	Tier          string       `json:"tier"`
	TierExpiresAt *string      `json:"tier_expires_at"` // null: no end is agreed on
	FirstParty    bool         `json:"first_party"`
	Disabled      bool         `json:"disabled"`
	Secrets       []secretSpan `json:"secrets"`
	CreatedAt     string       `json:"created_at"`
	UpdatedAt     string       `json:"updated_at"`
}

// brandRecord is how the sign-in pages look where the tier lets the application decide
// (spec 8).
type brandRecord struct {
	Name  string `json:"name"`
	Logo  string `json:"logo"`
	Color string `json:"color"`
}

// secretSpan says how long a secret is valid, and nothing of what it is.
type secretSpan struct {
	CreatedAt string  `json:"created_at"`
	ExpiresAt *string `json:"expires_at"` // null: it does not
}

func recordOf(a storage.App, now time.Time) appRecord {
	v := appRecord{
		ClientID: a.ID, Name: a.Name, Domains: append([]string{}, a.Domains...), RedirectURIs: append([]string{}, a.RedirectURIs...),
		Public: a.Public, IDTokenAlg: a.IDTokenAlg, LegacyCode: 1, Tier: a.TierAt(now), TierExpiresAt: stamp(a.TierUntil(now)),
		FirstParty: a.FirstParty, Disabled: a.Disabled, Secrets: []secretSpan{},
		CreatedAt: a.CreatedAt.UTC().Format(iso8601), UpdatedAt: a.UpdatedAt.UTC().Format(iso8601),
	}
	if v.IDTokenAlg == "" {
		v.IDTokenAlg = map[bool]string{false: "HS256", true: "ES256"}[a.Public]
	}
	if a.LegacySuccessCode != nil {
		v.LegacyCode = *a.LegacySuccessCode
	}
	if b := a.Brand; b != nil {
		v.Brand = &brandRecord{b.Name, b.Logo, b.Color}
	}
	for _, s := range a.Secrets {
		if s.ExpiresAt.IsZero() || now.Before(s.ExpiresAt) {
			v.Secrets = append(v.Secrets, secretSpan{s.CreatedAt.UTC().Format(iso8601), stamp(s.ExpiresAt)})
		}
	}
	return v
}

// stamp writes a time, nil for none.
func stamp(t time.Time) *string {
	if t.IsZero() {
		return nil
	}
	text := t.UTC().Format(iso8601)
	return &text
}

// What an owner may say of an application. The tier is a matter of billing.
var (
	changeable = []string{"name", "domains", "redirect_uris", "id_token_alg", "legacy_success_code", "brand"}
	creatable  = append([]string{"public"}, changeable...)
)

// amend reads what was sent into an application.
func (f fields) amend(a *storage.App) error {
	var errs []error
	complain := func(err error) {
		if err != nil {
			errs = append(errs, err)
		}
	}
	complain(f.read("name", "a text", &a.Name))
	complain(f.texts("domains", &a.Domains))
	complain(f.texts("redirect_uris", &a.RedirectURIs))
	complain(f.read("id_token_alg", "a text", &a.IDTokenAlg))
	complain(f.read("public", "true or false", &a.Public))
	if code := 0; f["legacy_success_code"] != nil {
		complain(f.read("legacy_success_code", "0 or 1", &code))
		a.LegacySuccessCode = &code
	}
	if raw := f["brand"]; raw != nil {
		complain(readBrand(raw, a))
	}
	if f["domains"] != nil {
		for i, typed := range a.Domains {
			normal, err := storage.NormalizeDomain(typed)
			if err != nil {
				complain(badBody.Saying(err.Error()))
				continue
			}
			a.Domains[i] = normal
		}
		slices.Sort(a.Domains)
		a.Domains = slices.Compact(a.Domains)
	}
	return errors.Join(errs...)
}

// readBrand reads a brand, whole; one without anything in it is none.
func readBrand(raw json.RawMessage, a *storage.App) error {
	if raw[0] != '{' {
		return badBody.Saying("brand is not an object of name, logo and color")
	}
	var b storage.Brand
	for name, value := range rawjson.Members(raw) {
		into := map[string]*string{"name": &b.Name, "logo": &b.Logo, "color": &b.Color}[string(name)]
		if into == nil || value[0] != '"' {
			return badBody.Saying("brand is not an object of name, logo and color, each a text")
		}
		*into = string(rawjson.Unquote(value))
	}
	if a.Brand = &b; b == (storage.Brand{}) {
		a.Brand = nil
	}
	return nil
}

// apps is GET and POST /api/v1/apps (spec 4.7).
func (g *Gateway) apps(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		return g.createApp(w, r, o)
	}
	after, err := afterOf(r)
	if err != nil {
		return err
	}
	if after != "" {
		after = storage.After("owner="+o.Sub, after)
	}
	page, next, err := g.c.Apps.Apps(r.Context(), o.Sub, after, pageSize)
	if err != nil {
		return err
	}
	now, all := time.Now(), []appRecord{}
	for _, a := range page {
		all = append(all, recordOf(a, now))
	}
	if next != "" {
		next = page[len(page)-1].ID
	}
	return success(w, struct {
		Apps []appRecord `json:"apps"`
		Next string      `json:"next"` // send it as after for more; "": there is no more
	}{all, next})
}

// createApp registers an application of the owner's. Its users are asked for their consent,
// unless an administrator has made it (entry 21).
func (g *Gateway) createApp(w http.ResponseWriter, r *http.Request, o owner) error {
	f, err := readFields(w, r, creatable...)
	if err != nil {
		return err
	}
	a := storage.App{Owner: o.Sub, FirstParty: o.Role == storage.RoleAdmin}
	if err := f.amend(&a); err != nil {
		return err
	}
	if len(a.Domains) == 0 {
		return badBody.Saying("domains is missing: list the hosts that users may be sent back to, such as app.example.com")
	}
	a, err = g.c.Apps.CreateApp(r.Context(), a, MaxApps)
	if err != nil {
		return said(err)
	}
	if err := g.noteAct(r, o, "app create", a.ID); err != nil {
		return err
	}
	record := recordOf(a, time.Now())
	record.ClientSecret = a.AppKey().Reveal()
	return success(w, record)
}

// app is GET, PATCH and DELETE /api/v1/apps/{client_id}.
func (g *Gateway) app(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	id := r.PathValue("client_id")
	switch r.Method {
	case http.MethodPatch:
		return g.changeApp(w, r, o, id)
	case http.MethodDelete:
		return g.deleteApp(w, r, o, id)
	}
	app, err := g.managed(r.Context(), o, id)
	if err != nil {
		return err
	}
	return success(w, recordOf(app, time.Now()))
}

func (g *Gateway) changeApp(w http.ResponseWriter, r *http.Request, o owner, id string) error {
	f, err := readFields(w, r, changeable...)
	if err != nil {
		return err
	}
	if len(f) == 0 {
		return badBody.Saying("there is nothing to change: send some of name, domains, redirect_uris, id_token_alg, legacy_success_code, brand")
	}
	app, err := g.change(r.Context(), o, id, f.amend)
	if err != nil {
		return err
	}
	g.Forget(id)
	if err := g.noteAct(r, o, "app set", id); err != nil {
		return err
	}
	return success(w, recordOf(app, time.Now()))
}

// deleteApp removes an application and ends everything it was granted.
func (g *Gateway) deleteApp(w http.ResponseWriter, r *http.Request, o owner, id string) error {
	if err := none(w, r); err != nil {
		return err
	}
	revoke := func(ctx context.Context, end storage.Revocation) error { return g.c.Revoker.Revoke(ctx, end) }
	app, err := apps.Delete(r.Context(), g.c.Apps, revoke, id, func(a storage.App) error {
		if !o.may(a.Owner) {
			return noApp
		}
		return nil
	})
	if err != nil {
		return said(err)
	}
	g.Forget(id)
	if err := g.noteAct(r, o, "app delete", id); err != nil {
		return err
	}
	return success(w, struct {
		ClientID string `json:"client_id"`
		Deleted  bool   `json:"deleted"`
	}{app.ID, true})
}

const (
	overlap    = 24 * time.Hour      // entry 4 of the decisions
	maxOverlap = 30 * 24 * time.Hour // an old secret is not for keeping
)

// rotateSecret is POST /api/v1/apps/{client_id}/secret. The old secret stays valid for the
// overlap; with 0 it ends at once.
func (g *Gateway) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	o, err := g.owner(r)
	if err != nil {
		return err
	}
	f, err := readFields(w, r, "overlap_seconds")
	if err != nil {
		return err
	}
	seconds := int64(overlap / time.Second)
	if err := f.read("overlap_seconds", "a whole number of seconds", &seconds); err != nil {
		return err
	}
	if seconds < 0 || seconds > int64(maxOverlap/time.Second) {
		return badBody.Saying("overlap_seconds is from 0 to 2592000, which is 30 days")
	}
	id, now := r.PathValue("client_id"), time.Now().UTC()
	app, err := g.change(r.Context(), o, id, func(a *storage.App) error {
		return a.RotateSecret(now, time.Duration(seconds)*time.Second)
	})
	if err != nil {
		return err
	}
	g.Forget(id)
	if err := g.noteAct(r, o, "app rotate-secret", id); err != nil {
		return err
	}
	record := recordOf(app, now)
	record.ClientSecret = app.AppKey().Reveal()
	return success(w, record)
}
