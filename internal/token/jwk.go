package token

import "errors"

// PublicKey is a key that was sent as a JSON Web Key.
type PublicKey struct {
	Public     any
	Algs       []string // that it may be used with
	Thumbprint string   // RFC 7638
}

// ReadPublicKey reads a JSON Web Key that verifies signatures by ES256, EdDSA, RS256 or PS256. It fails for a private
// one.
func ReadPublicKey(jwk []byte) (PublicKey, error) {
	k, ok := readClientKey(jwk)
	if !ok {
		return PublicKey{}, errors.New("token: no public key for RS256, PS256, ES256 or EdDSA")
	}
	_, canonical, err := describe(k.public)
	return PublicKey{Public: k.public, Algs: k.algs, Thumbprint: thumbprint(canonical)}, err
}
