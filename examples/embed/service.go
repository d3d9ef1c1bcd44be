package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/keystile/keystile"
	"github.com/keystile/keystile/oauth"
	"github.com/keystile/keystile/oauth/signin/users"
	"github.com/keystile/keystile/storage"
)

// service is the host: its own pages, with Keystile among them.
type service struct {
	http.Handler
	tokens *oauth.Tokens
	close  func(context.Context) error
}

// newService assembles it, with all of Keystile, or with ownPage the provider alone, for users who sign in on the
// service's page. Either way they are the service's own users.
func newService(ctx context.Context, origin string, store *storage.Store, ownPage bool) (*service, error) {
	table, err := newUserTable(ctx)
	if err != nil {
		return nil, err
	}
	if ownPage {
		return withProvider(ctx, origin, store, table)
	}
	k, err := keystile.New(ctx, keystile.Config{BaseURL: origin, Store: store, Users: users.Host{Users: table}})
	if err != nil {
		return nil, err
	}
	s := &service{Handler: k, tokens: k.Tokens, close: k.Close}
	k.Handle("/", http.HandlerFunc(home))
	k.Handle("/salary", http.HandlerFunc(s.salary))
	return s, nil
}

func withProvider(ctx context.Context, origin string, store *storage.Store, table *userTable) (*service, error) {
	tokens, err := oauth.OpenTokens(ctx, oauth.TokensConfig{BaseURL: origin, Store: store})
	if err != nil {
		return nil, err
	}
	page := newSignInPage(table, origin)
	provider, err := oauth.New(ctx, oauth.Config{Tokens: tokens, SignIn: page, Users: table})
	if err != nil {
		return nil, errors.Join(err, tokens.Close(ctx))
	}
	mux := http.NewServeMux()
	provider.Mount(mux)
	s := &service{Handler: mux, tokens: tokens, close: func(ctx context.Context) error {
		return errors.Join(provider.Close(ctx), tokens.Close(ctx))
	}}
	mux.Handle("POST /entrance", http.NewCrossOriginProtection().Handler(http.HandlerFunc(page.enter)))
	mux.HandleFunc("GET /{$}", home)
	mux.HandleFunc("GET /salary", s.salary)
	return s, nil
}

func home(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "the service's own page") }

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
