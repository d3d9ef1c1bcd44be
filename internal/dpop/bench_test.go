package dpop

import (
	"crypto/ecdsa"
	"crypto/sha256"
	"math/big"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/keystile/keystile/internal/test/proofs"
)

// BenchmarkCheck compares the whole check of a request with the bare verification of its signature.
func BenchmarkCheck(b *testing.B) {
	for _, alg := range Algs() {
		key := proofs.NewKey(alg)
		f := newFixed(key)
		nonce, err := f.call("POST", origin+"/api/mcp", "DPoP "+access,
			key.New("POST", origin+"/api/mcp", "", access).Text(key))
		if Refused(err) == nil {
			b.Fatal(err)
		}
		if public, is := key.Private.Public().(*ecdsa.PublicKey); is {
			b.Run("floor: "+alg+" alone", func(b *testing.B) {
				sum := sha256.Sum256([]byte("x"))
				signature := key.Sign("x")
				for b.Loop() {
					if !ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]), new(big.Int).SetBytes(signature[32:])) {
						b.Fatal("not verified")
					}
				}
			})
		}
		b.Run(alg, func(b *testing.B) {
			requests := make([]*http.Request, b.N)
			for i := range requests {
				r := httptest.NewRequest("POST", origin+"/api/mcp", nil)
				r.Header.Set("Authorization", "DPoP "+access)
				r.Header.Set("DPoP", key.New("POST", origin+"/api/mcp", nonce, access).Text(key))
				requests[i] = r
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, r := range requests {
				c, err := Read(http.Header{}, r)
				if err != nil {
					b.Fatal(err)
				}
				if _, err = c.Verify(r.Context(), f); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
