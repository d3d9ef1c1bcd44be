package dpop

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/sha256"
	"math/big"
	"slices"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/internal/token"
)

// maxModulus bounds an RSA key, in bits: a longer one takes long to check, and anybody may send one.
const maxModulus = 4096

// head holds what the header of a proof says.
type head struct {
	alg        string
	public     crypto.PublicKey
	thumbprint string // RFC 7638, as cnf.jkt has it
}

// readHead reads the header of a proof (RFC 9449 4.2). Parameters that are not known here are refused, with crit and
// everything that names a key elsewhere.
func readHead(text []byte) (h head, err error) {
	o, err := readObject(text)
	if err != nil {
		return h, wrong("has a header that " + err.Error())
	}
	for name := range o {
		if !slices.Contains([]string{"typ", "alg", "jwk", "kid"}, name) {
			return h, wrong("has a header with more than typ, alg and jwk")
		}
	}
	var there bool
	if typ, _ := o.text("typ"); typ != "dpop+jwt" {
		return h, wrong("is not of the type dpop+jwt")
	}
	if h.alg, there = o.text("alg"); h.alg == "Ed25519" { // RFC 9864, as newer libraries write it
		h.alg = token.EdDSA
	}
	if !there || !slices.Contains(Algs(), h.alg) {
		return h, wrong("is not signed by ES256, EdDSA, RS256 or PS256")
	}
	jwk := o["jwk"]
	if len(jwk) == 0 || jwk[0] != '{' {
		return h, wrong("has no key in its header: send the public key as jwk")
	}
	for name := range rawjson.Members(jwk) {
		if slices.Contains([]string{"d", "p", "q", "dp", "dq", "qi", "oth", "k"}, string(name)) {
			return h, wrong("has a private key in its header: it is known to others now, so make another one")
		}
	}
	key, err := token.ReadPublicKey(jwk)
	if err != nil || !slices.Contains(key.Algs, h.alg) {
		return h, wrong("has a key in its header that is none of its algorithm")
	}
	if r, is := key.Public.(*rsa.PublicKey); is && r.N.BitLen() > maxModulus {
		return h, wrong("has an RSA key of more than 4096 bits")
	}
	h.public, h.thumbprint = key.Public, key.Thumbprint
	return h, nil
}

// verifies reports whether a signature of the key is one of a text.
func (h head) verifies(text string, signature []byte) bool {
	if public, is := h.public.(ed25519.PublicKey); is {
		return ed25519.Verify(public, []byte(text), signature)
	}
	sum := sha256.Sum256([]byte(text))
	switch public := h.public.(type) {
	case *ecdsa.PublicKey:
		return len(signature) == 64 && ecdsa.Verify(public, sum[:], new(big.Int).SetBytes(signature[:32]),
			new(big.Int).SetBytes(signature[32:]))
	case *rsa.PublicKey:
		if h.alg == token.RS256 {
			return rsa.VerifyPKCS1v15(public, crypto.SHA256, sum[:], signature) == nil
		}
		return rsa.VerifyPSS(public, crypto.SHA256, sum[:], signature,
			&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash}) == nil
	}
	return false
}
