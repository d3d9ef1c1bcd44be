package token

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/test/forgery"
)

// outside is a Published that knows the keys of a verifier.
func outside(t testing.TB, v *Verifier) *Published {
	t.Helper()
	p := NewPublished(issuer, 0)
	if err := p.SetKeys(v.keys.JWKS().Body()); err != nil {
		t.Fatal(err)
	}
	return p
}

func TestForgedTokensAreRefusedByPublishedKeysToo(t *testing.T) {
	for _, algs := range [][]string{{ES256, EdDSA}, {EdDSA}, {RS256}} {
		t.Run(algs[0], func(t *testing.T) {
			v, store := verifier(t, algs...)
			p := outside(t, v)
			service := forgery.Service{Keys: store.keys, Issuer: issuer, ClientID: "app1", Sub: "u1"}
			genuine := forgery.Genuine(t, service)
			for range 2 { // the second time from memory
				caller, err := p.Verify(genuine)
				if same, _ := v.Verify(t.Context(), genuine); err != nil || !reflect.DeepEqual(caller, same) {
					t.Fatalf("Verify(genuine) = %+v, %v, want %+v", caller, err, same)
				}
			}
			for _, f := range forgery.All(t, service) {
				if caller, err := p.Verify(f.Token); !errors.Is(err, ErrInvalid) {
					t.Errorf("Verify(%s) = %+v, %v, want ErrInvalid", f.Name, caller, err)
				}
			}
		})
	}
}

func TestRememberedTokenEndsWithItsTimeItsKeyAndItsAudience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, store := verifier(t, ES256)
		p := outside(t, v)
		bearer := forgery.Genuine(t, forgery.Service{Keys: store.keys, Issuer: issuer, ClientID: "app1", Sub: "u1"})
		if _, err := p.Verify(bearer); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Verify(bearer, "https://other.example"); !errors.Is(err, ErrInvalid) {
			t.Errorf("for another audience: %v", err)
		}
		other, _ := verifier(t, ES256)
		if err := p.SetKeys(other.keys.JWKS().Body()); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Verify(bearer); !errors.Is(err, ErrUnknownKey) || !errors.Is(err, ErrInvalid) {
			t.Errorf("its key has gone: %v", err)
		}
		if err := p.SetKeys(v.keys.JWKS().Body()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Hour - time.Second)
		if _, err := p.Verify(bearer); err != nil {
			t.Error(err)
		}
		if time.Sleep(time.Second); true {
			if _, err := p.Verify(bearer); !errors.Is(err, ErrInvalid) {
				t.Errorf("expired: %v", err)
			}
		}
	})
}

func TestKeySetIsReadForSigningKeysOnly(t *testing.T) {
	v, store := verifier(t, ES256)
	bearer := forgery.Genuine(t, forgery.Service{Keys: store.keys, Issuer: issuer, ClientID: "app1", Sub: "u1"})
	var set struct{ Keys []json.RawMessage }
	if err := json.Unmarshal(v.keys.JWKS().Body(), &set); err != nil {
		t.Fatal(err)
	}
	good := string(set.Keys[0])
	for name, c := range map[string]struct {
		keys string
		ok   bool
	}{
		"the key":                      {good, true},
		"beside what nobody knows":     {`{"kty":"AKP","alg":"ML-DSA-44","kid":"x"},7,null,{"kty":"EC"},` + good, true},
		"beside a shared secret":       {`{"kty":"oct","k":"AAAA","kid":"s"},` + good, true},
		"its kid taken by a secret":    {strings.Replace(`{"kty":"oct","k":"AAAA","alg":"HS256","kid":"KID"},`, "KID", v.keys.set.Load().keys[0].ID, 1) + good, true},
		"for encryption":               {strings.Replace(good, `"use":"sig"`, `"use":"enc"`, 1), false},
		"said to be of another alg":    {strings.Replace(good, `"alg":"ES256"`, `"alg":"HS256"`, 1), false},
		"without a kid":                {strings.Replace(good, `"kid"`, `"kidd"`, 1), false},
		"on another curve":             {strings.Replace(good, `"P-256"`, `"P-384"`, 1), false},
		"off the curve":                {strings.Replace(good, `"x":"`, `"x":"AA`, 1), false},
		"behind more than anybody has": {strings.Repeat(`{"kty":"AKP"},`, 100) + good, false},
		"none":                         {"", false},
	} {
		p := NewPublished(issuer, 0)
		err := p.SetKeys([]byte(`{"keys":[` + c.keys + `]}`))
		_, refused := p.Verify(bearer)
		if (err == nil) != c.ok || (refused == nil) != c.ok {
			t.Errorf("%s: SetKeys() = %v, Verify() = %v, want ok %t", name, err, refused, c.ok)
		}
	}
	for _, text := range []string{"", "{}", "[]", "null", `{"keys":{}}`, good, fmt.Sprintf(`{"keys":[%s]`, good)} {
		if err := outside(t, v).SetKeys([]byte(text)); err == nil {
			t.Errorf("SetKeys(%s) fails not", text)
		}
	}
}
