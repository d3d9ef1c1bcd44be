package token

import (
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/handle"
)

func TestActorsAndKeyAreReadAsTheyWereWritten(t *testing.T) {
	c := Claims{Issuer: "https://id", Subject: "u1", Audience: "https://id", ClientID: "a", ID: "j",
		Grant: handle.NewGrant(time.Now()), IssuedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour),
		KeyThumbprint: "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"}
	for n := range MaxActors + 1 {
		if err := c.check(); err != nil {
			t.Fatal(err)
		}
		got, err := claimed(c.append(nil), c.Issuer)
		if err != nil || !slices.Equal(got.caller.Actors, c.Actors) || got.caller.KeyThumbprint != c.KeyThumbprint {
			t.Fatalf("%d actors: %v %v", n, got, err)
		}
		c.Actors = append(c.Actors, `a"`+strconv.Itoa(n))
	}
	if err := c.check(); err == nil {
		t.Error("one actor more than the limit may be signed")
	}
	c.Actors = c.Actors[:MaxActors]
	deeper := strings.Replace(string(c.append(nil)), `"act":{`, `"act":{"sub":"b","act":{`, 1)
	if _, err := claimed([]byte(strings.Replace(deeper, `},"cnf"`, `}},"cnf"`, 1)), c.Issuer); err == nil ||
		!strings.Contains(err.Error(), "too deep") {
		t.Errorf("one actor more than the limit: %v", err)
	}
}

func TestActAndCnfOfAnotherShapeAreRefused(t *testing.T) {
	c := Claims{Issuer: "https://id", Subject: "u1", Audience: "https://id", ClientID: "a", ID: "j",
		Grant: handle.NewGrant(time.Now()), IssuedAt: time.Now(), ExpiresAt: time.Now().Add(time.Hour)}
	good := string(c.append(nil))
	for _, more := range []string{
		`"act":null`, `"act":"a"`, `"act":{}`, `"act":[]`, `"act":{"sub":""}`, `"act":{"sub":1}`,
		`"act":{"sub":"a","act":null}`, `"act":{"sub":"a","act":{"sub":"b","act":{}}}`, `"act":{"sub":"a","sub":"b"}`,
		`"act":{"sub":"a","SUB":"b"}`, `"Act":{"sub":"a"}`, `"act":{"sub":"a","Act":{"sub":"b"}}`,
		`"cnf":null`, `"cnf":{}`, `"cnf":{"jkt":""}`, `"cnf":{"jkt":"x"}`, `"cnf":{"x5t#S256":"a"}`, `"CNF":{}`,
		`"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I","jwk":{}}`,
		`"cnf":{"jkt":"0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4J"}`,
	} {
		if _, err := claimed([]byte(strings.TrimSuffix(good, "}")+","+more+"}"), c.Issuer); err == nil {
			t.Errorf("a token with %s is read", more)
		}
	}
}
