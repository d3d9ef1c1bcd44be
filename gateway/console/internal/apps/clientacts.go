package apps

import (
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// changeClient changes the newest state of a client, and writes that to the trail.
func (s *Apps) changeClient(r *http.Request, who admin.Actor, what, id string, change func(*storage.App) error, changes func(before, after storage.App) []string) (storage.App, error) {
	var before storage.App
	after, err := storage.RetryOnConflict(r.Context(), func() (storage.App, error) {
		app, err := s.client(r, id)
		if err != nil {
			return app, err
		}
		before = app
		before.Client = app.Client.Clone()
		if err := change(&app); err != nil {
			return app, err
		}
		return s.c.Store.SaveApp(r.Context(), app)
	})
	if err != nil {
		return after, manage.Refusal(err, noClient)
	}
	s.c.Forget(id)
	return after, s.noteClient(r, who, what, id, changes(before, after))
}

func (s *Apps) noteClient(r *http.Request, who admin.Actor, what, id string, changes []string) error {
	return s.c.Recorder.Note(r.Context(), who, admin.Act{What: what, On: id, App: id, Changes: changes})
}

// setClient serves POST /api/console/clients/set, for a client that has registered itself. Disabling it
// ends what it was granted; sent again, it ends what a failure has left.
func (s *Apps) setClient(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, "client_id", "disabled")
	if err != nil {
		return nil, err
	}
	id, off := "", false
	if err := errors.Join(f.Read("client_id", "a text", &id), f.Read("disabled", "true or false", &off)); err != nil {
		return nil, err
	}
	if f["disabled"] == nil {
		return nil, manage.BadBody.Saying("disabled is missing: true or false")
	}
	app, err := s.changeClient(r, who, "client set", id, func(a *storage.App) error {
		if a.Host() != "" {
			return byHost
		}
		a.Disabled = off
		return nil
	}, admin.AppChanges)
	if err != nil {
		return nil, err
	}
	if off {
		err = s.c.Revoker.Revoke(r.Context(), driver.Revocation{Kind: driver.RevokeApp, ID: id})
	}
	if err != nil {
		return nil, err
	}
	return s.factsOf(r, app)
}

// refetch serves POST /api/console/clients/refetch: the document is read again at the next sign-in.
func (s *Apps) refetch(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := readID(w, r)
	if err != nil {
		return nil, err
	}
	app, err := s.changeClient(r, who, "client refetch", id, func(a *storage.App) error {
		if a.Host() == "" {
			return noFetch
		}
		a.Client.FreshUntil, a.Client.KeysRead = time.Now().UTC(), time.Time{}
		return nil
	}, func(before, after storage.App) []string {
		stamp := func(a storage.App) string { return a.Client.FreshUntil.UTC().Format(manage.ISO8601) }
		return []string{changeOf("fresh_until", stamp(before), stamp(after))}
	})
	if err != nil {
		return nil, err
	}
	return s.factsOf(r, app)
}

// readID reads the client_id of a body that has nothing else.
func readID(w http.ResponseWriter, r *http.Request) (id string, err error) {
	f, err := manage.ReadFields(w, r, "client_id")
	if err == nil {
		err = f.Read("client_id", "a text", &id)
	}
	return id, err
}

// forgetClient serves POST /api/console/clients/forget: it ends what the client was granted, and removes
// it. A request on its way may have read it before, so the revocation reaches ahead, unless its document
// brings the same client back.
func (s *Apps) forgetClient(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	id, err := readID(w, r)
	if err != nil {
		return nil, err
	}
	app, err := s.client(r, id)
	if err != nil {
		return nil, err
	}
	end := driver.Revocation{Kind: driver.RevokeApp, ID: id}
	if app.Client.Kind == client.Dynamic {
		end = apps.End(id)
	}
	if err := s.c.Revoker.Revoke(r.Context(), end); err != nil {
		return nil, err
	}
	before, err := storage.RetryOnConflict(r.Context(), func() (storage.App, error) {
		app, err := s.client(r, id)
		if err == nil {
			err = s.c.Store.RemoveClient(r.Context(), app)
		}
		return app, err
	})
	if err != nil {
		return nil, manage.Refusal(err, noClient)
	}
	s.c.Forget(id)
	if err := s.noteClient(r, who, "client forget", id, admin.AppChanges(before, storage.App{})); err != nil {
		return nil, err
	}
	return manage.DeletedOf(before), nil
}
