// Package proofs makes proofs of keys (DPoP, RFC 9449), good ones and such as must be refused.
package proofs

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"math/big"
	"net/http"
	"time"
)

// Key is the key of a client.
type Key struct {
	Alg     string
	Private crypto.Signer
	JWK     map[string]any // the public one
}

// NewKey draws a key for ES256, EdDSA, RS256 or PS256.
func NewKey(alg string) *Key {
	k := &Key{Alg: alg}
	switch alg {
	case "ES256":
		private, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		point, _ := private.PublicKey.Bytes()
		k.Private, k.JWK = private, map[string]any{"kty": "EC", "crv": "P-256", "x": B64(point[1:33]), "y": B64(point[33:])}
	case "EdDSA":
		public, private, _ := ed25519.GenerateKey(rand.Reader)
		k.Private, k.JWK = private, map[string]any{"kty": "OKP", "crv": "Ed25519", "x": B64(public)}
	default:
		private, _ := rsa.GenerateKey(rand.Reader, 2048)
		k.Private, k.JWK = private, map[string]any{"kty": "RSA", "n": B64(private.N.Bytes()),
			"e": B64(big.NewInt(int64(private.E)).Bytes())}
	}
	return k
}

// Thumbprint returns the RFC 7638 thumbprint of the key: its members have one order in encoding/json.
func (k *Key) Thumbprint() string {
	text, _ := json.Marshal(k.JWK)
	sum := sha256.Sum256(text)
	return B64(sum[:])
}

// Sign returns the signature of a text.
func (k *Key) Sign(text string) []byte {
	sum := sha256.Sum256([]byte(text))
	switch private := k.Private.(type) {
	case *ecdsa.PrivateKey:
		r, s, _ := ecdsa.Sign(rand.Reader, private, sum[:])
		return append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)
	case ed25519.PrivateKey:
		return ed25519.Sign(private, []byte(text))
	case *rsa.PrivateKey:
		if k.Alg == "PS256" {
			signature, _ := rsa.SignPSS(rand.Reader, private, crypto.SHA256, sum[:],
				&rsa.PSSOptions{SaltLength: rsa.PSSSaltLengthEqualsHash})
			return signature
		}
		signature, _ := rsa.SignPKCS1v15(nil, private, crypto.SHA256, sum[:])
		return signature
	}
	return nil
}

// Proof holds what a proof says. A member of Head or Claims that is nil is left out.
type Proof struct {
	Head, Claims map[string]any
	Signature    []byte // nil: that of the key
}

// New returns a good proof of a request with an access token, which is "" at the token endpoint.
func (k *Key) New(method, address, nonce, access string) *Proof {
	p := &Proof{
		Head:   map[string]any{"typ": "dpop+jwt", "alg": k.Alg, "jwk": k.JWK},
		Claims: map[string]any{"jti": rand.Text(), "htm": method, "htu": address, "iat": time.Now().Unix()},
	}
	if nonce != "" {
		p.Claims["nonce"] = nonce
	}
	if access != "" {
		sum := sha256.Sum256([]byte(access))
		p.Claims["ath"] = B64(sum[:])
	}
	return p
}

// Text writes a proof that the key signs.
func (p *Proof) Text(k *Key) string {
	return Seal(k, Object(p.Head), Object(p.Claims), p.Signature)
}

// Seal writes a proof of a header and claims as they are.
func Seal(k *Key, head, claims string, signature []byte) string {
	text := B64([]byte(head)) + "." + B64([]byte(claims))
	if signature == nil {
		signature = k.Sign(text)
	}
	return text + "." + B64(signature)
}

// Object writes an object without its members that are nil.
func Object(o map[string]any) string {
	all := map[string]any{}
	for name, value := range o {
		if value != nil {
			all[name] = value
		}
	}
	text, _ := json.Marshal(all)
	return string(text)
}

// B64 writes bytes in base64url.
func B64(b []byte) string { return base64.RawURLEncoding.EncodeToString(b) }

// Send sends a request with a proof by the key, and once more with the nonce that it is told to use. The body of the
// answer is the caller's to close.
func (k *Key) Send(do func(*http.Request) *http.Response, make func() *http.Request, access string) *http.Response {
	nonce := ""
	for {
		r := make()
		r.Header.Set("DPoP", k.New(r.Method, "http://"+r.Host+r.URL.Path, nonce, access).Text(k))
		if access != "" {
			r.Header.Set("Authorization", "DPoP "+access)
		}
		resp := do(r)
		next := resp.Header.Get("DPoP-Nonce")
		if nonce != "" || next == "" || resp.StatusCode < 400 {
			return resp
		}
		nonce = next
		resp.Body.Close()
	}
}
