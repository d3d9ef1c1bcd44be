package appsapi

import (
	"errors"
	"net/http"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/admin/appacts"
	"github.com/keystile/keystile/internal/reqctx"
	"github.com/keystile/keystile/internal/scope"
	"github.com/keystile/keystile/storage"
)

// manager is whose applications a request manages: those of a user, or the one application that its own token speaks
// for. Nobody's role counts for anything here: a token is on servers and in browsers of others, and must not carry an
// administrator's powers.
type manager struct {
	admin.Actor
	app storage.App // through which the request comes
}

// manager finds out whose applications a token manages (decision 52): those of its user and of the groups that they
// manage, if they have allowed that with the scope apps, or its own application.
func (e *Endpoints) manager(r *http.Request) (m manager, err error) {
	caller, app, err := e.c.Caller(r)
	if err != nil {
		return m, err
	}
	m.app, m.Request, m.Bearer = app, admin.RequestOf(r, e.c.ClientIP(r)), true
	if reqctx.By(&m.Request.Event, &caller); caller.UserID == "" {
		m.Application = app.ID
		return m, nil
	}
	if len(caller.Actors) == 0 { // the trail names the application that is changed, and here the one that changes it
		m.Request.Event.Actors = []string{caller.AppID}
	}
	if !scope.Has(caller.Scope, scope.Apps) {
		return m, noScope
	}
	user, err := e.c.Store.User(r.Context(), caller.UserID)
	if errors.Is(err, storage.ErrNotFound) || err == nil && user.Disabled {
		err = disabled
	}
	m.Sub, m.Manages = user.Sub, admin.Managing(r.Context(), e.c.Store, user.Sub)
	return m, err
}

// ownerOf returns whose applications a list is of: those of the user, or of the group that owner=group:NAME names if
// they manage it. A list of one owner is read page by page where one of several could not be.
func (m manager) ownerOf(r *http.Request) (string, error) {
	owner := r.URL.Query().Get("owner")
	switch {
	case owner == "":
		return m.Sub, nil
	case !m.Changes(owner):
		return "", noOwner
	}
	return owner, nil
}

// own returns an application that was read, unless it is not the manager's: then there is none.
func (m manager) own(app storage.App, err error) (storage.App, error) {
	if err == nil && !appacts.Manages(m.Actor, app.ID, app.Owner) {
		err = noApp
	}
	return app, err
}
