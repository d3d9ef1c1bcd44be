package appsapi

import (
	"cmp"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// appPage is a page of applications.
type appPage struct {
	Apps []adminapi.AppRecord `json:"apps"`
	Next string               `json:"next"` // send it as after for more; "": there is no more
}

// listApps serves GET /api/v1/apps?owner=&after= (protocol 4.7).
func (e *Endpoints) listApps(_ http.ResponseWriter, r *http.Request, by manager) (any, error) {
	after, err := adminapi.AfterOf(r)
	if err != nil {
		return nil, err
	}
	var page []storage.App
	next := ""
	if by.Application == "" {
		owner, failed := by.ownerOf(r)
		if failed != nil {
			return nil, failed
		}
		from := ""
		if after != "" {
			from = driver.After("owner="+owner, after)
		}
		page, next, err = e.c.Store.Apps(r.Context(), owner, from, adminapi.PageSize)
	} else {
		page = make([]storage.App, 1)
		if page[0], err = by.own(e.c.Store.App(r.Context(), by.Application)); after >= page[0].ID {
			page = nil
		}
	}
	if err != nil {
		return nil, err
	}
	all, now := appPage{Apps: []adminapi.AppRecord{}}, time.Now()
	for _, a := range page {
		all.Apps = append(all.Apps, adminapi.RecordOf(a, now))
	}
	if next != "" {
		all.Next = page[len(page)-1].ID
	}
	return all, nil
}

// createApp serves POST /api/v1/apps. Users of the application are asked for their consent: only the
// console and the command line make a first-party application.
func (e *Endpoints) createApp(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	if err := appacts.NotItself(by.Actor, ""); err != nil {
		return nil, err
	}
	f, err := adminapi.ReadFields(w, r, adminapi.Creatable...)
	if err != nil {
		return nil, err
	}
	n, err := f.App()
	if err != nil {
		return nil, err
	}
	app, err := e.c.Acts.Create(r.Context(), by.Actor, n)
	return adminapi.RevealedOf(app, time.Now()), err
}

// showApp serves GET /api/v1/apps/{client_id}.
func (e *Endpoints) showApp(_ http.ResponseWriter, r *http.Request, by manager) (any, error) {
	app, err := by.own(e.c.Store.App(r.Context(), r.PathValue("client_id")))
	return adminapi.RecordOf(app, time.Now()), err
}

// changeApp serves PATCH /api/v1/apps/{client_id}.
func (e *Endpoints) changeApp(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	id := r.PathValue("client_id")
	if err := appacts.NotItself(by.Actor, id); err != nil {
		return nil, err
	}
	f, err := adminapi.ReadFields(w, r, adminapi.Changeable...)
	if err = cmp.Or(err, f.Any(adminapi.Changeable)); err != nil {
		return nil, err
	}
	c, err := f.AppChange()
	if err != nil {
		return nil, err
	}
	_, app, err := e.c.Acts.Set(r.Context(), by.Actor, id, c)
	return adminapi.RecordOf(app, time.Now()), err
}

// deleteApp serves DELETE /api/v1/apps/{client_id}.
func (e *Endpoints) deleteApp(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	id := r.PathValue("client_id")
	if err := appacts.NotItself(by.Actor, id); err != nil {
		return nil, err
	}
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	app, err := e.c.Acts.Delete(r.Context(), by.Actor, id)
	return adminapi.DeletedOf(app), err
}

// rotateSecret serves POST /api/v1/apps/{client_id}/secret. The old secret stays valid for
// the overlap; with 0 it ends at once.
func (e *Endpoints) rotateSecret(w http.ResponseWriter, r *http.Request, by manager) (any, error) {
	overlap, err := adminapi.ReadOverlap(w, r)
	if err != nil {
		return nil, err
	}
	_, app, err := e.c.Acts.RotateSecret(r.Context(), by.Actor, r.PathValue("client_id"), overlap)
	return adminapi.RevealedOf(app, time.Now()), err
}
