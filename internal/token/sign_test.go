package token

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"math/big"
	"reflect"
	"strconv"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/storage"
)

func TestTokensGoRound(t *testing.T) {
	for _, alg := range []string{ES256, EdDSA, RS256} {
		v, _ := verifier(t, alg)
		claims := genuine()
		bearer, err := v.keys.SignAccess(claims)
		if err != nil {
			t.Fatalf("%s: SignAccess() = %v, want no error", alg, err)
		}
		caller, err := v.Verify(t.Context(), bearer)
		want := storage.Caller{
			AppID: "app1", UserID: "u1", Scope: "openid profile", Audience: issuer, TokenID: claims.ID,
			Grant: claims.Grant, GrantedAt: handle.GrantTime(claims.Grant), ExpiresAt: claims.ExpiresAt.UTC().Truncate(1e9),
		}
		if err != nil || !reflect.DeepEqual(caller, want) {
			t.Errorf("%s: Verify() = %+v, %v, want %+v", alg, caller, err, want)
		}
	}
}

func TestHeaderIsAlgKidTyp(t *testing.T) {
	v, store := verifier(t, ES256)
	for _, typ := range []string{TypeAccess, TypeID, `lo"gout+jwt`} {
		token, err := v.keys.Sign(ES256, typ, []byte(`{}`))
		if err != nil {
			t.Fatalf("Sign() = %v, want no error", err)
		}
		head, _, _ := strings.Cut(token, ".")
		want := `{"alg":"ES256","kid":"` + store.keys[0].ID + `","typ":"` + strings.ReplaceAll(typ, `"`, `\"`) + `"}`
		if got := string(decode(t, head)); got != want {
			t.Errorf("header = %s, want %s", got, want)
		}
	}
}

func TestSigningUsesOnlyAlgorithmsWithAnActiveKey(t *testing.T) {
	v, _ := verifier(t, ES256)
	for _, alg := range []string{EdDSA, RS256, HS256, "none", "es256"} {
		if token, err := v.keys.Sign(alg, TypeID, []byte(`{}`)); err == nil {
			t.Errorf("Sign(%q) = %s, want an error", alg, token)
		}
	}
}

func TestShortNumbersOfASignatureAreFilledUp(t *testing.T) {
	signer := private(t, newKey(t, ES256, storage.KeyActive)).(*ecdsa.PrivateKey)
	k, short := &key{private: signer}, [2]bool{}
	for i := range 20_000 { // one number in 256 begins with a zero
		message := []byte(strconv.Itoa(i))
		digest := sha256.Sum256(message)
		raw, err := k.signature(message)
		if err != nil || len(raw) != 64 {
			t.Fatalf("signature() = %d bytes, %v, want 64", len(raw), err)
		}
		if raw[0] != 0 && raw[32] != 0 {
			continue
		}
		r, s := new(big.Int).SetBytes(raw[:32]), new(big.Int).SetBytes(raw[32:])
		if !ecdsa.Verify(&signer.PublicKey, digest[:], r, s) {
			t.Fatalf("signature() = %x, which does not verify", raw)
		}
		short[0], short[1] = short[0] || raw[0] == 0, short[1] || raw[32] == 0
		if short[0] && short[1] {
			return
		}
	}
	t.Error("of 20,000 signatures none had a short r, or none a short s")
}

func TestHS256IsKeyedWithTheBytesOfTheSecretsText(t *testing.T) {
	for _, text := range []string{"k", "密钥", strings.Repeat("long", 40), "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"} {
		token := SignHS256(storage.NewSecret(text), TypeID, []byte(`{"sub":"u1"}`))
		i := strings.LastIndexByte(token, '.')
		mac := hmac.New(sha256.New, []byte(text))
		mac.Write([]byte(token[:i]))
		if want := base64.RawURLEncoding.EncodeToString(mac.Sum(nil)); token[i+1:] != want {
			t.Errorf("SignHS256(%s) = signature %s, want %s", text, token[i+1:], want)
		}
		if head, _, _ := strings.Cut(token, "."); string(decode(t, head)) != `{"alg":"HS256","typ":"JWT"}` {
			t.Errorf("SignHS256(%s) = header %s, want alg and typ", text, decode(t, head))
		}
	}
}

func TestSignRefusesWithoutASecret(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Error("SignHS256(no secret) returned, want a panic")
		}
	}()
	SignHS256(storage.Secret{}, TypeID, []byte(`{}`))
}
