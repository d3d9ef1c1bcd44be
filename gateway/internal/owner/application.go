package owner

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// apps serves GET and POST /api/v1/apps (protocol 4.7).
func (e *Endpoints) apps(w http.ResponseWriter, r *http.Request) error {
	by, _, err := e.manager(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		return e.createApp(w, r, by)
	}
	after, err := manage.AfterOf(r)
	if err != nil {
		return err
	}
	page, more, err := e.page(r.Context(), by, after)
	if err != nil {
		return err
	}
	now, all, next := time.Now(), []manage.AppRecord{}, ""
	for _, a := range page {
		all = append(all, manage.RecordOf(a, now))
	}
	if more {
		next = page[len(page)-1].ID
	}
	return reply.Success(w, struct {
		Apps []manage.AppRecord `json:"apps"`
		Next string             `json:"next"` // send it as after for more; "": there is no more
	}{all, next})
}

// page returns the manager's applications that come after one, "" for the first ones, and
// whether there are more.
func (e *Endpoints) page(ctx context.Context, by admin.Actor, after string) (page []storage.App, more bool, err error) {
	if by.Application != "" {
		app, err := managed(by)(e.c.Store.App(ctx, by.Application))
		if err != nil || after >= app.ID {
			return nil, false, err
		}
		return []storage.App{app}, false, nil
	}
	if after != "" {
		after = driver.After("owner="+by.Sub, after)
	}
	page, next, err := e.c.Store.Apps(ctx, by.Sub, after, manage.PageSize)
	return page, next != "", err
}

// createApp registers an application for a user. Its users are asked for consent: only the
// console and the command line make a first-party application.
func (e *Endpoints) createApp(w http.ResponseWriter, r *http.Request, by admin.Actor) error {
	if err := appacts.NotItself(by, ""); err != nil {
		return err
	}
	f, err := manage.ReadFields(w, r, manage.Creatable...)
	if err != nil {
		return err
	}
	n, err := f.App()
	if err != nil {
		return err
	}
	app, err := e.c.Acts.Create(r.Context(), by, n)
	if err != nil {
		return refusal(err)
	}
	return reply.Success(w, manage.RevealedOf(app, time.Now()))
}

// app serves GET, PATCH and DELETE /api/v1/apps/{client_id}.
func (e *Endpoints) app(w http.ResponseWriter, r *http.Request) error {
	by, _, err := e.manager(r)
	if err != nil {
		return err
	}
	id := r.PathValue("client_id")
	if r.Method == http.MethodPatch || r.Method == http.MethodDelete {
		err = appacts.NotItself(by, id)
	}
	if err != nil {
		return refusal(err)
	}
	switch r.Method {
	case http.MethodPatch:
		return e.changeApp(w, r, by, id)
	case http.MethodDelete:
		return e.deleteApp(w, r, by, id)
	}
	app, err := managed(by)(e.c.Store.App(r.Context(), id))
	if err != nil {
		return err
	}
	return reply.Success(w, manage.RecordOf(app, time.Now()))
}

func (e *Endpoints) changeApp(w http.ResponseWriter, r *http.Request, by admin.Actor, id string) error {
	f, err := manage.ReadFields(w, r, manage.Changeable...)
	if err == nil {
		err = f.Any(manage.Changeable)
	}
	if err != nil {
		return err
	}
	c, err := f.AppChange()
	if err != nil {
		return err
	}
	_, app, err := e.c.Acts.Set(r.Context(), by, id, c)
	if err != nil {
		return refusal(err)
	}
	return reply.Success(w, manage.RecordOf(app, time.Now()))
}

// deleteApp removes an application and ends everything it was granted.
func (e *Endpoints) deleteApp(w http.ResponseWriter, r *http.Request, by admin.Actor, id string) error {
	if err := manage.NoFields(w, r); err != nil {
		return err
	}
	app, err := e.c.Acts.Delete(r.Context(), by, id)
	if err != nil {
		return refusal(err)
	}
	return reply.Success(w, manage.DeletedOf(app))
}

// rotateSecret serves POST /api/v1/apps/{client_id}/secret. The old secret stays valid for
// the overlap; with 0 it ends at once.
func (e *Endpoints) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	by, _, err := e.manager(r)
	if err != nil {
		return err
	}
	overlap, err := manage.ReadOverlap(w, r)
	if err != nil {
		return err
	}
	_, app, err := e.c.Acts.RotateSecret(r.Context(), by, r.PathValue("client_id"), overlap)
	if err != nil {
		return refusal(err)
	}
	return reply.Success(w, manage.RevealedOf(app, time.Now()))
}
