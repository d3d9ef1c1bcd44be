package peers

import (
	"testing"

	"github.com/coreos/go-oidc/v3/oidc"
	"golang.org/x/oauth2"

	"github.com/keystile/keystile/storage"
)

// go-oidc refuses HS256, so the applications ask for a server key. It learns everything
// from discovery.
func TestGoOIDCVerifiesTheIDTokenOfAnApplicationThatAsksForAServerKey(t *testing.T) {
	for _, alg := range []string{"ES256", "RS256"} {
		t.Run(alg, func(t *testing.T) {
			h := newFixture(t, "HS256", alg)
			app := h.register(t, storage.App{IDTokenAlg: alg})
			provider, err := oidc.NewProvider(t.Context(), h.url)
			if err != nil {
				t.Fatal(err)
			}
			config := oauth2.Config{ClientID: app.ID, ClientSecret: app.AppKey().Reveal(), RedirectURL: redirect,
				Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile"}}
			back := visit(t, config.AuthCodeURL("s", oidc.Nonce("n-0S6_WzA2Mj")))
			tokens, err := config.Exchange(t.Context(), back.Query().Get("code"))
			if err != nil {
				t.Fatal(err)
			}
			raw, _ := tokens.Extra("id_token").(string)
			id, err := provider.Verifier(&oidc.Config{ClientID: app.ID}).Verify(t.Context(), raw)
			if err != nil {
				t.Fatalf("Verify(id_token) = %v", err)
			}
			if err := id.VerifyAccessToken(tokens.AccessToken); err != nil || id.Nonce != "n-0S6_WzA2Mj" {
				t.Errorf("at_hash: %v, nonce %q", err, id.Nonce)
			}
			info, err := provider.UserInfo(t.Context(), oauth2.StaticTokenSource(tokens))
			if err != nil || info.Subject != id.Subject {
				t.Errorf("UserInfo = %v, %v, want the subject of the id_token", info, err)
			}
		})
	}
}
