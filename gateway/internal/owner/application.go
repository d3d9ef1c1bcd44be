package owner

import (
	"context"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// apps serves GET and POST /api/v1/apps (protocol 4.7).
func (e *Endpoints) apps(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
	if err != nil {
		return err
	}
	if r.Method == http.MethodPost {
		return e.createApp(w, r, m)
	}
	after, err := manage.AfterOf(r)
	if err != nil {
		return err
	}
	page, more, err := e.page(r.Context(), m, after)
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
func (e *Endpoints) page(ctx context.Context, m manager, after string) (page []storage.App, more bool, err error) {
	if m.itself() {
		app, err := e.managed(ctx, m, m.app.ID)
		if err != nil || after >= app.ID {
			return nil, false, err
		}
		return []storage.App{app}, false, nil
	}
	if after != "" {
		after = driver.After("owner="+m.user.Sub, after)
	}
	page, next, err := e.c.Store.Apps(ctx, m.user.Sub, after, manage.PageSize)
	return page, next != "", err
}

// createApp registers an application for a user. Its users are asked for consent: only the
// console and the command line make a first-party application.
func (e *Endpoints) createApp(w http.ResponseWriter, r *http.Request, m manager) error {
	if m.itself() {
		return notByItself
	}
	f, err := manage.ReadFields(w, r, manage.Creatable...)
	if err != nil {
		return err
	}
	a := storage.App{Owner: m.user.Sub}
	if err := f.AmendNew(&a); err != nil {
		return err
	}
	if err := apps.ByOwner(storage.App{}, a); err != nil {
		return refusal(err)
	}
	a, err = e.c.Store.CreateApp(r.Context(), a, manage.MaxApps, e.c.Billing.Limit(a))
	if err != nil {
		return refusal(err)
	}
	if err := e.note(r, m, "app create", storage.App{}, a); err != nil {
		return err
	}
	e.c.Recorder.Notify(r.Context(), m.actor(), admin.SecretNotice(a, admin.DetailCreated), a.Owner)
	return reply.Success(w, manage.RevealedOf(a, time.Now()))
}

// app serves GET, PATCH and DELETE /api/v1/apps/{client_id}.
func (e *Endpoints) app(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
	if err != nil {
		return err
	}
	id := r.PathValue("client_id")
	switch r.Method {
	case http.MethodPatch:
		return e.changeApp(w, r, m, id)
	case http.MethodDelete:
		return e.deleteApp(w, r, m, id)
	}
	app, err := e.managed(r.Context(), m, id)
	if err != nil {
		return err
	}
	return reply.Success(w, manage.RecordOf(app, time.Now()))
}

func (e *Endpoints) changeApp(w http.ResponseWriter, r *http.Request, m manager, id string) error {
	if err := m.refuseOtherUsers(id); err != nil {
		return err
	}
	f, err := manage.ReadFields(w, r, manage.Changeable...)
	if err == nil {
		err = f.Any(manage.Changeable)
	}
	if err != nil {
		return err
	}
	before, after, err := e.change(r.Context(), m, id, func(a *storage.App) error {
		before := *a
		if err := f.Amend(a); err != nil {
			return err
		}
		return apps.ByOwner(before, *a) // whose token it is plays no part: one of an administrator is a user's
	})
	if err != nil {
		return err
	}
	e.c.Forget(id)
	if err := e.note(r, m, "app set", before, after); err != nil {
		return err
	}
	if notice, ok := admin.AppNotice(before, after); ok {
		e.c.Recorder.Notify(r.Context(), m.actor(), notice, after.Owner)
	}
	return reply.Success(w, manage.RecordOf(after, time.Now()))
}

// deleteApp removes an application and ends everything it was granted.
func (e *Endpoints) deleteApp(w http.ResponseWriter, r *http.Request, m manager, id string) error {
	if err := m.refuseOtherUsers(id); err != nil {
		return err
	}
	if err := manage.NoFields(w, r); err != nil {
		return err
	}
	revoke := func(ctx context.Context, end driver.Revocation) error { return e.c.Revoke(ctx, end) }
	var before storage.App
	_, err := e.c.Billing.RemoveApp(r.Context(), id, revoke, func(a storage.App) error {
		before = a
		return m.requireOwn(a)
	})
	if err != nil {
		return refusal(err)
	}
	e.c.Forget(id)
	if err := e.note(r, m, "app delete", before, storage.App{}); err != nil {
		return err
	}
	e.c.Recorder.Notify(r.Context(), m.actor(), admin.DeletedNotice(before), before.Owner)
	return reply.Success(w, manage.DeletedOf(before))
}

// rotateSecret serves POST /api/v1/apps/{client_id}/secret. The old secret stays valid for
// the overlap; with 0 it ends at once.
func (e *Endpoints) rotateSecret(w http.ResponseWriter, r *http.Request) error {
	m, err := e.manager(r)
	if err != nil {
		return err
	}
	f, err := manage.ReadFields(w, r, manage.OverlapField)
	if err != nil {
		return err
	}
	overlap, err := f.Overlap()
	if err != nil {
		return err
	}
	id, now := r.PathValue("client_id"), time.Now().UTC()
	before, after, err := e.change(r.Context(), m, id, func(a *storage.App) error { return a.RotateSecret(now, overlap) })
	if err != nil {
		return err
	}
	e.c.Forget(id)
	if err := e.note(r, m, "app rotate-secret", before, after); err != nil {
		return err
	}
	e.c.Recorder.Notify(r.Context(), m.actor(), admin.SecretNotice(after, admin.DetailRotated), after.Owner)
	return reply.Success(w, manage.RevealedOf(after, now))
}
