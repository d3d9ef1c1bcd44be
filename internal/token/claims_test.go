package token

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestAccessTokenHasExactlyTheseClaims(t *testing.T) {
	at := time.Date(2026, 8, 1, 12, 0, 0, 999, time.UTC)
	c := Claims{
		Issuer: issuer, Subject: "u1", Audience: "https://id.example/api/mcp", ClientID: "app1", Scope: "openid email",
		ID: "j1", Grant: "g1", IssuedAt: at, ExpiresAt: at.Add(week),
	}
	want := `{"iss":"https://id.example","sub":"u1","aud":"https://id.example/api/mcp","client_id":"app1",` +
		`"scope":"openid email","jti":"j1","gid":"g1","iat":1785585600,"exp":1786190400}`
	if got := string(c.append(nil)); got != want {
		t.Errorf("claims = %s, want %s", got, want)
	}
}

func TestSignRefusesWhatVerifyWouldRefuse(t *testing.T) {
	v, _ := verifier(t, ES256)
	for name, change := range map[string]func(*Claims){
		"no issuer":               func(c *Claims) { c.Issuer = "" },
		"no subject":              func(c *Claims) { c.Subject = "" },
		"no audience":             func(c *Claims) { c.Audience = "" },
		"no client":               func(c *Claims) { c.ClientID = "" },
		"no jti":                  func(c *Claims) { c.ID = "" },
		"no grant":                func(c *Claims) { c.Grant = "" },
		"a grant without time":    func(c *Claims) { c.Grant = "g1" },
		"a subject not UTF-8":     func(c *Claims) { c.Subject = "u\xff" },
		"a scope not UTF-8":       func(c *Claims) { c.Scope = "\xff" },
		"expires when it begins":  func(c *Claims) { c.ExpiresAt = c.IssuedAt },
		"expires within a second": func(c *Claims) { c.IssuedAt = time.Unix(9, 0); c.ExpiresAt = time.Unix(9, 5e8) },
		"longer than a bearer":    func(c *Claims) { c.Scope = strings.Repeat("x ", 4<<10) },
	} {
		c := genuine()
		change(&c)
		if token, err := v.keys.SignAccess(c); err == nil {
			t.Errorf("SignAccess(%s) = %s, want an error", name, token)
		}
	}
}

func TestLongestTokenStillWorks(t *testing.T) {
	v, _ := verifier(t, ES256)
	size := len(mint(t, v.keys, func(c *Claims) { c.Scope = "" }))
	bearer := mint(t, v.keys, func(c *Claims) { c.Scope = strings.Repeat("x", (maxToken-size)/4*3) })
	if len(bearer) < maxToken-4 {
		t.Fatalf("the token has %d bytes, want close to %d", len(bearer), maxToken)
	}
	if _, err := v.Verify(t.Context(), bearer); err != nil {
		t.Errorf("Verify(token of %d bytes) = %v, want no error", len(bearer), err)
	}
}

func TestApplicationsOwnTokenHasNoUser(t *testing.T) {
	v, _ := verifier(t, ES256)
	bearer := mint(t, v.keys, func(c *Claims) { c.Subject = c.ClientID })
	if caller, err := v.Verify(t.Context(), bearer); err != nil || caller.UserID != "" || caller.AppID != "app1" {
		t.Errorf("Verify() = %+v, %v, want app1 and no user", caller, err)
	}
	stop := driver.Revocation{Kind: driver.RevokeUser, ID: "", Before: time.Now().Add(week)}
	if err := v.revoked.Revoke(t.Context(), stop); err != nil {
		t.Fatal(err)
	}
	if _, err := v.Verify(t.Context(), bearer); err != nil {
		t.Errorf("after a revocation of the user %q Verify() = %v, want no error", "", err)
	}
}
