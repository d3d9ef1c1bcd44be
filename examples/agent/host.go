package main

import (
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
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

// newHost assembles it. The caller closes it, once no request is on its way.
func newHost(ctx context.Context, origin string, store *storage.Store) (*host, error) {
	h := &host{}
	grants := &struct{ *oauth.Server }{} // the provider, which is made after sign-in
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: grants})
	if err != nil {
		return nil, err
	}
	// Tokens may be for the bus alone (RFC 8707); the provider issues them, the gateway knows them.
	provider, err := oauth.New(ctx, oauth.Config{Issuer: origin, Store: store, SignIn: pages, Consent: pages, Resources: mcpbus.Resources(origin)})
	if err != nil {
		return nil, err
	}
	grants.Server = provider
	h.gateway, err = gateway.New(ctx, gateway.Config{Store: store, Verifier: provider, Audiences: mcpbus.Resources(origin)})
	if err != nil {
		return nil, err
	}
	// The API of this example is on this machine. Without the list, no call reaches it.
	private := []string{"127.0.0.0/8"}
	if h.upstreams, err = mcpbus.NewUpstreams(mcpbus.UpstreamsConfig{AllowPrivateUpstreams: private}); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.bus, err = mcpbus.New(ctx, mcpbus.Config{Issuer: origin, Catalog: store, Invoker: h.upstreams, Discoverer: h.upstreams, Meter: h.gateway, Verifier: provider})
	if err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	h.registry, err = registry.New(registry.Config{
		BaseURL: origin, Store: store, Visitors: pages, Audit: h.gateway, Discoverer: h.upstreams, AllowPrivateUpstreams: private,
		Changed: func(string) { h.bus.Reload(ctx) }, // or wait: the bus looks every few seconds
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
	mux.HandleFunc("/weather/", weather)
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

// document describes the API below.
//
//go:embed weather.yaml
var document []byte

// register makes tools of the document, as an administrator would at the console or with
// keystile capability register.
func (h *host) register(ctx context.Context, origin string) error {
	done, err := h.registry.Register(ctx, storage.User{Role: storage.RoleAdmin}, registry.Request{
		Member: "sky", UpstreamURL: origin, OpenAPI: document,
	})
	if err == nil && done.ToolCount != 1 {
		err = fmt.Errorf("%d tools were made: %v", done.ToolCount, done.Skipped)
	}
	return err
}

// weather is the API. The caller's token never gets here: a call is the bus's own request.
func weather(w http.ResponseWriter, r *http.Request) {
	degrees := map[string]int{"": 21, "C": 21, "F": 70}[r.URL.Query().Get("unit")]
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]any{"city": r.URL.Path[len("/weather/"):], "degrees": degrees})
}
