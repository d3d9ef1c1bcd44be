package rp

import (
	"context"
	"net/http"
	"net/url"
	"testing"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/markbates/goth"
	"github.com/markbates/goth/providers/openidConnect"
	"github.com/zitadel/oidc/v3/pkg/client/rp"
	zitadel "github.com/zitadel/oidc/v3/pkg/oidc"
	"golang.org/x/oauth2"

	"github.com/keystile/keystile/internal/test/campaigns/agents"
	"github.com/keystile/keystile/storage"
)

const callback = "https://app.example.com/cb"

// begin returns a service and an application of it whose id_tokens are signed as the defaults of these libraries
// want.
func begin(t *testing.T, alg string) (*agents.Site, storage.App) {
	t.Helper()
	site := agents.StartTLS(t)
	return site, site.App(t, storage.App{Domains: []string{"app.example.com"}, IDTokenAlg: alg})
}

// visit has somebody sign in, and returns what comes back to the application.
func visit(t *testing.T, person *agents.Person, address, state string) url.Values {
	t.Helper()
	back, err := person.Visit(address)
	if err != nil {
		t.Fatal(err)
	}
	to, err := url.Parse(back)
	if err != nil || to.Query().Get("state") != state {
		t.Fatalf("the browser is sent to %s", back)
	}
	return to.Query()
}

func TestXOAuth2(t *testing.T) {
	site, app := begin(t, "")
	ctx := context.WithValue(t.Context(), oauth2.HTTPClient, site.Client())
	config := oauth2.Config{ClientID: app.ID, ClientSecret: app.AppKey().Reveal(), RedirectURL: callback,
		Scopes:   []string{"openid", "email"},
		Endpoint: oauth2.Endpoint{AuthURL: site.URL + "/oauth/authorize", TokenURL: site.URL + "/oauth/token"}}
	verifier := oauth2.GenerateVerifier()
	back := visit(t, site.Person(), config.AuthCodeURL("a state", oauth2.S256ChallengeOption(verifier)), "a state")
	token, err := config.Exchange(ctx, back.Get("code"), oauth2.VerifierOption(verifier))
	if err != nil || !token.Valid() {
		t.Fatalf("Exchange = %v, %v", token, err)
	}
	answer, err := config.Client(ctx, token).Get(site.URL + "/oauth/userinfo")
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("userinfo = %v, %v", answer, err)
	}
	answer.Body.Close()
	old := *token
	old.Expiry = time.Now().Add(-time.Hour)
	if next, err := config.TokenSource(ctx, &old).Token(); err != nil || next.AccessToken == token.AccessToken {
		t.Errorf("refresh = %v, %v", next, err)
	}
}

func TestCoreosGoOIDC(t *testing.T) {
	site, app := begin(t, "RS256")
	ctx := oidc.ClientContext(t.Context(), site.Client())
	provider, err := oidc.NewProvider(ctx, site.URL)
	if err != nil {
		t.Fatal(err)
	}
	config := oauth2.Config{ClientID: app.ID, ClientSecret: app.AppKey().Reveal(), RedirectURL: callback,
		Endpoint: provider.Endpoint(), Scopes: []string{oidc.ScopeOpenID, "profile", "email"}}
	back := visit(t, site.Person(), config.AuthCodeURL("a state", oidc.Nonce("a nonce")), "a state")
	token, err := config.Exchange(ctx, back.Get("code"))
	if err != nil {
		t.Fatal(err)
	}
	raw, _ := token.Extra("id_token").(string)
	verified, err := provider.Verifier(&oidc.Config{ClientID: app.ID}).Verify(ctx, raw)
	if err != nil || verified.Subject != site.Sub || verified.Nonce != "a nonce" {
		t.Fatalf("id_token = %+v, %v", verified, err)
	}
	if err := verified.VerifyAccessToken(token.AccessToken); err != nil {
		t.Error(err)
	}
	info, err := provider.UserInfo(ctx, oauth2.StaticTokenSource(token))
	if err != nil || info.Subject != site.Sub || info.Email != agents.Email || !info.EmailVerified {
		t.Errorf("userinfo = %+v, %v", info, err)
	}
}

func TestZitadelRP(t *testing.T) {
	site, app := begin(t, "RS256")
	ctx := t.Context()
	party, err := rp.NewRelyingPartyOIDC(ctx, site.URL, app.ID, app.AppKey().Reveal(), callback,
		[]string{"openid", "profile", "email", "offline_access"}, rp.WithHTTPClient(site.Client()))
	if err != nil {
		t.Fatal(err)
	}
	person := site.Person()
	back := visit(t, person, rp.AuthURL("a state", party), "a state")
	tokens, err := rp.CodeExchange[*zitadel.IDTokenClaims](ctx, back.Get("code"), party)
	if err != nil || tokens.IDTokenClaims.Subject != site.Sub {
		t.Fatalf("CodeExchange = %+v, %v", tokens, err)
	}
	info, err := rp.Userinfo[*zitadel.UserInfo](ctx, tokens.AccessToken, tokens.TokenType, site.Sub, party)
	if err != nil || info.Email != agents.Email {
		t.Errorf("Userinfo = %+v, %v", info, err)
	}
	next, err := rp.RefreshTokens[*zitadel.IDTokenClaims](ctx, party, tokens.RefreshToken, "", "")
	if err != nil || next.AccessToken == tokens.AccessToken {
		t.Fatalf("RefreshTokens = %+v, %v", next, err)
	}
	if err := rp.RevokeToken(ctx, party, next.RefreshToken, "refresh_token"); err != nil {
		t.Errorf("RevokeToken = %v", err)
	}
	if again, err := rp.RefreshTokens[*zitadel.IDTokenClaims](ctx, party, next.RefreshToken, "", ""); err == nil {
		t.Errorf("what was revoked is refreshed: %+v", again)
	}
	if device, err := rp.DeviceAuthorization(ctx, []string{"openid"}, party, nil); err != nil || device.UserCode == "" {
		t.Errorf("DeviceAuthorization = %+v, %v", device, err)
	}
	if own, err := rp.ClientCredentials(ctx, party, nil); err != nil || own.AccessToken == "" {
		t.Errorf("ClientCredentials = %+v, %v", own, err)
	}
	out, err := rp.EndSession(ctx, party, tokens.IDToken, callback, "", "", nil)
	if err != nil || out.String() != callback {
		t.Errorf("EndSession = %v, %v", out, err)
	}
}

func TestGoth(t *testing.T) {
	site, app := begin(t, "")
	http.DefaultClient.Transport = site.Client().Transport // for the discovery, which takes no other
	t.Cleanup(func() { http.DefaultClient.Transport = nil })
	discovery := site.URL + "/.well-known/openid-configuration"
	provider, err := openidConnect.New(app.ID, app.AppKey().Reveal(), callback, discovery, "profile", "email")
	if err != nil {
		t.Fatal(err)
	}
	session, err := provider.BeginAuth("a state")
	if err != nil {
		t.Fatal(err)
	}
	address, err := session.GetAuthURL()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := session.Authorize(provider, visit(t, site.Person(), address, "a state")); err != nil {
		t.Fatal(err)
	}
	var user goth.User
	if user, err = provider.FetchUser(session); err != nil || user.UserID != site.Sub || user.Email != agents.Email {
		t.Fatalf("FetchUser = %+v, %v", user, err)
	}
	if next, err := provider.RefreshToken(user.RefreshToken); err != nil || next.AccessToken == user.AccessToken {
		t.Errorf("RefreshToken = %+v, %v", next, err)
	}
}
