package vendordocs

import (
	"math/big"
	"testing"
)

// PrivateKey returns the key of Assertion as a JSON Web Key, for clients that sign by themselves.
func PrivateKey(t testing.TB) string {
	t.Helper()
	k := key(t)
	whole := func(n *big.Int) string { return encode(n.Bytes()) }
	return text(t, map[string]any{
		"kty": "RSA", "alg": "RS256", "kid": KeyID, "n": whole(k.N), "e": whole(big.NewInt(int64(k.E))), "d": whole(k.D),
		"p": whole(k.Primes[0]), "q": whole(k.Primes[1]), "dp": whole(k.Precomputed.Dp), "dq": whole(k.Precomputed.Dq),
		"qi": whole(k.Precomputed.Qinv),
	})
}
