package owner

import (
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// manager is whose applications a request manages: those of a user, or the one application
// that its own token speaks for. Nobody's role counts for anything here: a token is on
// servers and in browsers of others, and must not carry an administrator's powers.
type manager struct {
	user storage.User // the zero User: an application for itself
	app  storage.App  // through which the request comes, or which it is for

	request admin.Request
}

// manager finds out whose applications a token manages (decision 52): those
// of its user, if they have allowed that with the scope apps, or its own application.
func (e *Endpoints) manager(r *http.Request) (manager, error) {
	caller, app, err := e.c.Caller(r)
	if err != nil {
		return manager{}, err
	}
	m := manager{app: app, request: admin.RequestOf(r, e.c.ClientIP(r))}
	if caller.UserID == "" {
		return m, nil
	}
	if !scope.Has(caller.Scope, scope.Apps) {
		return manager{}, noScope
	}
	m.user, err = e.c.Store.User(r.Context(), caller.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && m.user.Disabled {
		return manager{}, disabled
	}
	return m, err
}

// itself reports whether an application acts for itself.
func (m manager) itself() bool { return m.user.Sub == "" }

// actor returns the manager as an actor, without a role.
func (m manager) actor() admin.Actor {
	if m.itself() {
		return admin.Actor{Application: m.app.ID, Request: m.request}
	}
	return admin.Actor{User: storage.User{Sub: m.user.Sub}, Request: m.request}
}

// owns reports whether an application is the manager's, by its id and its owner.
func (m manager) owns(id, owner string) bool {
	if m.itself() {
		return id == m.app.ID
	}
	return owner == m.user.Sub
}

// requireOwn refuses an application that is not the manager's as if there were none.
func (m manager) requireOwn(a storage.App) error {
	if !m.owns(a.ID, a.Owner) {
		return noApp
	}
	return nil
}

// refuseOtherUsers refuses what an application may not do with its own token. It does not
// reveal whether another application exists.
func (m manager) refuseOtherUsers(id string) error {
	switch {
	case !m.itself():
		return nil
	case id != m.app.ID:
		return noApp
	}
	return notByItself
}

// managed returns an application of the manager's.
func (e *Endpoints) managed(ctx context.Context, m manager, id string) (storage.App, error) {
	app, err := e.c.Store.App(ctx, id)
	if err == nil {
		err = m.requireOwn(app)
	}
	return app, refusal(err)
}

// change changes the newest state of an application of the manager's. It returns what there
// was before too.
func (e *Endpoints) change(ctx context.Context, m manager, id string, change func(*storage.App) error) (before, after storage.App, err error) {
	after, err = apps.Change(ctx, e.c.Store, id, func(a *storage.App) error {
		if err := m.requireOwn(*a); err != nil {
			return err
		}
		before = *a
		return change(a)
	})
	return before, after, refusal(err)
}

// refusal makes a failure of what a record has against a request.
func refusal(err error) error { return manage.Refusal(err, noApp) }

// note puts what was done to an application on the audit trail, and waits for it.
func (e *Endpoints) note(r *http.Request, m manager, what string, before, after storage.App) error {
	on := after
	if on.ID == "" {
		on = before
	}
	return e.c.Recorder.Note(r.Context(), m.actor(), admin.Act{
		What: what, On: on.ID, App: on.ID, User: on.Owner, Changes: admin.AppChanges(before, after),
	})
}
