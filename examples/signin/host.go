package main

import (
	"context"
	"net/http"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/connector"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// newHost assembles it. The Store keeps applications, sessions, consents and tokens; users and
// their logins come from the staff table alone, in both Configs. The table is Closed: the personnel department alone
// makes its users, so tools without an access list may be the whole staff's. The caller closes the Tokens.
func newHost(ctx context.Context, origin string, store *storage.Store, s *staff,
	b *badges) (http.Handler, *oauth.Tokens, error) {
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
	if err != nil {
		return nil, nil, err
	}
	table := users.Host{Users: s, Named: s, Connected: s, Logins: s, Closed: true}
	pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Users: table,
		Connectors: []connector.Connector{b}, Revoker: tokens})
	if err != nil {
		return nil, nil, err
	}
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, Users: s, SignIn: pages, Consent: pages, Levels: pages})
	if err != nil {
		return nil, nil, err
	}
	mux := http.NewServeMux()
	provider.Mount(mux)
	pages.Mount(mux)
	mux.Handle(badgePath, http.NewCrossOriginProtection().Handler(http.HandlerFunc(b.serve)))
	return mux, tokens, nil
}
