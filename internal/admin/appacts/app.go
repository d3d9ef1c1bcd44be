package appacts

import (
	"cmp"
	"context"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// maxApps is the maximum number of applications that a user may make. Those that an administrator makes for them count,
// but are never refused.
const maxApps = 100

// Create makes an application: the actor's own, unless an administrator names another owner, or nobody.
func (a *Acts) Create(ctx context.Context, by admin.Actor, n NewApp) (storage.App, error) {
	if err := cmp.Or(NotItself(by, ""), fresh(by)); err != nil {
		return storage.App{}, err
	}
	if !by.Changes(by.Sub) {
		return storage.App{}, admin.NotAllowed
	}
	app, most := storage.App{Owner: by.Sub, Public: n.Public}, maxApps
	if by.Admin() == nil {
		most = 0 // held up by no number
	}
	err := n.reserved(by)
	if n.Tier != nil {
		app.Tier = *n.Tier
	}
	if err == nil {
		err = a.amend(ctx, by, n.Change, &app)
	}
	if err == nil {
		app, err = a.c.Store.CreateApp(ctx, app, most, a.c.Billing.Limit(app))
	}
	if err != nil {
		return storage.App{}, err
	}
	a.notify(ctx, by, event.NoticeSecret, app, "application made, its secret shown")
	return app, a.note(ctx, by, "app create", storage.App{}, app)
}

// Set changes an application. Disabling it ends what it was granted, as deleting does; an application that gets another
// owner takes its orders along. If ending fails it is disabled all the same, and the act may be done again.
func (a *Acts) Set(ctx context.Context, by admin.Actor, id string, c Change) (before, after storage.App, err error) {
	if err := NotItself(by, id); err != nil {
		return before, after, err
	}
	before, after, err = a.change(ctx, by, id, func(app *storage.App) error { return a.amend(ctx, by, c, app) })
	if err != nil {
		return before, after, err
	}
	if c.Disabled != nil && after.Disabled {
		err = a.c.Revoke(ctx, driver.Revocation{Kind: driver.RevokeApp, ID: id})
	}
	if what := grave(before, after); what != "" {
		a.notify(ctx, by, event.NoticeApp, after, "changed: "+what, before.Owner)
	}
	if noted := a.note(ctx, by, "app set", before, after); noted != nil {
		return before, after, noted
	}
	return before, after, err
}

// RotateSecret gives an application a new secret, beside which the one before stays valid for the overlap (see
// storage.App.RotateSecret).
func (a *Acts) RotateSecret(ctx context.Context, by admin.Actor, id string, overlap time.Duration) (before,
	after storage.App, err error) {
	now := time.Now().UTC()
	before, after, err = a.change(ctx, by, id, func(app *storage.App) error { return app.RotateSecret(now, overlap) })
	if err != nil {
		return before, after, err
	}
	a.notify(ctx, by, event.NoticeSecret, after, "secret rotated")
	return before, after, a.note(ctx, by, "app rotate-secret", before, after)
}

// Delete removes an application, and ends everything it was granted. It is disabled before its tokens are revoked, so
// that nothing is granted in between.
func (a *Acts) Delete(ctx context.Context, by admin.Actor, id string) (before storage.App, err error) {
	if err := NotItself(by, id); err != nil {
		return before, err
	}
	before, _, err = a.change(ctx, by, id, func(app *storage.App) error {
		app.Disabled = true
		return nil
	})
	if err == nil {
		err = a.c.Revoke(ctx, token.EndOfApp(id))
	}
	if err == nil {
		err = a.c.Billing.RemoveApp(ctx, id)
	}
	if err != nil {
		return before, err
	}
	a.notify(ctx, by, event.NoticeApp, before, "application deleted")
	return before, a.note(ctx, by, "app delete", before, storage.App{})
}

// NotItself refuses what an application may not do with its own token: to make one, whose id is "", and to change or
// delete itself. It does not reveal whether another one exists. The acts ask it; a front that has a body to read may
// ask it before.
func NotItself(by admin.Actor, id string) error {
	switch {
	case by.Application == "":
		return nil
	case id == "" || id == by.Application:
		return notByItself
	}
	return storage.ErrNotFound
}

// mayChange refuses an application that is not the actor's as if there were none, and a session that is too old.
func mayChange(by admin.Actor, app storage.App) error {
	if !Manages(by, app.ID, app.Owner) {
		return storage.ErrNotFound
	}
	return fresh(by)
}

// change changes the newest state of an application that the actor may change. Of one that was not changed it returns
// nothing.
func (a *Acts) change(ctx context.Context, by admin.Actor, id string, change func(*storage.App) error) (before,
	after storage.App, err error) {
	after, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := a.c.Store.App(ctx, id)
		if err == nil && !app.Live(time.Now()) { // to change it would bring back what has ended
			err = storage.ErrNotFound
		}
		if err == nil {
			err = mayChange(by, app)
		}
		before = app
		if err == nil {
			err = change(&app)
		}
		switch {
		case err != nil:
			return app, err
		case app.Owner != before.Owner:
			return a.c.Store.GiveApp(ctx, app, app.Owner)
		}
		return a.c.Store.SaveApp(ctx, app)
	})
	if err != nil {
		return storage.App{}, storage.App{}, err
	}
	a.c.Forget(id)
	return before, after, nil
}

// note writes a change of an application to the audit trail, and waits for it.
func (a *Acts) note(ctx context.Context, by admin.Actor, what string, before, after storage.App) error {
	on := after
	if on.ID == "" {
		on = before
	}
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: on.ID, App: on.ID, User: on.Owner,
		Changes: admin.AppChanges(before, after)})
}

// notify tells the owner of an application, and others, what was done to it.
func (a *Acts) notify(ctx context.Context, by admin.Actor, kind string, app storage.App, what string,
	others ...string) {
	a.c.Recorder.Notify(ctx, by, event.Notice{Kind: kind, App: app.Name, Detail: what}, append(others, app.Owner)...)
}
