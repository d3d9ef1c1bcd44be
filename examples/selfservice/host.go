package main

import (
	"context"
	"errors"
	"net/http"
	"slices"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/registry/lint"
	"github.com/keystile/keystile/registry/pins"
	"github.com/keystile/keystile/storage"
)

// host has the packages one by one, behind one handler: keystile.New does the same and more.
type host struct {
	http.Handler
	registry *registry.Registry
	closers  []func(context.Context) error // in the order in which they were made
}

// newHost assembles it at an address on this machine. The caller closes it, once no request
// is on its way.
func newHost(ctx context.Context, address string, store *storage.Store) (*host, error) {
	h := &host{}
	if err := h.build(ctx, "http://"+address, []string{address}, store); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	return h, nil
}

// build makes the parts, each from those before it. The upstream is this very server, which is
// the only private address that tools may reach.
func (h *host) build(ctx context.Context, origin string, private []string, store *storage.Store) error {
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store,
		Resources: mcpbus.Resources(origin)})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, tokens.Close)
	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, trail.Close)
	signIn := signin.Config{BaseURL: origin, Store: store, Revoker: tokens, Audit: trail}
	pages, err := signin.New(ctx, signIn)
	if err != nil {
		return err
	}
	h.closers = append(h.closers, pages.Close)
	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, g.Close)
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: pages, Consent: pages, Levels: pages, Meter: g,
		Audit: trail})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, provider.Close)
	upstreams, err := mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: private})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, upstreams.Close)
	standing, err := store.DefaultAccess(ctx, signIn.Ways()) // everyone, as nobody becomes a user by themselves
	if err != nil {
		return err
	}
	kept, err := pins.New(pins.Config{Store: store, Notifier: pages, Audit: trail})
	if err != nil {
		return err
	}
	bus, err := mcpbus.New(ctx, mcpbus.Config{
		BaseURL: origin, Store: store, Invoker: upstreams, Discoverer: upstreams, Meter: g, Verifier: tokens, Audit: trail,
		DefaultAccess: standing, Pins: kept,
	})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, bus.Close)
	h.registry, err = registry.New(ctx, registry.Config{
		BaseURL: origin, Store: store, Visitors: pages, Audit: trail, Discoverer: upstreams, Bus: bus, Pins: kept,
		AllowPrivateUpstreams: private, Validator: lint.Check,
	})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, h.registry.Close)
	mux := http.NewServeMux()
	provider.Mount(mux)
	pages.Mount(mux)
	g.Mount(mux)
	h.registry.Mount(mux)
	bus.Mount(mux)
	// Each package describes what it serves; this host serves four of the five.
	mux.Handle("/openapi.json", keystile.OpenAPI(origin, provider.OpenAPI(), g.OpenAPI(), h.registry.OpenAPI(),
		bus.OpenAPI()))
	h.Handler = g.Front(mux)
	return nil
}

// close ends the parts in the opposite order.
func (h *host) close(ctx context.Context) error {
	var errs []error
	for _, end := range slices.Backward(h.closers) {
		errs = append(errs, end(ctx))
	}
	return errors.Join(errs...)
}
