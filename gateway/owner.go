package gateway

import (
	"context"
	"errors"
	"net/http"
	"time"

	"github.com/keystile/keystile/internal/apps"
	"github.com/keystile/keystile/internal/visit"
	"github.com/keystile/keystile/storage"
)

// AppStore is what /api/v1/apps and /api/v1/billing/ ask of storage, beside Store;
// *storage.Store has it.
type AppStore interface {
	apps.Store
	CreateApp(ctx context.Context, a storage.App, most int) (storage.App, error)
	Apps(ctx context.Context, owner, from string, n int) ([]storage.App, string, error)
	ClosedApp(ctx context.Context, id string) (storage.ClosedApp, error)
	ClosedApps(ctx context.Context, owner, from string, n int) ([]storage.ClosedApp, string, error)
	User(ctx context.Context, sub string) (storage.User, error)
	Order(ctx context.Context, id string) (storage.Order, error)
	Orders(ctx context.Context, q storage.OrderQuery, from string, n int) ([]storage.Order, string, error)
	SaveOrder(ctx context.Context, o storage.Order, a storage.App) (storage.Order, storage.App, error)
}

// Revoker ends tokens; *oauth.Server has it.
type Revoker interface {
	// Revoke returns once nothing that is covered opens anything here.
	Revoke(ctx context.Context, rs ...storage.Revocation) error
}

// MaxApps is how many applications a user may have. Those that an administrator makes for
// them count, and are not held up by it.
const MaxApps = 100

// owner is the user for whom a request manages applications.
type owner struct {
	storage.User
	by string // who acts: the user's sub, or the client_id of an application of theirs
}

// owner finds out for whom a token manages applications: its user, or, where it has none,
// the owner of its application. An application that somebody else has registered here may
// sign users in, and must not get their other applications' secrets by it: its users'
// tokens manage nothing.
func (g *Gateway) owner(r *http.Request) (owner, error) {
	caller, account, err := g.caller(r)
	if err != nil {
		return owner{}, err
	}
	o := owner{by: caller.UserID}
	sub := caller.UserID
	switch {
	case sub == "":
		sub, o.by = account.Owner, caller.AppID
	case !account.FirstParty && account.Owner != sub:
		return owner{}, notForOthers
	}
	if sub == "" {
		return owner{}, ownerless
	}
	o.User, err = g.c.Apps.User(r.Context(), sub)
	switch {
	case isNotFound(err), err == nil && o.Disabled:
		return owner{}, nobodysApp
	case err != nil:
		return owner{}, err
	}
	// What an application does for its owner is no administrator's act: its key is on
	// servers, and opens what is theirs.
	if caller.UserID == "" {
		o.Role = ""
	}
	return o, nil
}

// may reports whether the owner may change an application of the owner's, or of anybody's
// if they are an administrator.
func (o owner) may(appOwner string) bool { return appOwner == o.Sub || o.Role == storage.RoleAdmin }

// managed returns an application that the owner may change. A foreign one is as good as
// none.
func (g *Gateway) managed(ctx context.Context, o owner, id string) (storage.App, error) {
	app, err := g.c.Apps.App(ctx, id)
	if isNotFound(err) || err == nil && !o.may(app.Owner) {
		return storage.App{}, noApp
	}
	return app, err
}

// change changes the newest state of an application that the owner may change.
func (g *Gateway) change(ctx context.Context, o owner, id string, change func(*storage.App) error) (storage.App, error) {
	app, err := apps.Change(ctx, g.c.Apps, id, func(a *storage.App) error {
		if !o.may(a.Owner) {
			return noApp
		}
		return change(a)
	})
	return app, said(err)
}

// said makes what a record has against a request one of this room's failures.
func said(err error) error {
	switch {
	case isNotFound(err):
		return noApp
	case errors.Is(err, storage.ErrFull):
		return tooManyApps
	case errors.Is(err, storage.ErrInvalid):
		return badBody.Saying(plain(err))
	}
	return err
}

// noteAct puts what was done on the audit trail, and waits for it.
func (g *Gateway) noteAct(r *http.Request, o owner, what, app string) error {
	e := visit.Event(r, storage.EventAdmin, g.c.ClientIP(r))
	e.App, e.User, e.Detail = app, o.Sub, what+" "+app+" by "+o.by
	e.Latency = time.Since(e.At)
	return g.NoteNow(r.Context(), e)
}
