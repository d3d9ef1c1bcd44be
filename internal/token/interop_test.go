package token

import (
	"encoding/json"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"github.com/keystile/keystile/storage"
)

func TestGoJoseReadsOurTokensByOurJWKS(t *testing.T) {
	v, _ := verifier(t, ES256, EdDSA, RS256)
	body := v.keys.JWKS().Body()
	var set jose.JSONWebKeySet
	if err := json.Unmarshal(body, &set); err != nil {
		t.Fatalf("JWKS() = %s: %v", body, err)
	}
	for _, k := range set.Keys {
		if !k.Valid() || !k.IsPublic() || k.Use != "sig" {
			t.Errorf("JWKS() has the key %+v, want valid public keys for signatures", k)
		}
	}
	claims := `{"sub":"密钥","n":1}`
	for _, alg := range v.keys.Algs() {
		for _, typ := range []string{TypeAccess, TypeID} {
			token, err := v.keys.Sign(alg, typ, []byte(claims))
			if err != nil {
				t.Fatalf("Sign(%s) = %v, want no error", alg, err)
			}
			jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.SignatureAlgorithm(alg)})
			if err != nil {
				t.Fatalf("go-jose parses %s: %v", token, err)
			}
			h := jws.Signatures[0].Header
			payload, err := jws.Verify(set.Key(h.KeyID)[0])
			if err != nil || string(payload) != claims || h.ExtraHeaders[jose.HeaderType] != typ {
				t.Errorf("go-jose reads %s of typ %v, %v, want %s of typ %s", payload, h.ExtraHeaders[jose.HeaderType], err, claims,
					typ)
			}
		}
	}
}

func TestGoJoseReadsOurHS256(t *testing.T) {
	secret := storage.DrawSecret()
	token := SignHS256(secret, TypeID, []byte(`{"sub":"u1"}`))
	jws, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.HS256})
	if err != nil {
		t.Fatalf("go-jose parses %s: %v", token, err)
	}
	if payload, err := jws.Verify([]byte(secret.Reveal())); err != nil || string(payload) != `{"sub":"u1"}` {
		t.Errorf("go-jose reads %s, %v", payload, err)
	}
}

func TestWeReadTokensThatGoJoseSigns(t *testing.T) {
	v, _ := verifier(t, ES256, EdDSA, RS256)
	for alg, k := range v.keys.set.Load().active {
		key := jose.SigningKey{Algorithm: jose.SignatureAlgorithm(alg), Key: jose.JSONWebKey{Key: k.private, KeyID: k.ID}}
		signer, err := jose.NewSigner(key, (&jose.SignerOptions{}).WithType(TypeAccess))
		if err != nil {
			t.Fatal(err)
		}
		for range 20 { // every other ES256 signature has an s above n/2
			jws, err := signer.Sign(genuine().append(nil))
			if err != nil {
				t.Fatal(err)
			}
			token, err := jws.CompactSerialize()
			if err != nil {
				t.Fatal(err)
			}
			if caller, err := v.Verify(t.Context(), token); err != nil || caller.UserID != "u1" {
				t.Errorf("%s: Verify(signed by go-jose) = %+v, %v, want u1", alg, caller, err)
			}
		}
	}
}
