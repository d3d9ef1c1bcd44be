package token

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"errors"
	"math/big"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/keystile/keystile/storage"
)

func TestThumbprintsAreThoseOfTheRFCs(t *testing.T) {
	n := decode(t, "0vx7agoebGcQSuuPiLJXZptN9nndrQmbXEps2aiAFbWhM78LhWx4cbbfAAtVT86zwu1RK7aPFFxuhDR1L6tSoc_BJECPebWKRXjBZCiFV4n3oknjhMstn64tZ_2W-5JsGY4Hc5n9yBXArwl93lqt7_RN5w6Cf0h4QyQ5v-65YGjQR0_FDW2QvzqY368QQMicAtaSqzs8KJZgnYb9c7d0zgdAZHzu6qMQvRL5hajrn1n91CbOpbISD08qNLyrdkt-bFTWhAI4vMQFh6WeZu0fM4lFd2NcRwr3XPksINHaQ-G_xBniIqbw0Ls1jF44-csFCur-kEgU8awapJzKnqDKgw")
	for _, c := range []struct {
		name, alg, want string
		public          crypto.PublicKey
	}{
		{"RFC 7638 3.1", RS256, "NzbLsXh8uDCcd-6MNwXF4W_7noWXFZAfHkxZsRGC9Xs",
			&rsa.PublicKey{N: new(big.Int).SetBytes(n), E: 65537}},
		{"RFC 8037 A.3", EdDSA, "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
			ed25519.PublicKey(decode(t, "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"))},
	} {
		alg, canonical, err := describe(c.public)
		if got := thumbprint(canonical); err != nil || alg != c.alg || got != c.want {
			t.Errorf("%s: thumbprint = %s of %s, %v, want %s of %s", c.name, got, alg, err, c.want, c.alg)
		}
	}
}

func TestThumbprintsAreThoseOfGoJose(t *testing.T) {
	for alg, times := range map[string]int{ES256: 400, EdDSA: 10, RS256: 1} { // a coordinate in 256 begins with zero
		for range times {
			k := newKey(t, alg, storage.KeyActive)
			sum, err := (&jose.JSONWebKey{Key: private(t, k).Public()}).Thumbprint(crypto.SHA256)
			if want := base64.RawURLEncoding.EncodeToString(sum); err != nil || k.ID != want {
				t.Errorf("NewKey(%s).ID = %s, want %s (%v)", alg, k.ID, want, err)
			}
		}
	}
}

func TestKeysAreRefusedForOtherAlgorithms(t *testing.T) {
	for _, alg := range []string{"", HS256, "none", "es256", "ES384"} {
		if k, err := NewKey(alg, storage.KeyActive); err == nil {
			t.Errorf("NewKey(%q) = %v, want an error", alg, k)
		}
	}
}

func TestRecordWhosePartsDisagreeIsRefused(t *testing.T) {
	good, other := newKey(t, ES256, storage.KeyActive), newKey(t, ES256, storage.KeyActive)
	short, err1 := rsa.GenerateKey(rand.Reader, 1024)
	curve, err2 := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	agree, err3 := ecdh.X25519().GenerateKey(rand.Reader)
	if err := errors.Join(err1, err2, err3); err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(*storage.SigningKey){
		"another key's id":        func(k *storage.SigningKey) { k.ID = other.ID },
		"another algorithm":       func(k *storage.SigningKey) { k.Alg = EdDSA },
		"HS256":                   func(k *storage.SigningKey) { k.Alg = HS256 },
		"an unknown state":        func(k *storage.SigningKey) { k.State = "paused" },
		"no private part":         func(k *storage.SigningKey) { k.Private = storage.Secret{} },
		"a private part in bytes": func(k *storage.SigningKey) { k.Private = storage.NewSecret("\x00\x01") },
		"an RSA key of 1024 bits": func(k *storage.SigningKey) { *k = record(t, RS256, short) },
		"a key on P-384":          func(k *storage.SigningKey) { *k = record(t, ES256, curve) },
		"a key that cannot sign":  func(k *storage.SigningKey) { *k = record(t, EdDSA, agree) },
	} {
		k := good
		change(&k)
		_, err := parse(k)
		if err == nil {
			t.Errorf("parse(%s) = no error, want one", name)
		} else if !k.Private.IsZero() && strings.Contains(err.Error(), k.Private.Reveal()) {
			t.Errorf("parse(%s) = %v, want no secret in it", name, err)
		}
	}
}

// record keeps a key in the way NewKey does, whatever it is.
func record(t testing.TB, alg string, key any) storage.SigningKey {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	id := "no JWK"
	if signer, ok := key.(crypto.Signer); ok {
		sum, err := (&jose.JSONWebKey{Key: signer.Public()}).Thumbprint(crypto.SHA256)
		if err != nil {
			t.Fatal(err)
		}
		id = base64.RawURLEncoding.EncodeToString(sum)
	}
	return storage.SigningKey{ID: id, Alg: alg, State: storage.KeyActive,
		Private: storage.NewSecret(base64.StdEncoding.EncodeToString(der))}
}

func private(t testing.TB, k storage.SigningKey) crypto.Signer {
	t.Helper()
	parsed, err := parse(k)
	if err != nil {
		t.Fatalf("parse() = %v, want no error", err)
	}
	return parsed.private
}

func decode(t testing.TB, text string) []byte {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
