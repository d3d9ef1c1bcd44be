package main

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/storage"
)

// newHost assembles it. The Store keeps applications, sessions, consents and tokens; who
// somebody is and how they come in is the staff's alone, in both Configs.
func newHost(ctx context.Context, origin string, store *storage.Store, s *staff, b *badges) (http.Handler, error) {
	grants := &struct{ *oauth.Server }{} // the provider, which is made after sign-in
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Users: s, Connectors: []connector.Connector{b}, Revoker: grants})
	if err != nil {
		return nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{Issuer: origin, Store: store, Users: s, SignIn: pages, Consent: pages})
	if err != nil {
		return nil, err
	}
	grants.Server = provider
	mux := http.NewServeMux()
	mux.Handle("/oauth/", provider)
	pages.Mount(mux)
	mux.Handle("/.well-known/", provider)
	mux.Handle(badgePath, http.NewCrossOriginProtection().Handler(http.HandlerFunc(b.serve)))
	return mux, nil
}
