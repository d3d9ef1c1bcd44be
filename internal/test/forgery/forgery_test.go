package forgery_test

import (
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/forgery"
	"github.com/keystile/keystile/internal/token"
	"github.com/keystile/keystile/storage"
)

func TestForgeryHasANameOfItsOwnAndIsNotGenuine(t *testing.T) {
	key, err := token.NewKey(token.ES256, storage.KeyActive)
	if err != nil {
		t.Fatal(err)
	}
	s := forgery.Service{Keys: []storage.SigningKey{key}, Issuer: "https://id.example", ClientID: "app1", Sub: "u1"}
	genuine := forgery.Genuine(t, s)
	names, tokens := map[string]bool{}, map[string]string{}
	for _, f := range forgery.All(t, s) {
		if names[f.Name] {
			t.Errorf("two forgeries are named %q", f.Name)
		}
		if twin, there := tokens[f.Token]; there {
			t.Errorf("%q and %q are one token", f.Name, twin)
		}
		if f.Token == genuine {
			t.Errorf("%q is the genuine token", f.Name)
		}
		names[f.Name], tokens[f.Token] = true, f.Name
	}
	if len(names) < 250 {
		t.Errorf("All() = %d forgeries, want 250 or more", len(names))
	}
}

func TestForgeryThatIsLostOnTheWayIsNotSendable(t *testing.T) {
	for text, want := range map[string]bool{
		"": true, "a.b.c": true, "a b": true, "令牌": true, strings.Repeat(".", 100_000): true,
		"a\n": false, "a\r\nb": false, "a\t": false, "a\x00": false, "a ": false,
	} {
		if got := (forgery.Forgery{Token: text}).Sendable(); got != want {
			t.Errorf("Sendable(%.20q) = %v, want %v", text, got, want)
		}
	}
}
