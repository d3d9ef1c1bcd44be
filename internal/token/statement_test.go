package token

import (
	"encoding/base64"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

const upstream = "https://api.example.com"

func statement() Statement {
	now := time.Now()
	return Statement{Issuer: issuer, Audience: upstream, Subject: "u1", ClientID: "app1", Actors: []string{"a1", "a2"},
		Tool: "shop__get", RequestID: "r1", ID: "j1", IssuedAt: now, ExpiresAt: now.Add(time.Minute)}
}

func publishedBy(t testing.TB, keys *Keys) *Published {
	t.Helper()
	p := NewPublished(issuer, 10)
	if err := p.SetKeys(keys.JWKS().Body()); err != nil {
		t.Fatal(err)
	}
	return p
}

func signStatement(t testing.TB, keys *Keys, change func(*Statement)) string {
	t.Helper()
	s := statement()
	change(&s)
	text, err := keys.SignStatement(s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStatementsGoRound(t *testing.T) {
	v, _ := verifier(t, EdDSA, ES256)
	p := publishedBy(t, v.keys)
	for _, change := range []func(*Statement){
		func(*Statement) {},
		func(s *Statement) { s.Actors, s.RequestID, s.ID = nil, "", "" },
		func(s *Statement) { s.Subject, s.Tool = `u"1`, "ai" },
		func(s *Statement) { s.Actors = strings.Split("1 2 3 4 5 6 7 8 9 10", " ") },
	} {
		want := statement()
		change(&want)
		text := signStatement(t, v.keys, change)
		want.IssuedAt, want.ExpiresAt = want.IssuedAt.UTC().Truncate(time.Second), want.ExpiresAt.UTC().Truncate(time.Second)
		if got, err := p.Statement(text, upstream); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Statement() = %+v, %v, want %+v", got, err, want)
		}
	}
	for name, change := range map[string]func(*Statement){
		"no audience": func(s *Statement) { s.Audience = "" }, "no subject": func(s *Statement) { s.Subject = "" },
		"no tool": func(s *Statement) { s.Tool = "" }, "no UTF-8": func(s *Statement) { s.ClientID = "\xff" },
		"an empty actor": func(s *Statement) { s.Actors = []string{""} },
		"eleven actors":  func(s *Statement) { s.Actors = make([]string, 11) },
	} {
		s := statement()
		change(&s)
		if text, err := v.keys.SignStatement(s); err == nil {
			t.Errorf("%s: SignStatement() = %s, want an error", name, text)
		}
	}
}

func TestForgedStatementsAreRefused(t *testing.T) {
	v, store := verifier(t, ES256)
	other, _ := verifier(t, ES256)
	p := publishedBy(t, v.keys)
	now := time.Now().Unix()
	claims := func(more string) []byte {
		return fmt.Appendf(nil, `{"iss":%q,"sub":"u1","aud":%q,"client_id":"app1","tool":"shop__get","iat":%d,"exp":%d%s}`,
			issuer, upstream, now, now+60, more)
	}
	signed := func(typ string, body []byte) string {
		text, err := v.keys.Sign(ES256, typ, body)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	good := signed(TypeCaller, claims(""))
	if _, err := p.Statement(good, upstream); err != nil {
		t.Fatalf("Statement(a good one) = %v", err)
	}
	if _, err := p.Statement(signed("application/"+TypeCaller, claims("")), upstream); err != nil {
		t.Errorf("Statement(its typ in full) = %v, want no error (RFC 7515 4.1.9)", err)
	}
	text := string(claims(""))
	replaced := func(old, new string) []byte {
		if !strings.Contains(text, old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		return []byte(strings.Replace(text, old, new, 1))
	}
	parts := strings.Split(good, ".")
	hmac := SignHS256(storage.NewSecret(string(v.keys.JWKS().Body())), TypeCaller, claims(""))
	for name, c := range map[string]string{
		"empty": "", "no JWS": "a.b", "an access token": mint(t, v.keys, func(c *Claims) { c.Audience = upstream }),
		"the typ of an access token": signed(TypeAccess, claims("")), "the typ of an id_token": signed(TypeID, claims("")),
		"the typ of a logout token": signed(TypeLogout, claims("")), "no typ": signed("", claims("")),
		"a typ in between": signed("keystile-caller", claims("")),
		"alg none":         encodeSegment(`{"alg":"none","typ":"`+TypeCaller+`"}`) + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1] + ".", "the signature of another": parts[0] + "." +
			strings.Split(signed(TypeCaller, claims(`,"rid":"r2"`)), ".")[1] + "." + parts[2],
		"a key as a secret":    hmac,
		"a key in the header":  encodeSegment(`{"alg":"ES256","kid":"`+store.keys[0].ID+`","typ":"`+TypeCaller+`","jku":"x"}`) + "." + parts[1] + "." + parts[2],
		"a key of another":     signStatement(t, other.keys, func(*Statement) {}),
		"another issuer":       signed(TypeCaller, replaced(issuer, "https://other.example")),
		"another upstream":     signed(TypeCaller, replaced(upstream, "https://other.example")),
		"the upstream's name":  signed(TypeCaller, replaced(upstream, "api.example.com")),
		"two audiences":        signed(TypeCaller, replaced(`"`+upstream+`"`, `["`+upstream+`","https://other.example"]`)),
		"no audience":          signed(TypeCaller, replaced(`"aud"`, `"aux"`)),
		"no subject":           signed(TypeCaller, replaced(`"sub":"u1"`, `"sub":""`)),
		"no client":            signed(TypeCaller, replaced(`"client_id"`, `"client"`)),
		"no tool":              signed(TypeCaller, replaced(`"tool"`, `"tools"`)),
		"no end":               signed(TypeCaller, replaced(`"exp"`, `"end"`)),
		"no beginning":         signed(TypeCaller, replaced(`"iat"`, `"at"`)),
		"an end in a text":     signed(TypeCaller, replaced(fmt.Sprint(now+60), fmt.Sprintf("%q", fmt.Sprint(now+60)))),
		"over":                 signed(TypeCaller, replaced(fmt.Sprint(now+60), fmt.Sprint(now))),
		"not begun":            signed(TypeCaller, replaced(`"iat":`+fmt.Sprint(now), `"iat":`+fmt.Sprint(now+200))),
		"a subject twice":      signed(TypeCaller, claims(`,"sub":"u2"`)),
		"a subject in capital": signed(TypeCaller, claims(`,"Sub":"u2"`)),
		"an actor that is not": signed(TypeCaller, claims(`,"act":{"sub":""}`)),
		"an act in a text":     signed(TypeCaller, claims(`,"act":"a1"`)),
		"eleven actors":        signed(TypeCaller, claims(strings.Repeat(`,"act":{"sub":"a"`, 11)+strings.Repeat("}", 11))),
		"a jti that is none":   signed(TypeCaller, claims(`,"jti":""`)), "a rid that is none": signed(TypeCaller, claims(`,"rid":1`)),
		"no object": signed(TypeCaller, []byte(`[]`)), "longer than 8 KiB": signed(TypeCaller, claims(`,"x":"`+strings.Repeat("x", 8<<10)+`"`)),
		"a blank behind it": good + " ", "padding": good + "=",
	} {
		if got, err := p.Statement(c, upstream); !errors.Is(err, ErrInvalid) || !reflect.DeepEqual(got, Statement{}) {
			t.Errorf("%s: Statement() = %+v, %v, want ErrInvalid alone", name, got, err)
		}
	}
}

// encodeSegment writes a part of a token by hand.
func encodeSegment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestStatementIsNothingElse(t *testing.T) {
	v, _ := verifier(t, ES256)
	for _, audience := range []string{issuer, upstream, "app1"} {
		text := signStatement(t, v.keys, func(s *Statement) { s.Audience = audience })
		if _, err := v.Verify(t.Context(), text, audience); !errors.Is(err, ErrInvalid) {
			t.Errorf("Verify(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := v.Issued(text); !errors.Is(err, ErrInvalid) {
			t.Errorf("Issued(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := v.keys.VerifyID(text, issuer, storage.App{ID: "app1"}); !errors.Is(err, ErrInvalid) {
			t.Errorf("VerifyID(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := publishedBy(t, v.keys).Verify(text, audience); !errors.Is(err, ErrInvalid) {
			t.Errorf("the published keys: Verify(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
	}
}

func TestStatementEndsWithItsMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v, _ := verifier(t, ES256)
		p, text := publishedBy(t, v.keys), signStatement(t, v.keys, func(*Statement) {})
		time.Sleep(time.Minute - 1)
		if _, err := p.Statement(text, upstream); err != nil {
			t.Errorf("just before its end: %v", err)
		}
		time.Sleep(1)
		if _, err := p.Statement(text, upstream); !errors.Is(err, ErrInvalid) {
			t.Errorf("at its end: %v, want ErrInvalid", err)
		}
	})
}

func BenchmarkSignStatement(b *testing.B) {
	v, _ := verifier(b, ES256)
	s := statement()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := v.keys.SignStatement(s); err != nil {
			b.Fatal(err)
		}
	}
}
