package main

import (
	"context"
	"errors"
	"net/http"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/registry"
	"github.com/keystile/keystile/storage"
)

// host is all four rooms behind one handler.
type host struct {
	http.Handler
	gateway   *gateway.Gateway
	registry  *registry.Registry
	bus       *mcpbus.Bus
	upstreams *mcpbus.Upstreams
}

// newHost assembles it at an address on this machine. The caller closes it, once no request
// is on its way.
func newHost(ctx context.Context, address string, store *storage.Store) (*host, error) {
	h, origin := &host{}, "http://"+address
	grants := &struct{ *oauth.Server }{} // the provider, which is made after sign-in
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: grants})
	if err != nil {
		return nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{Issuer: origin, Store: store, SignIn: pages, Consent: pages})
	if err != nil {
		return nil, err
	}
	grants.Server = provider
	if h.gateway, err = gateway.New(ctx, gateway.Config{Store: store, Verifier: provider}); err != nil {
		return nil, err
	}
	// The upstream is this very server. It is the only private address that tools may reach.
	private := []string{address}
	if h.upstreams, err = mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: private}); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.bus, err = mcpbus.New(ctx, mcpbus.Config{Issuer: origin, Catalog: store, Invoker: h.upstreams, Discoverer: h.upstreams, Meter: h.gateway, Verifier: provider})
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.registry, err = registry.New(registry.Config{
		BaseURL: origin, Store: store, Visitors: pages, Audit: h.gateway, Discoverer: h.upstreams, AllowPrivateUpstreams: private,
		Changed: func(string) { h.bus.Reload(ctx) },
	})
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	mux := http.NewServeMux()
	mux.Handle("/oauth/", provider)
	pages.Mount(mux)
	mux.Handle("/.well-known/", provider)
	mux.Handle("/api/v1/", h.gateway)
	mux.Handle("/api/console/", h.registry)
	mux.Handle(mcpbus.Path, h.bus)
	for _, path := range append(mcpbus.MetadataPaths(), mcpbus.BundlePaths()...) {
		mux.Handle(path, h.bus)
	}
	// Each room describes what it serves; this host serves four of the five.
	document := provider.OpenAPI().With(h.gateway.OpenAPI(), h.registry.OpenAPI(), h.bus.OpenAPI())
	mux.Handle("/openapi.json", document.Handler(origin))
	h.Handler = h.gateway.Front(mux)
	return h, nil
}

// close ends the rooms; the gateway, where the others write, last.
func (h *host) close(ctx context.Context) error {
	var errs []error
	if h.bus != nil {
		errs = append(errs, h.bus.Close(ctx))
	}
	if h.upstreams != nil {
		errs = append(errs, h.upstreams.Close(ctx))
	}
	return errors.Join(append(errs, h.gateway.Close(ctx))...)
}
