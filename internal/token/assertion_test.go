package token

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
)

const assertingClient = "https://agent.example.net/client.json"

// assertion signs the claims of a client as a library of others does.
func assertion(t *testing.T, alg jose.SignatureAlgorithm, private crypto.Signer, kid string,
	claims map[string]any) string {
	t.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: private, KeyID: kid}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	payload, err := json.Marshal(claims)
	if err != nil {
		t.Fatal(err)
	}
	jws, err := signer.Sign(payload)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jws.CompactSerialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func publishedSet(t *testing.T, keys ...jose.JSONWebKey) KeySet {
	t.Helper()
	document, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	set, err := ReadKeySet(document)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func goodClaims(now time.Time) map[string]any {
	return map[string]any{"iss": assertingClient, "sub": assertingClient, "aud": "https://id.example.com", "jti": "1",
		"exp": now.Add(time.Minute).Unix()}
}

func TestAssertionsOfFourAlgorithmsAreGood(t *testing.T) {
	now := time.Now()
	rsaKey, _ := rsa.GenerateKey(rand.Reader, 2048)
	weak, _ := rsa.GenerateKey(rand.Reader, 1024)
	p256, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	p384, _ := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	_, ed, _ := ed25519.GenerateKey(rand.Reader)
	for _, c := range []struct {
		alg       jose.SignatureAlgorithm
		private   crypto.Signer
		published string // alg of the published key
		good      bool
	}{
		{jose.RS256, rsaKey, "RS256", true}, {jose.RS256, rsaKey, "", true}, {jose.PS256, rsaKey, "PS256", true},
		{jose.PS256, rsaKey, "", true},
		{jose.PS256, rsaKey, "RS256", false}, {jose.RS512, rsaKey, "", false}, {jose.RS256, weak, "", false},
		{jose.ES256, p256, "ES256", true}, {jose.ES384, p384, "ES384", false}, {jose.EdDSA, ed, "EdDSA", true},
		{jose.EdDSA, ed, "", true},
	} {
		// Beside a key that is good, because a set without any cannot be read.
		set := publishedSet(t, jose.JSONWebKey{Key: c.private.Public(), KeyID: "k", Algorithm: c.published},
			jose.JSONWebKey{Key: p256.Public(), KeyID: "other", Use: "sig"})
		got, err := set.Check(assertion(t, c.alg, c.private, "k", goodClaims(now)), assertingClient,
			[]string{"https://id.example.com"}, now)
		if (err == nil) != c.good || c.good && (got.ID != "1" || got.End.Unix() != now.Add(time.Minute).Unix()) {
			t.Errorf("%s by a key for %q: %+v, %v, want it good: %t", c.alg, c.published, got, err, c.good)
		}
	}
}

func TestKidOfAnAssertionChoosesTheKey(t *testing.T) {
	now := time.Now()
	one, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	two, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	set := publishedSet(t, jose.JSONWebKey{Key: one.Public(), KeyID: "one"},
		jose.JSONWebKey{Key: two.Public(), KeyID: "two"}, jose.JSONWebKey{Key: one.Public(), KeyID: "enc", Use: "enc"})
	check := func(private crypto.Signer, kid string) error {
		_, err := set.Check(assertion(t, jose.ES256, private, kid, goodClaims(now)), assertingClient,
			[]string{"https://id.example.com"}, now)
		return err
	}
	for _, good := range []error{check(one, "one"), check(two, "two"), check(two, "")} {
		if good != nil {
			t.Error(good)
		}
	}
	if err := check(two, "one"); !errors.Is(err, ErrInvalid) || errors.Is(err, ErrUnknownKey) {
		t.Errorf("signed by another key: %v, want ErrInvalid", err)
	}
	stranger, _ := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	for what, err := range map[string]error{"three": check(one, "three"), "without a kid": check(stranger, ""),
		"of another use": check(one, "enc")} {
		if !errors.Is(err, ErrUnknownKey) {
			t.Errorf("%s: %v, want ErrUnknownKey: it may have been published since", what, err)
		}
	}
}

func TestKeySetWithoutAnyKeyOfOursIsNone(t *testing.T) {
	for _, document := range []string{``, `[]`, `{}`, `{"keys":[]}`, `{"keys":[{}]}`, `{"keys":[{"kty":"oct","k":"c2VjcmV0c2VjcmV0c2VjcmV0"}]}`, `{"keys":1}`} {
		if _, err := ReadKeySet([]byte(document)); err == nil {
			t.Errorf("ReadKeySet(%s) reads keys", document)
		}
	}
}

func TestSubjectOfAnAssertionIsReadWithoutItsProof(t *testing.T) {
	for text, want := range map[string]string{
		"e30.eyJzdWIiOiJodHRwczovL2EifQ.x": "https://a", "": "", ".": "", "a.b.c": "", "e30.e30.e30": "",
		"e30.eyJzdWIiOjF9.": "", "e30.eyJzdWIiOiJhIiwic3ViIjoiYiJ9.": "",
	} {
		if got := SubjectOf(text); got != want {
			t.Errorf("SubjectOf(%q) = %q, want %q", text, got, want)
		}
	}
}
