package peers

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"

	"github.com/keystile/keystile/storage"
)

// golang.org/x/oauth2 as it comes: it tries Basic first, and need not go on with the form.
func TestXOAuth2SignsInRefreshesAndRevokes(t *testing.T) {
	h := newFixture(t)
	app := h.register(t, storage.App{})
	config := oauth2.Config{
		ClientID: app.ID, ClientSecret: app.AppKey().Reveal(), RedirectURL: redirect, Scopes: []string{"openid", "profile"},
		Endpoint: oauth2.Endpoint{AuthURL: h.url + "/oauth/authorize", TokenURL: h.url + "/oauth/token",
			AuthStyle: oauth2.AuthStyleAutoDetect},
	}
	verifier := oauth2.GenerateVerifier()
	back := visit(t, config.AuthCodeURL("the state", oauth2.S256ChallengeOption(verifier)))
	if got := back.Query(); got.Get("state") != "the state" || got.Get("own") != "1" || got.Get("iss") != h.url {
		t.Fatalf("redirected to %s, want state, own query and iss", back)
	}
	token, err := config.Exchange(t.Context(), back.Query().Get("code"), oauth2.VerifierOption(verifier))
	if err != nil {
		t.Fatal(err)
	}
	if left := time.Until(token.Expiry); token.Type() != "Bearer" || left < 604790*time.Second ||
		left > 604800*time.Second {
		t.Errorf("token of type %s expires in %v, want Bearer and 168 h", token.Type(), left)
	}
	if claims := userInfo(t, h, config.Client(t.Context(), token), 200); claims["nickname"] != "Ada" ||
		claims["user_id"] != 1.0 {
		t.Errorf("userinfo = %v, want Ada with user_id 1", claims)
	}

	old := *token
	old.Expiry = time.Now().Add(-time.Hour) // makes the library refresh
	fresh, err := config.TokenSource(t.Context(), &old).Token()
	if err != nil || fresh.RefreshToken == token.RefreshToken {
		t.Fatalf("refresh = %v, %v, want a new refresh token", fresh, err)
	}
	userInfo(t, h, config.Client(t.Context(), fresh), 200)

	answer, err := http.PostForm(h.url+"/oauth/revoke", url.Values{"token": {fresh.RefreshToken}, "client_id": {app.ID},
		"client_secret": {app.AppKey().Reveal()}})
	if err != nil || answer.StatusCode != 200 {
		t.Fatalf("revoke = %v, %v, want 200", answer, err)
	}
	fresh.Expiry = time.Now().Add(time.Hour)
	userInfo(t, h, config.Client(t.Context(), fresh), 401)
}

func TestXOAuth2GetsAnApplicationsOwnToken(t *testing.T) {
	h := newFixture(t)
	app := h.register(t, storage.App{})
	config := clientcredentials.Config{ClientID: app.ID, ClientSecret: app.AppKey().Reveal(),
		TokenURL: h.url + "/oauth/token.php"}
	token, err := config.Token(t.Context())
	if err != nil || token.RefreshToken != "" || token.Extra("scope") != "app" {
		t.Errorf("Token = %v, %v, want scope app and no refresh token", token, err)
	}
}

func TestXOAuth2UnderstandsARefusal(t *testing.T) {
	h := newFixture(t)
	app := h.register(t, storage.App{})
	config := oauth2.Config{ClientID: app.ID, ClientSecret: app.AppKey().Reveal(), RedirectURL: redirect,
		Endpoint: oauth2.Endpoint{AuthURL: h.url + "/oauth/authorize", TokenURL: h.url + "/oauth/token"}}
	_, err := config.Exchange(t.Context(), "no-such-code")
	refusal, ok := err.(*oauth2.RetrieveError)
	if !ok || refusal.ErrorCode != "invalid_grant" || !strings.Contains(string(refusal.Body), `"errcode":400`) {
		t.Errorf("Exchange of a wrong code = %v, want invalid_grant with errcode 400", err)
	}
}

func userInfo(t *testing.T, h fixture, client *http.Client, status int) (claims map[string]any) {
	t.Helper()
	answer, err := client.Get(h.url + "/oauth/userinfo")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if err := json.NewDecoder(answer.Body).Decode(&claims); err != nil || answer.StatusCode != status {
		t.Fatalf("userinfo = %d %v %v, want %d", answer.StatusCode, claims, err, status)
	}
	return claims
}
