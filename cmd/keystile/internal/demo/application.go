package demo

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/keystile/keystile/storage"
)

// SettingClient is the setting that holds the demo's client_id.
const SettingClient = "demo.client_id"

// Registry has the methods of storage that Register needs.
type Registry interface {
	Store
	SaveApp(ctx context.Context, a storage.App) (storage.App, error)
	SaveAppAs(ctx context.Context, setting string, a storage.App) (storage.App, error)
	Set(ctx context.Context, name, value string) error
}

// Register makes sure that the demo is registered and may send people to base. It is made
// from the draft (ID and secret, each of which may be missing) if it never was. It is first-party
// and has no owner: its secret is shown at the first start, and opens nothing else. One that
// somebody has deleted stays deleted: then the answer is the zero App. One that Suspend has
// disabled is enabled again. Several processes may do it at once: one of them registers it.
func Register(ctx context.Context, store Registry, base string, draft storage.App) (storage.App, error) {
	return storage.RetryOnConflict(ctx, func() (storage.App, error) { return register(ctx, store, base, draft) })
}

func register(ctx context.Context, store Registry, base string, draft storage.App) (storage.App, error) {
	id, err := store.Setting(ctx, SettingClient)
	if err != nil {
		return storage.App{}, err
	}
	if id == "" {
		return create(ctx, store, base, draft)
	}
	app, err := store.App(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return storage.App{}, nil
	}
	if err == nil {
		app, err = resume(ctx, store, app)
	}
	if err != nil || app.AllowsRedirect(RedirectURI(base)) == nil || len(app.RedirectURIs) > 0 {
		return app, err
	}
	return store.SaveApp(ctx, admit(app, base))
}

// settingSuspended is the setting that holds the client_id of what Suspend has disabled. One
// that an operator has disabled is not in it, and stays so.
const settingSuspended = "demo.suspended"

// Suspend disables the demo's application if there is one and the demo is off: otherwise the secret
// of a trial would go on to open the service after it. It first ends the grants of the application
// by revoke.
func Suspend(ctx context.Context, store Registry, revoke func(clientID string) error) error {
	_, err := storage.RetryOnConflict(ctx, func() (struct{}, error) { return struct{}{}, suspend(ctx, store, revoke) })
	return err
}

func suspend(ctx context.Context, store Registry, revoke func(clientID string) error) error {
	id, err := store.Setting(ctx, SettingClient)
	if err != nil || id == "" {
		return err
	}
	app, err := store.App(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return nil
	}
	if err != nil || app.Disabled {
		return err
	}
	if err := store.Set(ctx, settingSuspended, id); err != nil {
		return err
	}
	if err := revoke(id); err != nil {
		return err
	}
	app.Disabled = true
	_, err = store.SaveApp(ctx, app)
	return err
}

// resume takes back what Suspend has done.
func resume(ctx context.Context, store Registry, app storage.App) (storage.App, error) {
	suspended, err := store.Setting(ctx, settingSuspended)
	if err != nil || suspended == "" {
		return app, err
	}
	if app.Disabled && suspended == app.ID {
		app.Disabled = false
		if app, err = store.SaveApp(ctx, app); err != nil {
			return app, err
		}
	}
	return app, store.Set(ctx, settingSuspended, "")
}

// Draft completes what a new application of the demo is made of.
func Draft(base string, draft storage.App) storage.App {
	draft.Name, draft.FirstParty, draft.Domains = "Demo", true, Domains(base)
	return admit(draft, base)
}

// create registers the demo, unless another process does it in the same moment.
func create(ctx context.Context, store Registry, base string, draft storage.App) (storage.App, error) {
	app, err := store.SaveAppAs(ctx, SettingClient, Draft(base, draft))
	if !errors.Is(err, storage.ErrExists) {
		return app, err
	}
	id, err := store.Setting(ctx, SettingClient)
	if err == nil && id == "" { // versions before wrote the two one after the other, and may have been killed in between
		id = draft.ID
		err = store.Set(ctx, SettingClient, id)
	}
	if err != nil {
		return storage.App{}, err
	}
	return store.App(ctx, id)
}

// Domains are those of a new demo: the loopback names, and the host of base. Without a
// port an entry admits any.
func Domains(base string) []string {
	return withHost([]string{"localhost", "127.0.0.1"}, base)
}

// admit lets an application send people to base, our own origin. Over http that needs
// leave where base is no loopback address; without it the demo would be dead there.
func admit(app storage.App, base string) storage.App {
	app.Domains = withHost(app.Domains, base)
	if app.AllowsRedirect(RedirectURI(base)) != nil && strings.HasPrefix(base, "http:") {
		app.AllowHTTPRedirect = true
	}
	return app
}

func withHost(domains []string, base string) []string {
	host, err := storage.NormalizeDomain(base)
	if i := strings.LastIndexByte(host, ':'); i >= 0 && !strings.HasSuffix(host, "]") {
		host = host[:i]
	}
	if err != nil || slices.Contains(domains, host) {
		return domains
	}
	return append(slices.Clone(domains), host)
}
