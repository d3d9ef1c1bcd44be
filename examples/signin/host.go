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
	pages, err := signin.New(signin.Config{BaseURL: origin, Store: store, Users: s, Connectors: []connector.Connector{b}})
	if err != nil {
		return nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{Issuer: origin, Store: store, Users: s, SignIn: pages, Consent: pages})
	if err != nil {
		return nil, err
	}
	account, err := pages.Account(signin.AccountConfig{Revoker: provider})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.Handle("/oauth/", provider)
	mux.Handle("/oauth/signin", pages)
	mux.Handle("/oauth/signin/", pages)
	mux.Handle("/oauth/account", account)
	mux.Handle("/oauth/account/", account)
	mux.Handle("/.well-known/", provider)
	mux.Handle(badgePath, http.NewCrossOriginProtection().Handler(http.HandlerFunc(b.serve)))
	return mux, nil
}
