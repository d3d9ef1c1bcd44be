package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage"
)

// Signature algorithms (RFC 7518 3.1, RFC 8037 3.1).
const (
	ES256 = "ES256"
	EdDSA = "EdDSA"
	RS256 = "RS256"
	HS256 = "HS256" // id_tokens only: no signing key has it
)

// NewKey draws a signing key for ES256, EdDSA or RS256 (2048 bits). The state is
// storage.KeyActive or storage.KeyNext.
func NewKey(alg, state string) (storage.SigningKey, error) {
	private, err := draw(alg)
	if err != nil {
		return storage.SigningKey{}, err
	}
	_, public, err := describe(private.Public())
	if err != nil {
		return storage.SigningKey{}, err
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		return storage.SigningKey{}, fmt.Errorf("token: %s key: %w", alg, err)
	}
	return storage.SigningKey{
		ID:        thumbprint(public),
		Alg:       alg,
		State:     state,
		Private:   storage.NewSecret(base64.StdEncoding.EncodeToString(der)),
		CreatedAt: time.Now().UTC(),
	}, nil
}

func draw(alg string) (crypto.Signer, error) {
	switch alg {
	case ES256:
		return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case EdDSA:
		_, private, err := ed25519.GenerateKey(rand.Reader)
		return private, err
	case RS256:
		return rsa.GenerateKey(rand.Reader, 2048)
	}
	return nil, fmt.Errorf("token: no signing keys for algorithm %q: use ES256, EdDSA or RS256", alg)
}

// key is a stored key made ready: nothing about it changes.
type key struct {
	storage.SigningKey
	private crypto.Signer
	jwk     string // RFC 7517, public parts only
	access  string // the encoded header of access tokens, with its dot
	id      string // the same of id_tokens
	caller  string // the same of statements
}

// parse refuses a record whose parts disagree: one key, one algorithm, one name is what
// the verifier builds on.
func parse(r storage.SigningKey) (*key, error) {
	der, err := base64.StdEncoding.DecodeString(r.Private.Reveal())
	if err != nil {
		return nil, fmt.Errorf("token: key %q: its private part is not base64", r.ID)
	}
	parsed, err := x509.ParsePKCS8PrivateKey(der)
	if err != nil {
		return nil, fmt.Errorf("token: key %q: its private part is not PKCS #8", r.ID)
	}
	private, ok := parsed.(crypto.Signer)
	if !ok {
		return nil, fmt.Errorf("token: key %q cannot sign", r.ID)
	}
	alg, public, err := describe(private.Public())
	switch {
	case err != nil:
		return nil, fmt.Errorf("token: key %q: %w", r.ID, err)
	case alg != r.Alg:
		return nil, fmt.Errorf("token: key %q is kept as %q but is made for %s", r.ID, r.Alg, alg)
	case thumbprint(public) != r.ID:
		return nil, fmt.Errorf("token: key %q is kept under another key's id", r.ID)
	case rank(r.State) < 0:
		return nil, fmt.Errorf("token: key %q has the unknown state %q", r.ID, r.State)
	}
	k := &key{SigningKey: r, private: private}
	k.jwk = public[:len(public)-1] + `,"kid":"` + r.ID + `","use":"sig","alg":"` + alg + `"}`
	k.access = encodeHeader(alg, r.ID, TypeAccess)
	k.id = encodeHeader(alg, r.ID, TypeID)
	k.caller = encodeHeader(alg, r.ID, TypeCaller)
	return k, nil
}

// describe returns the one algorithm a public key is used with, and the key as RFC 7638
// 3.2 hashes it: the required members in lexicographic order, without spaces.
func describe(public crypto.PublicKey) (alg, canonical string, err error) {
	b64 := base64.RawURLEncoding.EncodeToString
	switch p := public.(type) {
	case *ecdsa.PublicKey:
		if p.Curve != elliptic.P256() {
			return "", "", errors.New("an EC key must be on P-256")
		}
		point, err := p.Bytes() // 0x04, x, y
		if err != nil {
			return "", "", err
		}
		return ES256, `{"crv":"P-256","kty":"EC","x":"` + b64(point[1:33]) + `","y":"` + b64(point[33:]) + `"}`, nil
	case ed25519.PublicKey:
		return EdDSA, `{"crv":"Ed25519","kty":"OKP","x":"` + b64(p) + `"}`, nil
	case *rsa.PublicKey:
		if p.N.BitLen() < 2048 {
			return "", "", errors.New("an RSA key must have 2048 bits or more (RFC 7518 3.3)")
		}
		e := []byte{byte(p.E >> 24), byte(p.E >> 16), byte(p.E >> 8), byte(p.E)}
		for e[0] == 0 {
			e = e[1:]
		}
		return RS256, `{"e":"` + b64(e) + `","kty":"RSA","n":"` + b64(p.N.Bytes()) + `"}`, nil
	}
	return "", "", fmt.Errorf("a %T signs nothing here", public)
}

// thumbprint names a public key (RFC 7638 3).
func thumbprint(canonical string) string {
	sum := sha256.Sum256([]byte(canonical))
	return base64.RawURLEncoding.EncodeToString(sum[:])
}
