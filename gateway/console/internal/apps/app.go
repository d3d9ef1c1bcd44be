package apps

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/storage"
)

// appRecord shows an application as /api/v1/apps does, with what only the console sets.
type appRecord struct {
	manage.AppRecord
	Owner             string `json:"owner"` // a user's sub; "": nobody's
	AllowHTTPRedirect bool   `json:"allow_http_redirect"`
	ForbidPlain       bool   `json:"forbid_plain"`
}

func recordOf(a storage.App) appRecord {
	return appRecord{manage.RecordOf(a, time.Now()), a.Owner, a.AllowHTTPRedirect, a.ForbidPlain}
}

// revealed returns recordOf with the newest secret.
func revealed(a storage.App) appRecord {
	v := recordOf(a)
	v.AppRecord = manage.RevealedOf(a, time.Now())
	return v
}

// showApp serves GET /api/console/apps/{client_id}.
func (s *Apps) showApp(w http.ResponseWriter, r *http.Request, who admin.Actor) (any, error) {
	app, err := s.readable(r.Context(), who, r.PathValue("client_id"))
	if err != nil {
		return nil, err
	}
	return recordOf(app), nil
}

// change changes the newest state of an application that the actor may change. An
// application that gets another owner takes its orders along. It also returns the state
// before.
func (s *Apps) change(ctx context.Context, who admin.Actor, id string, change func(*storage.App) error) (before, after storage.App, err error) {
	after, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := s.c.Store.App(ctx, id)
		if err == nil && !who.Changes(app.Owner) {
			err = noApp
		}
		if err != nil {
			return app, err
		}
		before = app
		if err := change(&app); err != nil {
			return app, err
		}
		if app.Owner != before.Owner {
			return s.c.Store.GiveApp(ctx, app, app.Owner)
		}
		return s.c.Store.SaveApp(ctx, app)
	})
	return before, after, manage.Refusal(err, noApp)
}

// noteApp writes a change of an application to the audit trail, and waits for it.
func (s *Apps) noteApp(r *http.Request, who admin.Actor, what string, before, after storage.App) error {
	on := after
	if on.ID == "" {
		on = before
	}
	return s.c.Recorder.Note(r.Context(), who, admin.Act{What: what, On: on.ID, App: on.ID, User: on.Owner, Changes: admin.AppChanges(before, after)})
}

// flags are the fields that only an administrator may set.
var flags = []string{"first_party", "disabled", "owner", "allow_http_redirect", "forbid_plain", "held"}

// amend reads what was sent into an application, as far as it is for the actor to set. What an administrator
// restricts is kept from the owner; held, where it is sent, decides what else is.
func (s *Apps) amend(ctx context.Context, who admin.Actor, f manage.Fields, a *storage.App) error {
	before := *a
	amend := f.Amend
	if a.ID == "" {
		amend = f.AmendNew
	}
	if err := s.amendFlags(ctx, who, f, a); err != nil {
		return err
	}
	if err := amend(a); err != nil {
		return err
	}
	if who.Admin() != nil {
		return apps.ByOwner(before, *a)
	}
	var sent []string
	if f["mfa"] != nil {
		sent = append(sent, "mfa") // a form sends all it has: of where one is told in a private network only a change counts
	}
	apps.ByOperator(before, a, sent...)
	if f["held"] == nil {
		return nil
	}
	var held []string
	if err := f.Texts("held", &held); err != nil {
		return err
	}
	if err := apps.Hold(a, held); err != nil {
		return manage.BadBody.Saying(err.Error())
	}
	return nil
}

// amendFlags reads what only an administrator may send into an application. The owner must
// be there.
func (s *Apps) amendFlags(ctx context.Context, who admin.Actor, f manage.Fields, a *storage.App) error {
	for _, name := range append(slices.Clone(flags), "tier") {
		if _, sent := f[name]; sent && who.Role != storage.RoleAdmin {
			return adminOnly.Saying(name + " is an administrator's to set: leave it out")
		}
	}
	err := errors.Join(
		f.Read("first_party", "true or false", &a.FirstParty), f.Read("disabled", "true or false", &a.Disabled),
		f.Read("allow_http_redirect", "true or false", &a.AllowHTTPRedirect), f.Read("forbid_plain", "true or false", &a.ForbidPlain),
		f.Read("owner", "a text", &a.Owner), f.Read("tier", "a text", &a.Tier),
	)
	if _, sent := f["owner"]; err != nil || !sent || a.Owner == "" {
		return err
	}
	_, err = s.c.Store.User(ctx, a.Owner)
	return manage.Refusal(err, manage.NoOwner)
}
