package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
)

// product is the name that the service's calls are charged to.
const product = "greetings"

// host is the process: provider, gateway and service behind one handler.
type host struct {
	http.Handler
	closers []func(context.Context) error // in the order in which they were made
}

// newHost assembles it. The caller closes it, once no request is on its way.
func newHost(ctx context.Context, origin string, store *storage.Store) (*host, error) {
	h := &host{}
	if err := h.build(ctx, origin, store); err != nil {
		return nil, errors.Join(err, h.close(ctx))
	}
	return h, nil
}

func (h *host) build(ctx context.Context, origin string, store *storage.Store) error {
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, tokens.Close)
	trail, err := gateway.OpenTrail(ctx, gateway.TrailConfig{Store: store})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, trail.Close)
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Revoker: tokens, Audit: trail})
	if err != nil {
		return err
	}
	h.closers = append(h.closers, pages.Close)
	// Journal: a folder, or a killed process loses the last second of calls
	g, err := gateway.New(ctx, gateway.Config{Store: store, Tokens: tokens, Trail: trail, Products: []string{product}})
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
	mux := http.NewServeMux()
	provider.Mount(mux)
	pages.Mount(mux)
	g.Mount(mux)
	mux.Handle("/hello", g.Guard(product, http.HandlerFunc(hello)))
	mux.Handle("/whoami", g.Guard("", http.HandlerFunc(whoAmI))) // a token and the rate, but no charge
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

// hello is the service. Behind Guard there is always a caller; an application that calls
// for itself has no user.
func hello(w http.ResponseWriter, r *http.Request) {
	caller, _ := gateway.CallerFrom(r.Context())
	fmt.Fprintf(w, "hello, %s\n", cmp.Or(caller.UserID, caller.AppID))
}

func whoAmI(w http.ResponseWriter, r *http.Request) {
	caller, _ := gateway.CallerFrom(r.Context())
	w.Header().Set("Content-Type", "application/json")
	json.NewEncoder(w).Encode(map[string]string{"application": caller.AppID, "user": caller.UserID, "scope": caller.Scope})
}
