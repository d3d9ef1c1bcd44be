package statement

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/handle"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/memory"
)

const issuer, upstream = "https://id.example.com", "https://api.example.com"

// keysOf returns the keys of a new service, and what verifies its access tokens.
func keysOf(t testing.TB, algs ...string) (*token.Keys, *token.Verifier) {
	t.Helper()
	backend := memory.New()
	t.Cleanup(func() { backend.Close() })
	store, err := storage.Open(t.Context(), backend, storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	keys, err := token.OpenKeys(t.Context(), store, algs...)
	if err != nil {
		t.Fatal(err)
	}
	revoked, err := token.OpenRevoked(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	return keys, token.NewVerifier(token.VerifierConfig{Issuer: issuer, Keys: keys, Revoked: revoked})
}

func statement() Statement {
	now := time.Now()
	return Statement{Issuer: issuer, Audience: upstream, Subject: "u1", ClientID: "app1", Actors: []string{"a1", "a2"},
		Tool: "shop__get", RequestID: "r1", ID: "j1", IssuedAt: now, ExpiresAt: now.Add(time.Minute)}
}

func publishedBy(t testing.TB, keys *token.Keys) *token.Published {
	t.Helper()
	p := token.NewPublished(issuer, 10)
	if err := p.SetKeys(keys.JWKS().Body()); err != nil {
		t.Fatal(err)
	}
	return p
}

func signStatement(t testing.TB, keys *token.Keys, change func(*Statement)) string {
	t.Helper()
	s := statement()
	change(&s)
	text, err := Sign(keys, s)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestStatementsGoRound(t *testing.T) {
	keys, _ := keysOf(t, token.EdDSA, token.ES256)
	p := publishedBy(t, keys)
	for _, change := range []func(*Statement){
		func(*Statement) {},
		func(s *Statement) { s.Actors, s.RequestID, s.ID = nil, "", "" },
		func(s *Statement) { s.Subject, s.Tool = `u"1`, "ai" },
		func(s *Statement) { s.Actors = strings.Split("1 2 3 4 5 6 7 8 9 10", " ") },
	} {
		want := statement()
		change(&want)
		text := signStatement(t, keys, change)
		want.IssuedAt, want.ExpiresAt = want.IssuedAt.UTC().Truncate(time.Second), want.ExpiresAt.UTC().Truncate(time.Second)
		if got, err := Read(p, text, issuer, upstream); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("Read() = %+v, %v, want %+v", got, err, want)
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
		if text, err := Sign(keys, s); err == nil {
			t.Errorf("%s: Sign() = %s, want an error", name, text)
		}
	}
}

func TestForgedStatementsAreRefused(t *testing.T) {
	keys, _ := keysOf(t)
	other, _ := keysOf(t)
	p := publishedBy(t, keys)
	var set struct{ Keys []struct{ Kid string } }
	if err := json.Unmarshal(keys.JWKS().Body(), &set); err != nil {
		t.Fatal(err)
	}
	kid, now := set.Keys[0].Kid, time.Now().Unix()
	claims := func(more string) []byte {
		return fmt.Appendf(nil, `{"iss":%q,"sub":"u1","aud":%q,"client_id":"app1","tool":"shop__get","iat":%d,"exp":%d%s}`,
			issuer, upstream, now, now+60, more)
	}
	signed := func(typ string, body []byte) string {
		text, err := keys.Sign(token.ES256, typ, body)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	good := signed(token.TypeCaller, claims(""))
	if _, err := Read(p, good, issuer, upstream); err != nil {
		t.Fatalf("Read(a good one) = %v", err)
	}
	if _, err := Read(p, signed("application/"+token.TypeCaller, claims("")), issuer, upstream); err != nil {
		t.Errorf("Read(its typ in full) = %v, want no error (RFC 7515 4.1.9)", err)
	}
	text := string(claims(""))
	replaced := func(old, new string) []byte {
		if !strings.Contains(text, old) {
			t.Fatalf("%s is not in %s", old, text)
		}
		return []byte(strings.Replace(text, old, new, 1))
	}
	parts := strings.Split(good, ".")
	hmac := token.SignHS256(storage.NewSecret(string(keys.JWKS().Body())), token.TypeCaller, claims(""))
	for name, c := range map[string]string{
		"empty": "", "no JWS": "a.b", "an access token": access(t, keys),
		"the typ of an access token": signed(token.TypeAccess, claims("")),
		"the typ of an id_token":     signed(token.TypeID, claims("")),
		"the typ of a logout token":  signed(token.TypeLogout, claims("")), "no typ": signed("", claims("")),
		"a typ in between": signed("keystile-caller", claims("")),
		"alg none":         encodeSegment(`{"alg":"none","typ":"`+token.TypeCaller+`"}`) + "." + parts[1] + ".",
		"no signature":     parts[0] + "." + parts[1] + ".", "the signature of another": parts[0] + "." +
			strings.Split(signed(token.TypeCaller, claims(`,"rid":"r2"`)), ".")[1] + "." + parts[2],
		"a key as a secret":    hmac,
		"a key in the header":  encodeSegment(`{"alg":"ES256","kid":"`+kid+`","typ":"`+token.TypeCaller+`","jku":"x"}`) + "." + parts[1] + "." + parts[2],
		"a key of another":     signStatement(t, other, func(*Statement) {}),
		"another issuer":       signed(token.TypeCaller, replaced(issuer, "https://other.example")),
		"another upstream":     signed(token.TypeCaller, replaced(upstream, "https://other.example")),
		"the upstream's name":  signed(token.TypeCaller, replaced(upstream, "api.example.com")),
		"two audiences":        signed(token.TypeCaller, replaced(`"`+upstream+`"`, `["`+upstream+`","https://other.example"]`)),
		"no audience":          signed(token.TypeCaller, replaced(`"aud"`, `"aux"`)),
		"no subject":           signed(token.TypeCaller, replaced(`"sub":"u1"`, `"sub":""`)),
		"no client":            signed(token.TypeCaller, replaced(`"client_id"`, `"client"`)),
		"no tool":              signed(token.TypeCaller, replaced(`"tool"`, `"tools"`)),
		"no end":               signed(token.TypeCaller, replaced(`"exp"`, `"end"`)),
		"no beginning":         signed(token.TypeCaller, replaced(`"iat"`, `"at"`)),
		"an end in a text":     signed(token.TypeCaller, replaced(fmt.Sprint(now+60), fmt.Sprintf("%q", fmt.Sprint(now+60)))),
		"over":                 signed(token.TypeCaller, replaced(fmt.Sprint(now+60), fmt.Sprint(now))),
		"not begun":            signed(token.TypeCaller, replaced(`"iat":`+fmt.Sprint(now), `"iat":`+fmt.Sprint(now+200))),
		"a subject twice":      signed(token.TypeCaller, claims(`,"sub":"u2"`)),
		"an actor that is not": signed(token.TypeCaller, claims(`,"act":{"sub":""}`)),
		"an act in a text":     signed(token.TypeCaller, claims(`,"act":"a1"`)),
		"eleven actors":        signed(token.TypeCaller, claims(strings.Repeat(`,"act":{"sub":"a"`, 11)+strings.Repeat("}", 11))),
		"a jti that is none":   signed(token.TypeCaller, claims(`,"jti":""`)), "a rid that is none": signed(token.TypeCaller, claims(`,"rid":1`)),
		"no object": signed(token.TypeCaller, []byte(`[]`)), "longer than 8 KiB": signed(token.TypeCaller, claims(`,"x":"`+strings.Repeat("x", 8<<10)+`"`)),
		"a blank behind it": good + " ", "padding": good + "=",
	} {
		got, err := Read(p, c, issuer, upstream)
		if !errors.Is(err, token.ErrInvalid) || !reflect.DeepEqual(got, Statement{}) {
			t.Errorf("%s: Read() = %+v, %v, want token.ErrInvalid alone", name, got, err)
		}
	}
}

// access returns an access token for the upstream.
func access(t testing.TB, keys *token.Keys) string {
	t.Helper()
	now := time.Now()
	text, err := keys.SignAccess(token.Claims{Issuer: issuer, Subject: "u1", Audience: upstream, ClientID: "app1",
		Scope: "tools", ID: "j1", Grant: handle.NewGrant(now), IssuedAt: now, ExpiresAt: now.Add(time.Hour)})
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// encodeSegment writes a part of a token by hand.
func encodeSegment(text string) string { return base64.RawURLEncoding.EncodeToString([]byte(text)) }

func TestStatementIsNothingElse(t *testing.T) {
	keys, v := keysOf(t)
	for _, audience := range []string{issuer, upstream, "app1"} {
		text := signStatement(t, keys, func(s *Statement) { s.Audience = audience })
		if _, err := v.Verify(t.Context(), text, audience); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("Verify(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := v.Issued(text); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("Issued(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := keys.VerifyID(text, issuer, storage.App{ID: "app1"}); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("VerifyID(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
		if _, err := publishedBy(t, keys).Verify(text, audience); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("the published keys: Verify(a statement for %s) = %v, want ErrInvalid", audience, err)
		}
	}
}

func TestStatementEndsWithItsMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		keys, _ := keysOf(t)
		p, text := publishedBy(t, keys), signStatement(t, keys, func(*Statement) {})
		time.Sleep(time.Minute - 1)
		if _, err := Read(p, text, issuer, upstream); err != nil {
			t.Errorf("just before its end: %v", err)
		}
		time.Sleep(time.Nanosecond)
		if _, err := Read(p, text, issuer, upstream); !errors.Is(err, token.ErrInvalid) {
			t.Errorf("at its end: %v, want ErrInvalid", err)
		}
	})
}

func BenchmarkSign(b *testing.B) {
	keys, _ := keysOf(b)
	s := statement()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Sign(keys, s); err != nil {
			b.Fatal(err)
		}
	}
}
