package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/keystile/keystile/gateway"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/storage"
)

// product is what the service's calls are charged to. Guard makes it known: it needs no
// other registration.
const product = "greetings"

// host is the process: provider, gateway and service behind one handler.
type host struct {
	http.Handler
	gateway *gateway.Gateway
}

// newHost assembles it. The caller closes the gateway, once no request is on its way.
func newHost(ctx context.Context, origin string, store *storage.Store) (*host, error) {
	users := signin.NewUsers(store, signin.NewPasswords(signin.Cost{}))
	grants := &struct{ *oauth.Server }{} // the provider, which is made after sign-in
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Users: users, Revoker: grants})
	if err != nil {
		return nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{Issuer: origin, Store: store, SignIn: pages, Consent: pages})
	if err != nil {
		return nil, err
	}
	grants.Server = provider
	g, err := gateway.New(ctx, gateway.Config{Store: store, Verifier: provider}) // Journal: a folder, or a killed process loses the last second of calls
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/oauth/", provider)
	pages.Mount(mux)
	mux.Handle("/oauth/userinfo", g.Meter(gateway.Identity, provider))
	mux.Handle("/.well-known/", provider)
	mux.Handle("/api/v1/", g)
	mux.Handle("/hello", g.Guard(product, http.HandlerFunc(hello)))
	mux.Handle("/whoami", g.Guard("", http.HandlerFunc(whoAmI))) // a token and the rate, but no charge
	return &host{g.Front(mux), g}, nil
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
