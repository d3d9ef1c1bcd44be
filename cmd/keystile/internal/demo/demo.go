package demo

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"github.com/keystile/keystile/internal/reply"
	"github.com/keystile/keystile/storage"
)

// Paths of the demo. The cookie of a sign-in on its way reaches no others.
const (
	Path         = "/demo"
	startPath    = Path + "/start"
	callbackPath = Path + "/callback"
	resultPath   = Path + "/result"
)

// Store has the methods of storage that the demo needs.
type Store interface {
	App(ctx context.Context, id string) (storage.App, error)
	Setting(ctx context.Context, name string) (string, error)
}

// Config configures a Demo. All of it is required but Log.
type Config struct {
	BaseURL  string       // the provider's origin, and ours
	Store    Store        // where the application is registered
	Provider http.Handler // answers /oauth/token and /oauth/userinfo
	Log      *slog.Logger // nil: slog.Default()
}

// Demo is the relying party.
type Demo struct {
	base     string
	store    Store
	provider http.Handler
	mux      *reply.Mux
	results  results
}

// New makes a Demo.
func New(c Config) *Demo {
	d := &Demo{base: c.BaseURL, store: c.Store, provider: c.Provider}
	get := []string{http.MethodGet, http.MethodHead}
	d.mux = reply.NewMux(c.Log,
		reply.Route{Path: Path, Methods: get, Handle: d.home, Fail: d.fail},
		reply.Route{Path: startPath, Methods: []string{http.MethodGet}, Handle: d.start, Fail: d.fail},
		reply.Route{Path: callbackPath, Methods: []string{http.MethodGet}, Handle: d.callback, Fail: d.fail},
		reply.Route{Path: resultPath, Methods: get, Handle: d.result, Fail: d.fail},
	)
	return d
}

func (d *Demo) ServeHTTP(w http.ResponseWriter, r *http.Request) { d.mux.ServeHTTP(w, r) }

// Patterns returns the paths that are served here, as http.ServeMux writes them.
func (d *Demo) Patterns() []string { return d.mux.Patterns() }

// RedirectURI returns the address that the provider at base sends the demo's users back to.
func RedirectURI(base string) string { return base + callbackPath }

// home is the page with the button. The button names our origin in full: somebody who
// came by another name of this machine must start where the cookie will be sent back.
func (d *Demo) home(w http.ResponseWriter, r *http.Request) error {
	app, err := d.app(r.Context())
	if err != nil {
		return err
	}
	return write(w, http.StatusOK, "home", view{Base: d.base, App: app.Name})
}

// app is the demo's registration, as it is now.
func (d *Demo) app(ctx context.Context) (storage.App, error) {
	id, err := d.store.Setting(ctx, SettingClient)
	if err != nil {
		return storage.App{}, err
	}
	app, err := d.store.App(ctx, id)
	switch {
	case errors.Is(err, storage.ErrNotFound), err == nil && (app.Disabled || app.Public):
		return app, noApplication
	case err != nil:
		return app, err
	}
	return app, nil
}
