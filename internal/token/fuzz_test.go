package token

import (
	"bytes"
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/storage"
)

// fixed opens a verifier whose key and tokens are the same in every process of a fuzz run.
func fixed(f *testing.F) (*Verifier, forgery.Service, []string) {
	f.Helper()
	k := record(f, EdDSA, ed25519.NewKeyFromSeed(bytes.Repeat([]byte{7}, 32)))
	keys, err := OpenKeys(f.Context(), &fakeStore{keys: []storage.SigningKey{k}}, EdDSA)
	if err != nil {
		f.Fatalf("OpenKeys() = %v, want no error", err)
	}
	v := NewVerifier(VerifierConfig{Issuer: issuer, Keys: keys, Revoked: opened(f, &wire{})})
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	var ours []string
	for _, sub := range []string{"u1", "app1", "密钥"} {
		ours = append(ours, mint(f, keys, func(c *Claims) {
			c.Subject, c.IssuedAt, c.ExpiresAt = sub, at, at.AddDate(100, 0, 0)
			c.Grant = "GDjnTMqQAAAAAAAAAAAAAAAAAAAAAAAA"
		}))
	}
	return v, forgery.Service{Keys: []storage.SigningKey{k}, Issuer: issuer, ClientID: "app1", Sub: "u1"}, ours
}

func FuzzVerify(f *testing.F) {
	v, service, ours := fixed(f)
	for _, token := range ours {
		f.Add(token)
	}
	for _, forged := range forgery.All(f, service) {
		if len(forged.Token) <= maxToken {
			f.Add(forged.Token)
		}
	}
	f.Fuzz(func(t *testing.T, bearer string) {
		caller, err := v.Verify(t.Context(), bearer)
		switch {
		case err == nil && !slices.Contains(ours, bearer):
			t.Errorf("Verify(%q) = %+v, want ErrInvalid: we did not sign these bytes", bearer, caller)
		case err != nil && (!errors.Is(err, ErrInvalid) || !reflect.DeepEqual(caller, storage.Caller{})):
			t.Errorf("Verify(%q) = %+v, %v, want ErrInvalid alone", bearer, caller, err)
		}
	})
}

// FuzzTwoReadersAgree signs anything: whatever Verify then accepts, a reader that knows
// JSON less well must read as the same token.
func FuzzTwoReadersAgree(f *testing.F) {
	v, service, ours := fixed(f)
	for _, forged := range forgery.All(f, service) {
		ours = append(ours, forged.Token)
	}
	for _, token := range ours {
		parts := strings.Split(token, ".")
		if len(parts) != 3 || len(token) > maxToken {
			continue
		}
		if claims, err := base64.RawURLEncoding.DecodeString(parts[1]); err == nil {
			f.Add(claims)
		}
	}
	f.Fuzz(func(t *testing.T, claims []byte) {
		token, err := v.keys.Sign("", TypeAccess, claims)
		if err != nil {
			t.Fatal(err)
		}
		caller, err := v.Verify(t.Context(), token)
		if err != nil {
			return
		}
		var lenient struct {
			Sub, Scope, JTI, GID string
			ClientID             string `json:"client_id"`
			Exp                  float64
		}
		if err := json.Unmarshal(claims, &lenient); err != nil {
			t.Fatalf("Verify accepts %s, encoding/json does not: %v", claims, err)
		}
		if lenient.Sub == lenient.ClientID {
			lenient.Sub = ""
		}
		if caller.UserID != lenient.Sub || caller.AppID != lenient.ClientID || caller.Scope != lenient.Scope ||
			caller.TokenID != lenient.JTI || caller.Grant != lenient.GID || caller.ExpiresAt.Unix() != int64(lenient.Exp) {
			t.Errorf("%s reads as %+v here and as %+v elsewhere", claims, caller, lenient)
		}
	})
}
