package vendordocs

import (
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"sync"
	"testing"
	"time"
)

// KeyID is the kid of ChatGPT's key.
const KeyID = "cimd-20260428030119"

var signingKey = sync.OnceValues(func() (*rsa.PrivateKey, error) { return rsa.GenerateKey(rand.Reader, 2048) })

func key(t testing.TB) *rsa.PrivateKey {
	t.Helper()
	k, err := signingKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// KeySet returns the JSON Web Key Set of ChatGPT.
func KeySet(t testing.TB) string {
	t.Helper()
	k := key(t)
	return text(t, map[string]any{"keys": []any{map[string]any{
		"kty": "RSA", "use": "sig", "alg": "RS256", "kid": KeyID,
		"n": encode(k.N.Bytes()), "e": encode(big.NewInt(int64(k.E)).Bytes()),
	}}})
}

// Assertion returns a client_assertion as ChatGPT signs it (RFC 7523), for an audience. change may be nil.
func Assertion(t testing.TB, clientID, audience string, change func(head, claims map[string]any)) string {
	t.Helper()
	now := time.Now()
	head := map[string]any{"alg": "RS256", "typ": "JWT", "kid": KeyID}
	claims := map[string]any{
		"iss": clientID, "sub": clientID, "aud": audience, "jti": rand.Text(), "iat": now.Unix(),
		"exp": now.Add(time.Minute).Unix(),
	}
	if change != nil {
		change(head, claims)
	}
	signed := encode([]byte(text(t, head))) + "." + encode([]byte(text(t, claims)))
	sum := sha256.Sum256([]byte(signed))
	signature, err := key(t).Sign(rand.Reader, sum[:], crypto.SHA256)
	if err != nil {
		t.Fatal(err)
	}
	return signed + "." + encode(signature)
}

func encode(raw []byte) string { return base64.RawURLEncoding.EncodeToString(raw) }

func text(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(raw)
}
