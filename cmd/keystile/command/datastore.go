package command

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/cmd/keystile/internal/admin"
	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/config"
	"github.com/keystile/keystile/cmd/keystile/internal/folder"
	"github.com/keystile/keystile/cmd/keystile/internal/metrics"
	"github.com/keystile/keystile/gateway/billing"
	"github.com/keystile/keystile/gateway/usage"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/access"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/nodes"
	"github.com/keystile/keystile/storage/oteltrace"
)

// dataStore is an opened data folder: the store in it, and its users. Close closes the store.
type dataStore struct {
	*folder.Folder
	io.Closer
	conf    *config.Config
	keyring *admin.Keyring
	backend driver.Backend                 // as it was opened
	copy    func(io.Writer) (int64, error) // nil: the storage has no copies
	store   *storage.Store
	users   *users.StoreUsers
	billing *billing.Billing
	usage   *usage.Reader
	swept   atomic.Int64 // expired records removed
	joined  bool         // the folder has belonged to no store before

	statements *metrics.Statements // of the storage
	gauges     []Gauge
	events     func(event.Event) // counts what the trail is told; nil: nobody does
	ships      shipping
	serving    atomic.Pointer[keystile.Service]
	leaving    atomic.Bool // the process is about to stop
	trail      ownTrail
}

// Ready says whether it can be served from, and whether the service that runs can answer.
func (h *dataStore) Ready(ctx context.Context) error {
	if h.leaving.Load() {
		return errLeaving
	}
	if s := h.serving.Load(); s != nil {
		return s.Ready(ctx)
	}
	return h.store.Ready(ctx)
}

// open opens the database of a data folder, or the one at the address that the configuration names.
func (s Storage) open(ctx context.Context, c *config.Config, path string, w Watch) (driver.Backend, error) {
	logs := s.OpenLogging != nil
	if c.TokenLog != nil {
		logs = *c.TokenLog
	}
	switch {
	case logs && s.OpenLogging == nil:
		return nil, cli.Usage("token_log: %s has no log of tokens; leave it out", s.name())
	case logs:
		return s.OpenLogging(ctx, path)
	case len(s.Schemes) == 0:
		return s.Open(ctx, path)
	}
	return s.OpenAt(ctx, c.StorageURL.Reveal(), w)
}

// newDataStore reads an opened database. It closes it if it cannot.
func newDataStore(ctx context.Context, o opening, backend driver.Backend) (h *dataStore, err error) {
	c := o.conf
	h = &dataStore{Folder: o.folder, Closer: backend, backend: backend, conf: c, keyring: o.keyring}
	var steps driver.Backend = sweepCounter{backend, &h.swept}
	if c.OTel.Endpoint != "" {
		steps = oteltrace.New(steps)
	}
	h.store, err = storage.Open(ctx, steps, o.keys...)
	switch {
	case errors.Is(err, storage.ErrNewer), errors.Is(err, storage.ErrUnfinished),
		errors.Is(err, storage.ErrMoved):
		return nil, errors.Join(err, backend.Close())
	case err != nil:
		return nil, errors.Join(fmt.Errorf("%w (the key came from %s)", err, o.from), backend.Close())
	}
	h.users = users.New(h.store, o.passwords)
	// While nobody serves: a server that was killed may have left calls in the journal.
	h.billing, err = billing.New(billing.Config{Store: h.store, Plans: plansOf(c), Journal: o.folder.Journal()})
	if err == nil {
		h.usage, err = usage.New(usage.Config{Store: h.store, Billing: h.billing})
	}
	if err != nil {
		return nil, errors.Join(err, backend.Close())
	}
	return h, nil
}

// sweepCounter counts what is swept, for the metrics.
type sweepCounter struct {
	driver.Backend
	removed *atomic.Int64
}

// Unwrap lets the store see what the adapter can do besides.
func (s sweepCounter) Unwrap() driver.Backend { return s.Backend }

func (s sweepCounter) Sweep(ctx context.Context, at time.Time, n int) (int, error) {
	removed, err := s.Backend.Sweep(ctx, at, n)
	s.removed.Add(int64(removed))
	return removed, err
}

// target returns the parts that admin commands work on; serving is nil where nobody serves.
func (h *dataStore) target(serving *assembled) admin.Target {
	target := admin.Target{
		Store: h.store, Users: h.users, Copy: h.copy, Backend: h.backend,
		SigningAlg: h.conf.SigningAlg, Signed: max(h.conf.AccessLifetime, idTokenLifetime),
		Granted: max(h.conf.CodeLifetime, h.conf.AccessLifetime, h.conf.RefreshLifetime),
		Keys:    h.keyring, Ways: h.ways,
		Billing: h.billing, Usage: h.usage, Issuers: issuers(h.conf), Connectors: grouped(h.conf),
		Nodes: func(ctx context.Context) ([]nodes.Info, error) { return nodes.Look(ctx, h.store) },
	}
	target.Recorder.Trail = h
	if serving != nil {
		target.Provider, target.Recorder.Trail = serving.Tokens, serving.Trail
		target.ForgetApp, target.ForgetUser = serving.ForgetApp, serving.ForgetUser
		target.Reload, target.Recorder.Notifier, target.Unlock = serving.Bus.Reload, serving.SignIn, serving.SignIn.Unlock
		target.Nodes, target.Registry = serving.Nodes.List, serving.Registry
		target.Ways = func() (access.Ways, string, error) { return serving.Ways(), serving.InvitationPage(), nil }
		target.Unlisted = serving.Bus.Unlisted
		target.Billing, target.Usage = serving.Gateway.Billing(), serving.Gateway.Usage()
	}
	return target
}

// registrar is one that nobody reaches over HTTP.
func (h *dataStore) registrar() (*registry.Registry, error) { return registrarOf(h.conf, h.store, h) }

func registrarOf(c *config.Config, store *storage.Store, trail interface {
	NoteNow(ctx context.Context, e event.Event) error
}) (*registry.Registry, error) {
	kept, err := pins.New(pins.Config{Store: store})
	if err != nil {
		return nil, err
	}
	return registry.New(context.Background(), registry.Config{
		BaseURL: origin(c), Store: store, Visitors: noVisitors{}, NoDelivery: true, Pins: kept, Audit: trail,
		AllowPrivateUpstreams: c.PrivateUpstreams, ResolveRefs: c.ResolveRefs,
		MaxCapabilities: c.MaxCapabilities, MaxTools: c.MaxTools, Validator: lint.Check,
	})
}

// noVisitors is a sign-in without visitors.
type noVisitors struct{}

func (noVisitors) Visitor(*http.Request) (storage.Session, error) {
	return storage.Session{}, storage.ErrNotFound
}

func (noVisitors) Proved(context.Context, storage.Session) (bool, error) { return false, nil }

// NoteNow puts an event on the audit trail of a store that nobody serves. The first one begins a chain, which Close
// ends.
func (h *dataStore) NoteNow(ctx context.Context, e event.Event) error {
	h.trail.Lock()
	if h.trail.Trail == nil {
		var err error
		if h.trail.Trail, err = audit.Open(ctx, audit.Config{Store: h.store, Name: "keystile command"}); err != nil {
			h.trail.Unlock()
			return err
		}
	}
	h.trail.Unlock()
	return h.trail.NoteNow(ctx, e)
}

// ownTrail is the audit trail of a command, once it has noted something.
type ownTrail struct {
	sync.Mutex
	*audit.Trail
}

// Close ends the chain of the trail, and closes the store.
func (h *dataStore) Close() error {
	h.trail.Lock()
	defer h.trail.Unlock()
	var err error
	if h.trail.Trail != nil {
		err = h.trail.Trail.Close(context.Background())
	}
	return errors.Join(err, h.Closer.Close())
}

// idTokenLifetime is the default of package oauth; there is no key for it.
const idTokenLifetime = time.Hour
