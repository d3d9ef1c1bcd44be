package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// service is the host: its own pages, with the provider among them.
type service struct {
	http.Handler
	tokens *oauth.Tokens
}

// newService assembles it. With ownPage users sign in on the service's page, else on
// Keystile's; either way they are the service's own users.
func newService(ctx context.Context, origin string, store *storage.Store, ownPage bool) (*service, error) {
	table, err := newUserTable(ctx)
	if err != nil {
		return nil, err
	}
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	var signIn oauth.SignIn
	var consent oauth.Consent // a page of your own may ask for it too
	if ownPage {
		page := newSignInPage(table, origin)
		mux.Handle("POST /entrance", http.NewCrossOriginProtection().Handler(http.HandlerFunc(page.enter)))
		signIn = page
	} else {
		pages, err := signin.New(ctx, signin.Config{BaseURL: origin, Store: store, Users: users.Host{Users: table},
			Revoker: tokens})
		if err != nil {
			return nil, err
		}
		pages.Mount(mux)
		signIn, consent = pages, pages
	}
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: signIn, Consent: consent, Users: table})
	if err != nil {
		return nil, err
	}
	provider.Mount(mux)
	s := &service{Handler: mux, tokens: tokens}
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the service's own page") })
	mux.HandleFunc("GET /salary", s.salary)
	return s, nil
}

// salary is an API of the service's own. An application calls it for a user who has let
// it in; Verify makes no storage call.
func (s *service) salary(w http.ResponseWriter, r *http.Request) {
	bearer, _ := strings.CutPrefix(r.Header.Get("Authorization"), "Bearer ")
	caller, err := s.tokens.Verify(r.Context(), bearer)
	switch {
	case errors.Is(err, oauth.ErrInvalidToken) || err == nil && caller.UserID == "":
		w.Header().Set("WWW-Authenticate", `Bearer error="invalid_token"`)
		http.Error(w, "a user's access token is needed", http.StatusUnauthorized)
		return
	case err != nil: // whether it is revoked is not known now
		http.Error(w, "try again later", http.StatusServiceUnavailable)
		return
	}
	fmt.Fprintf(w, "%s earns 1000 a month, and %s may know\n", caller.UserID, caller.AppID)
}
