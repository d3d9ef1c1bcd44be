package appacts

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/admin"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/client"
	"github.com/keystile/keystile/storage/driver"
)

// ClientStore holds the methods of storage that Clients use; *storage.Store has it.
type ClientStore interface {
	App(ctx context.Context, id string) (storage.App, error)
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	Clients(ctx context.Context, from string, n int) ([]storage.App, string, error)
	RemoveClient(ctx context.Context, a storage.App) error
	ClientHost(ctx context.Context, host string) (client.Host, error)
	SetClientHost(ctx context.Context, host string, denied bool) (client.Host, error)
	ForgetClientHost(ctx context.Context, h client.Host) error
}

// ClientConfig holds what NewClients needs; it is part of Config.
type ClientConfig struct {
	Store    ClientStore
	Revoke   func(ctx context.Context, rs ...driver.Revocation) error
	Recorder admin.Recorder
	Forget   func(clientID string) // nil: this process remembers nothing
}

// Clients are the acts on clients that nobody registered, and on the hosts of their documents. Only administrators and
// the operator do them.
type Clients struct{ c ClientConfig }

// NewClients makes Clients.
func NewClients(c ClientConfig) *Clients {
	c.Forget = orNothing(c.Forget)
	return &Clients{c}
}

// ClientOf reads a client that nobody registered and that has not ended, or returns storage.ErrNotFound.
func ClientOf(ctx context.Context, store interface {
	App(ctx context.Context, id string) (storage.App, error)
}, id string) (storage.App, error) {
	if !IsClientID(id) {
		return storage.App{}, storage.ErrNotFound
	}
	app, err := store.App(ctx, id)
	if err == nil && (app.Client == nil || !app.Live(time.Now())) {
		err = storage.ErrNotFound
	}
	return app, err
}

// IsClientID reports whether a text can be the id of a client that nobody registered.
func IsClientID(id string) bool {
	return client.IsID(id) && len(id) <= client.MaxID && !strings.ContainsFunc(id,
		func(c rune) bool { return c <= ' ' || c > '~' })
}

// Disable says whether a client that has registered itself is disabled. Disabling it ends what it was granted; done
// again, it ends what a failure has left.
func (a *Clients) Disable(ctx context.Context, by admin.Actor, id string, disabled bool) (after storage.App,
	err error) {
	before, after, err := a.change(ctx, by, id, func(app *storage.App) error {
		if app.Host() != "" {
			return byHost
		}
		app.Disabled = disabled
		return nil
	})
	if err != nil {
		return after, err
	}
	if disabled {
		err = a.c.Revoke(ctx, driver.Revocation{Kind: driver.RevokeApp, ID: id})
	}
	if noted := a.note(ctx, by, "client set", id, admin.AppChanges(before, after)...); noted != nil {
		return after, noted
	}
	return after, err
}

// Refetch has the document of a client, and the keys that it leads to, read again at the next sign-in.
func (a *Clients) Refetch(ctx context.Context, by admin.Actor, id string) (after storage.App, err error) {
	before, after, err := a.change(ctx, by, id, func(app *storage.App) error {
		if app.Host() == "" {
			return noFetch
		}
		app.Client.FreshUntil, app.Client.KeysRead = time.Now().UTC(), time.Time{}
		return nil
	})
	if err != nil {
		return after, err
	}
	until := func(a storage.App) string { return a.Client.FreshUntil.UTC().Format(time.RFC3339) }
	return after, a.note(ctx, by, "client refetch", id, changeOf("fresh_until", until(before), until(after)))
}

// Forget ends what a client was granted, and removes it. A request on its way may have read it before, so the
// revocation reaches ahead, unless its document brings the same client back.
func (a *Clients) Forget(ctx context.Context, by admin.Actor, id string) (before storage.App, err error) {
	if err := administrator(by); err != nil {
		return before, err
	}
	if before, err = ClientOf(ctx, a.c.Store, id); err != nil {
		return before, err
	}
	end := driver.Revocation{Kind: driver.RevokeApp, ID: id}
	if before.Client.Kind == client.Dynamic {
		end = token.EndOfApp(id)
	}
	if err := a.c.Revoke(ctx, end); err != nil {
		return before, err
	}
	before, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := ClientOf(ctx, a.c.Store, id)
		if err == nil {
			err = a.c.Store.RemoveClient(ctx, app)
		}
		return app, err
	})
	if err != nil {
		return before, err
	}
	a.c.Forget(id)
	return before, a.note(ctx, by, "client forget", id, admin.AppChanges(before, storage.App{})...)
}

// change changes the newest state of a client.
func (a *Clients) change(ctx context.Context, by admin.Actor, id string, change func(*storage.App) error) (before,
	after storage.App, err error) {
	if err := administrator(by); err != nil {
		return before, after, err
	}
	after, err = storage.RetryOnConflict(ctx, func() (storage.App, error) {
		app, err := ClientOf(ctx, a.c.Store, id)
		if err != nil {
			return app, err
		}
		before, app.Client = app, app.Client.Clone()
		if err := change(&app); err != nil {
			return app, err
		}
		return a.c.Store.SaveApp(ctx, app)
	})
	if err == nil {
		a.c.Forget(id)
	}
	return before, after, err
}

func (a *Clients) note(ctx context.Context, by admin.Actor, what, id string, changes ...string) error {
	return a.c.Recorder.Note(ctx, by, admin.Act{What: what, On: id, App: id, Changes: changes})
}

func changeOf(name, before, after string) string {
	return fmt.Sprintf("%s %q -> %q", name, before, after)
}
