package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hmac"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// Values of the typ header. They keep the two kinds of token apart that one key signs.
const (
	TypeAccess = "at+jwt" // access tokens (RFC 9068 2.1)
	TypeID     = "JWT"    // id_tokens
)

// Sign makes a compact JWS of claims, which must be a JSON object, with the active key of
// an algorithm; "" is the default one.
func (k *Keys) Sign(alg, typ string, claims []byte) (string, error) {
	set := k.set.Load()
	if alg == "" {
		alg = set.algs[0]
	}
	key := set.active[alg]
	if key == nil {
		return "", fmt.Errorf("token: no active key for algorithm %q", alg)
	}
	return key.sign(typ, claims)
}

func (k *key) sign(typ string, claims []byte) (string, error) {
	token := input(k.header(typ), claims, k.signatureSize())
	signature, err := k.signature(token)
	if err != nil {
		return "", fmt.Errorf("token: sign with %s: %w", k.Alg, err)
	}
	return sealed(token, signature), nil
}

// SignHS256 makes a compact JWS of claims for the one application that shares the secret;
// the key is the UTF-8 bytes of its text (OpenID Connect Core 10.1). A missing secret is
// a mistake of the caller and panics: a token signed with nothing is anybody's to forge.
func SignHS256(secret storage.Secret, typ string, claims []byte) string {
	if secret.IsZero() {
		panic("token: HS256 without a secret: give a public client another algorithm")
	}
	token := input(encodeHeader(HS256, "", typ), claims, sha256.Size)
	mac := hmac.New(sha256.New, []byte(secret.Reveal()))
	mac.Write(token)
	return sealed(token, mac.Sum(nil))
}

func (k *key) signature(message []byte) ([]byte, error) {
	switch private := k.private.(type) {
	case ed25519.PrivateKey:
		return ed25519.Sign(private, message), nil
	case *rsa.PrivateKey:
		digest := sha256.Sum256(message)
		return rsa.SignPKCS1v15(rand.Reader, private, crypto.SHA256, digest[:])
	case *ecdsa.PrivateKey:
		digest := sha256.Sum256(message)
		der, err := private.Sign(nil, digest[:], crypto.SHA256) // nil: as RFC 6979 draws it
		if err != nil {
			return nil, err
		}
		return flat(der)
	}
	return nil, fmt.Errorf("a %T signs nothing here", k.private)
}

// flat makes of an ECDSA signature in ASN.1 its two numbers, 32 bytes each (RFC 7518 3.4).
func flat(der []byte) ([]byte, error) {
	var r, s []byte
	in, both := cryptobyte.String(der), cryptobyte.String(nil)
	if !in.ReadASN1(&both, asn1.SEQUENCE) || !both.ReadASN1Integer(&r) || !both.ReadASN1Integer(&s) || len(r) > 32 || len(s) > 32 {
		return nil, errors.New("token: the signature is not one of P-256")
	}
	raw := make([]byte, 64)
	copy(raw[32-len(r):], r)
	copy(raw[64-len(s):], s)
	return raw, nil
}

func (k *key) signatureSize() int {
	if private, ok := k.private.(*rsa.PrivateKey); ok {
		return private.Size()
	}
	return 64
}

func (k *key) header(typ string) string {
	switch typ {
	case TypeAccess:
		return k.access
	case TypeID:
		return k.id
	}
	return encodeHeader(k.Alg, k.ID, typ)
}

// encodeHeader returns the first segment of a token and the dot behind it.
func encodeHeader(alg, kid, typ string) string {
	head := rawjson.AppendString([]byte(`{"alg":`), alg)
	if kid != "" {
		head = rawjson.AppendString(append(head, `,"kid":`...), kid)
	}
	head = append(rawjson.AppendString(append(head, `,"typ":`...), typ), '}')
	return base64.RawURLEncoding.EncodeToString(head) + "."
}

// input returns what is signed, in a buffer that has room for the signature.
func input(header string, claims []byte, signature int) []byte {
	b64 := base64.RawURLEncoding
	token := make([]byte, 0, len(header)+b64.EncodedLen(len(claims))+1+b64.EncodedLen(signature))
	token = append(token, header...)
	return b64.AppendEncode(token, claims)
}

func sealed(token, signature []byte) string {
	return string(base64.RawURLEncoding.AppendEncode(append(token, '.'), signature))
}
