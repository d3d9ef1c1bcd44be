package token

import (
	"errors"
	"testing"

	"github.com/keystile/keystile/internal/test/forgery"
)

func TestForgedTokensAreRefused(t *testing.T) {
	for _, algs := range [][]string{{ES256, EdDSA}, {EdDSA}, {RS256}} {
		t.Run(algs[0], func(t *testing.T) {
			v, store := verifier(t, algs...)
			service := forgery.Service{Keys: store.keys, Issuer: issuer, ClientID: "app1", Sub: "u1"}
			if _, err := v.Verify(t.Context(), forgery.Genuine(t, service)); err != nil {
				t.Fatalf("Verify(genuine) = %v, want no error", err)
			}
			for _, f := range forgery.All(t, service) {
				if caller, err := v.Verify(t.Context(), f.Token); !errors.Is(err, ErrInvalid) {
					t.Errorf("Verify(%s) = %+v, %v, want ErrInvalid", f.Name, caller, err)
				}
			}
			if n := remembered(v); n != 1 {
				t.Errorf("%d tokens are remembered, want the genuine one only", n)
			}
		})
	}
}

func remembered(v *Verifier) int { return v.cache.Len() }
