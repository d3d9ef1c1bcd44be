package apps

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// createApp serves POST /api/console/apps. The application is the actor's, unless an
// administrator names another owner, or "" for none.
func (s *Apps) createApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, append(slices.Clone(manage.Creatable), "owner", "first_party", "tier")...)
	if err != nil {
		return nil, err
	}
	a := storage.App{Owner: who.Sub}
	if err := s.amend(r.Context(), who, f, &a); err != nil {
		return nil, manage.Refusal(err, noApp)
	}
	most := manage.MaxApps
	if who.Role == storage.RoleAdmin {
		most = 0 // held up by no number
	}
	a, err = s.c.Store.CreateApp(r.Context(), a, most, s.c.Billing.Limit(a))
	if err != nil {
		return nil, manage.Refusal(err, noApp)
	}
	if err := s.noteApp(r, who, "app create", storage.App{}, a); err != nil {
		return nil, err
	}
	s.c.Recorder.Notify(r.Context(), who, admin.SecretNotice(a, admin.DetailCreated), a.Owner)
	return revealed(a), nil
}

// changeApp serves PATCH /api/console/apps/{client_id}. Disabling an application ends what it
// was granted, as deleting does.
func (s *Apps) changeApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	known := append(slices.Clone(manage.Changeable), flags...)
	f, err := manage.ReadFields(w, r, known...)
	if err == nil {
		err = f.Any(known)
	}
	if err != nil {
		return nil, err
	}
	id := r.PathValue("client_id")
	before, after, err := s.change(r.Context(), who, id, func(a *storage.App) error {
		return s.amend(r.Context(), who, f, a)
	})
	if err != nil {
		return nil, err
	}
	s.c.Forget(id)
	var failed error
	if _, sent := f["disabled"]; sent && after.Disabled {
		failed = s.c.Revoker.Revoke(r.Context(), driver.Revocation{Kind: driver.RevokeApp, ID: id})
	}
	if err := s.noteApp(r, who, "app set", before, after); err != nil {
		return nil, err
	}
	if notice, ok := admin.AppNotice(before, after); ok {
		s.c.Recorder.Notify(r.Context(), who, notice, before.Owner, after.Owner)
	}
	if failed != nil { // it is disabled: sent again, this ends what it was granted
		return nil, failed
	}
	return recordOf(after), nil
}

// deleteApp serves DELETE /api/console/apps/{client_id}. It ends everything the application was
// granted.
func (s *Apps) deleteApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := manage.NoFields(w, r); err != nil {
		return nil, err
	}
	id := r.PathValue("client_id")
	revoke := func(ctx context.Context, end driver.Revocation) error { return s.c.Revoker.Revoke(ctx, end) }
	var before storage.App
	_, err := s.c.Billing.RemoveApp(r.Context(), id, revoke, func(a storage.App) error {
		if !who.Changes(a.Owner) {
			return noApp
		}
		before = a
		return nil
	})
	if err != nil {
		return nil, manage.Refusal(err, noApp)
	}
	s.c.Forget(id)
	if err := s.noteApp(r, who, "app delete", before, storage.App{}); err != nil {
		return nil, err
	}
	s.c.Recorder.Notify(r.Context(), who, admin.DeletedNotice(before), before.Owner)
	return manage.DeletedOf(before), nil
}

// rotateSecret serves POST /api/console/apps/{client_id}/secret.
func (s *Apps) rotateSecret(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := manage.ReadFields(w, r, manage.OverlapField)
	if err != nil {
		return nil, err
	}
	overlap, err := f.Overlap()
	if err != nil {
		return nil, err
	}
	id, now := r.PathValue("client_id"), time.Now().UTC()
	before, after, err := s.change(r.Context(), who, id, func(a *storage.App) error { return a.RotateSecret(now, overlap) })
	if err != nil {
		return nil, err
	}
	s.c.Forget(id)
	if err := s.noteApp(r, who, "app rotate-secret", before, after); err != nil {
		return nil, err
	}
	s.c.Recorder.Notify(r.Context(), who, admin.SecretNotice(after, admin.DetailRotated), after.Owner)
	return revealed(after), nil
}
