// Package issuing has the access tokens of a service without its provider: for tests of packages whose importers must
// not pay for what the provider imports.
package issuing

import (
	"cmp"
	"context"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// Tokens issues, verifies and revokes, as *oauth.Tokens does on the same store.
type Tokens struct {
	*token.Verifier
	origin    string
	keys      *token.Keys
	revoked   *token.Revoked
	resources []string
}

// Open reads the signing keys of a store, which it makes in an empty one, and its revocations.
func Open(t testing.TB, store *storage.Store, origin string, resources ...string) *Tokens {
	t.Helper()
	keys, err := token.OpenKeys(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	revoked, err := token.OpenRevoked(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	verifier := token.NewVerifier(token.VerifierConfig{Issuer: origin, Keys: keys, Revoked: revoked})
	return &Tokens{Verifier: verifier, origin: origin, keys: keys, revoked: revoked, resources: resources}
}

// Resources returns the audiences besides the service itself.
func (k *Tokens) Resources() []string { return k.resources }

// Revoke returns once no token that it covers is accepted.
func (k *Tokens) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	return k.revoked.Revoke(ctx, rs...)
}

// Machine returns a token of an application itself, for a resource, "" being the service.
func (k *Tokens) Machine(t testing.TB, app storage.App, resource string) string {
	t.Helper()
	now := time.Now()
	text, err := k.keys.SignAccess(token.Claims{
		Issuer: k.origin, Subject: app.ID, Audience: cmp.Or(resource, k.origin), ClientID: app.ID, Scope: "app",
		ID: handle.NewGrant(now), Grant: handle.NewGrant(now), IssuedAt: now, ExpiresAt: now.Add(168 * time.Hour),
	})
	if err != nil {
		t.Fatal(err)
	}
	return text
}
