package token

import (
	"bytes"
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

	"github.com/keystile/keystile/internal/rawjson"
	"github.com/keystile/keystile/storage"
)

// Values of the typ header. They keep the kinds of token apart that one key signs.
const (
	TypeAccess = "at+jwt" // access tokens (RFC 9068 2.1)
	TypeID     = "JWT"    // id_tokens

	TypeLogout = "logout+jwt" // logout tokens (OpenID Connect Back-Channel Logout 1.0 2.4)

	TypeCaller = "keystile-caller+jwt" // what an upstream is told of the caller (decision 122)
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

// flat makes of a signature in ASN.1, which is short enough that each length is one byte, its two
// numbers of 32 bytes each (RFC 7518 3.4).
func flat(der []byte) ([]byte, error) {
	raw, rest, ok := make([]byte, 64), []byte(nil), false
	if len(der) >= 2 && der[0] == sequence && int(der[1]) == len(der)-2 {
		rest, ok = der[2:], true
	}
	for number := raw; ok && len(number) > 0; number = number[32:] {
		if ok = len(rest) >= 2 && rest[0] == integer && int(rest[1]) <= len(rest)-2; !ok {
			break
		}
		size := int(rest[1])
		digits := bytes.TrimLeft(rest[2:2+size], "\x00")
		if ok = len(digits) <= 32; ok {
			copy(number[32-len(digits):], digits)
		}
		rest = rest[2+size:]
	}
	if !ok || len(rest) > 0 {
		return nil, errors.New("token: the signature is not one of P-256")
	}
	return raw, nil
}

const sequence, integer = 0x30, 0x02 // X.690 8.9, 8.3

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
	case TypeCaller:
		return k.caller
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

// input returns what is signed, in a buffer with capacity for the signature.
func input(header string, claims []byte, signature int) []byte {
	b64 := base64.RawURLEncoding
	token := make([]byte, 0, len(header)+b64.EncodedLen(len(claims))+1+b64.EncodedLen(signature))
	token = append(token, header...)
	return b64.AppendEncode(token, claims)
}

func sealed(token, signature []byte) string {
	return string(base64.RawURLEncoding.AppendEncode(append(token, '.'), signature))
}
