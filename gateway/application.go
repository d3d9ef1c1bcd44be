package gateway

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
)

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
