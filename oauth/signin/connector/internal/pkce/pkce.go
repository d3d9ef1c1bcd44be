// Package pkce derives what one visit to a provider must prove from its state.
//
// # Choices
//
// Nothing is stored between the departure of a browser and its return, which another node may see.
// So the verifier of PKCE (RFC 7636) and the nonce of OpenID Connect are a keyed hash of the state:
// an attacker who sees the state, the challenge and the nonce, which pass through the browser,
// cannot compute the verifier without the client secret, and each visit has different ones because
// its state is drawn anew. Every node has the same client secret. A thief of that secret could
// redeem codes anyway; PKCE keeps its other promise even then: a code of one visit is worth nothing
// in another.
package pkce

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"strings"

	"github.com/keystile/keystile/storage"
)

// Deriver derives the secrets of visits.
type Deriver struct{ verifiers, nonces []byte }

// New makes a Deriver from a client secret. The context names the provider and the application: one
// secret at two providers gives two Derivers that have nothing in common.
func New(secret storage.Secret, context ...string) Deriver {
	info := strings.Join(context, "\x00")
	return Deriver{key(secret, "keystile pkce verifier\x00"+info), key(secret, "keystile oidc nonce\x00"+info)}
}

func key(secret storage.Secret, info string) []byte {
	out, err := hkdf.Key(sha256.New, []byte(secret.Reveal()), nil, info, sha256.Size)
	if err != nil {
		panic(err) // the length is within bounds
	}
	return out
}

// Verifier returns the code_verifier of a visit: 43 characters.
func (d Deriver) Verifier(state string) string { return derive(d.verifiers, state) }

// Nonce returns the nonce of a visit.
func (d Deriver) Nonce(state string) string { return derive(d.nonces, state) }

func derive(key []byte, state string) string {
	h := hmac.New(sha256.New, key)
	h.Write([]byte(state))
	return base64.RawURLEncoding.EncodeToString(h.Sum(nil))
}

// Challenge returns the code_challenge of a verifier by the method S256.
func Challenge(verifier string) string {
	sum := sha256.Sum256([]byte(verifier))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
