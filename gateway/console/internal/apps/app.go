package apps

import (
	"context"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/adminapi"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/storage"
)

// appRecord shows an application as /api/v1/apps does, with what only the console sets.
type appRecord struct {
	adminapi.AppRecord
	Owner             string `json:"owner"` // a user's sub or group:NAME; "": nobody's
	AllowHTTPRedirect bool   `json:"allow_http_redirect"`
	ForbidPlain       bool   `json:"forbid_plain"`
	admission
	proves
}

func recordOf(a storage.App) appRecord {
	return appRecord{adminapi.RecordOf(a, time.Now()), a.Owner, a.AllowHTTPRedirect, a.ForbidPlain, admissionOf(a),
		provesOf(a)}
}

// revealed returns recordOf with the newest secret.
func revealed(a storage.App) appRecord {
	v := recordOf(a)
	v.AppRecord = adminapi.RevealedOf(a, time.Now())
	return v
}

// readable reads an application that the actor may see.
func (s *Apps) readable(ctx context.Context, who admin.Actor, id string) (storage.App, error) {
	app, err := s.c.Store.App(ctx, id)
	if err == nil && !who.Sees(app.Owner) {
		err = noApp
	}
	return app, adminapi.Refusal(err, noApp)
}

// showApp serves GET /api/console/apps/{client_id}.
func (s *Apps) showApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	return recordOf(app), nil
}

// changeable are the fields of an application that a change may have. An administrator's are among them.
var changeable = slices.Concat(adminapi.Changeable, []string{"first_party", "disabled", "owner", "allow_http_redirect",
	"forbid_plain", "held"}, admissionFields, provesFields)

// createApp serves POST /api/console/apps.
func (s *Apps) createApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, slices.Concat(adminapi.Creatable, admissionFields, provesFields,
		[]string{"owner", "first_party", "tier"})...)
	if err != nil {
		return nil, err
	}
	n, err := f.App()
	if err == nil {
		err = s.nameSubjects(r.Context(), who, &n.Change)
	}
	if err != nil {
		return nil, err
	}
	app, err := s.c.Acts.Create(r.Context(), who, n)
	return revealed(app), adminapi.Refusal(err, noApp)
}

// changeApp serves PATCH /api/console/apps/{client_id}.
func (s *Apps) changeApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	f, err := adminapi.ReadFields(w, r, changeable...)
	if err == nil {
		err = f.Any(changeable)
	}
	if err != nil {
		return nil, err
	}
	c, err := f.AppChange()
	if err == nil {
		err = s.nameSubjects(r.Context(), who, &c)
	}
	if err != nil {
		return nil, err
	}
	_, app, err := s.c.Acts.Set(r.Context(), who, r.PathValue("client_id"), c)
	return recordOf(app), adminapi.Refusal(err, noApp)
}

// deleteApp serves DELETE /api/console/apps/{client_id}.
func (s *Apps) deleteApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	if err := adminapi.NoFields(w, r); err != nil {
		return nil, err
	}
	app, err := s.c.Acts.Delete(r.Context(), who, r.PathValue("client_id"))
	return adminapi.DeletedOf(app), adminapi.Refusal(err, noApp)
}

// rotateSecret serves POST /api/console/apps/{client_id}/secret.
func (s *Apps) rotateSecret(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	overlap, err := adminapi.ReadOverlap(w, r)
	if err != nil {
		return nil, err
	}
	_, app, err := s.c.Acts.RotateSecret(r.Context(), who, r.PathValue("client_id"), overlap)
	return revealed(app), adminapi.Refusal(err, noApp)
}
