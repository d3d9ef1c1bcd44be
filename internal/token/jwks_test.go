package token

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestJWKSHoldsPublicPartsOnly(t *testing.T) {
	v, _ := verifier(t, ES256, EdDSA, RS256)
	body := v.keys.JWKS().Body()
	var set struct{ Keys []map[string]string }
	if err := json.Unmarshal(body, &set); err != nil {
		t.Fatalf("JWKS() = %s: %v", body, err)
	}
	want := map[string]string{
		ES256: "alg crv kid kty use x y",
		EdDSA: "alg crv kid kty use x",
		RS256: "alg e kid kty n use",
	}
	for _, k := range set.Keys {
		if got := strings.Join(slices.Sorted(maps.Keys(k)), " "); got != want[k["alg"]] || k["use"] != "sig" {
			t.Errorf("JWKS() has a %s key with %s (use %s), want %s (use sig)", k["alg"], got, k["use"], want[k["alg"]])
		}
	}
	if len(set.Keys) != 6 {
		t.Errorf("JWKS() has %d keys, want 6", len(set.Keys))
	}
}

func TestJWKSHasAStableOrder(t *testing.T) {
	now := time.Now()
	at := func(k storage.SigningKey, state string, made, ends time.Duration) storage.SigningKey {
		k.State, k.CreatedAt = state, now.Add(made)
		if ends != 0 {
			k.ExpiresAt = now.Add(ends)
		}
		return k
	}
	k := make([]storage.SigningKey, 7)
	for i := range k {
		k[i] = newKey(t, ES256, storage.KeyActive)
	}
	want := []storage.SigningKey{
		at(k[0], storage.KeyActive, 2, 0),
		at(k[1], storage.KeyActive, 1, 0),
		at(k[2], storage.KeyNext, 3, 0),
		at(k[3], storage.KeyRetired, 5, time.Hour),
		at(k[4], storage.KeyRetired, 4, 0),
	}
	past := at(k[5], storage.KeyRetired, 9, -time.Hour)
	store := &fakeStore{keys: append(slices.Clone(want), past)}
	keys, err := OpenKeys(t.Context(), store, ES256)
	if err != nil {
		t.Fatalf("OpenKeys() = %v, want no error", err)
	}
	body, etag := keys.JWKS().Body(), keys.JWKS().ETag()
	for i, id := range kids(t, body) {
		if i >= len(want) || id != want[i].ID {
			t.Fatalf("JWKS() = %v, want active, next and retired keys, the newest first", kids(t, body))
		}
	}
	if got := header(t, mint(t, keys, nil))["kid"]; got != want[0].ID {
		t.Errorf("of two active keys %s signs, want the newer one", got)
	}
	slices.Reverse(store.keys)
	if err := keys.Reload(t.Context()); err != nil {
		t.Fatal(err)
	}
	again, same := keys.JWKS().Body(), keys.JWKS().ETag()
	if string(again) != string(body) || same != etag {
		t.Errorf("JWKS() of the same keys in another order = other bytes, want the same")
	}
	if len(etag) < 4 || etag[0] != '"' || etag[len(etag)-1] != '"' {
		t.Errorf("etag = %s, want a strong one in quotes (RFC 9110 8.8.3)", etag)
	}
}
