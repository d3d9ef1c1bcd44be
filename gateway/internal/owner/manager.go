package owner

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway/internal/manage"
	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// manager returns whose applications a token manages (decision 52): those of its user, if they have allowed that with
// the scope apps, or the application that it was issued to, which is returned too. Nobody's role counts for anything
// here: a token is on servers and in browsers of others, and must not carry an administrator's powers.
func (e *Endpoints) manager(r *http.Request) (by admin.Actor, app storage.App, err error) {
	caller, app, err := e.c.Caller(r)
	if err != nil {
		return by, app, err
	}
	by.Request = admin.RequestOf(r, e.c.ClientIP(r))
	if caller.UserID == "" {
		by.Application = app.ID
		return by, app, nil
	}
	if !scope.Has(caller.Scope, scope.Apps) {
		return by, app, noScope
	}
	user, err := e.c.Store.User(r.Context(), caller.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && user.Disabled {
		err = disabled
	}
	by.Sub = user.Sub
	return by, app, err
}

// managed returns an application that was read, unless it is not the manager's: then there is none.
func managed(by admin.Actor) func(storage.App, error) (storage.App, error) {
	return func(app storage.App, err error) (storage.App, error) {
		if err == nil && !appacts.Manages(by, app.ID, app.Owner) {
			err = noApp
		}
		return app, refusal(err)
	}
}

// refusal makes a failure of what a record has against a request.
func refusal(err error) error { return manage.Refusal(err, noApp) }
