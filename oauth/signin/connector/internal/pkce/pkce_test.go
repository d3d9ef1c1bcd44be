package pkce

import (
	"testing"

	"github.com/keystile/keystile/storage"
)

func TestVisitHasSecretsOfItsOwnOnEveryNode(t *testing.T) {
	a := New(storage.NewSecret("s3cret"), "https://a.example", "app")
	seen := map[string]string{}
	for what, value := range map[string]string{
		"verifier": a.Verifier("1"), "another visit": a.Verifier("2"), "nonce": a.Nonce("1"),
		"nonce of another visit": a.Nonce("2"),
		"another issuer":         New(storage.NewSecret("s3cret"), "https://b.example", "app").Verifier("1"),
		"another application":    New(storage.NewSecret("s3cret"), "https://a.example", "app2").Verifier("1"),
		"another secret":         New(storage.NewSecret("s3cres"), "https://a.example", "app").Verifier("1"),
		"challenge":              Challenge(a.Verifier("1")),
	} {
		if len(value) != 43 || seen[value] != "" {
			t.Errorf("%s: %q, which is that of %q", what, value, seen[value])
		}
		seen[value] = what
	}
	if b := New(storage.NewSecret("s3cret"), "https://a.example", "app"); b.Verifier("1") != a.Verifier("1") ||
		b.Nonce("1") != a.Nonce("1") {
		t.Error("another node derives something else")
	}
}

// The example of RFC 7636, appendix B.
func TestChallengeIsThatOfTheRFC(t *testing.T) {
	got := Challenge("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk")
	if got != "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM" {
		t.Errorf("the challenge is %s", got)
	}
}
