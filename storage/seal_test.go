package storage

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"testing"
)

func TestSealedTextOpensOnlyInItsPlaceWithItsKey(t *testing.T) {
	old, fresh := NewMasterKey(), NewMasterKey()
	before, _ := newSealer([]MasterKey{old})
	after, _ := newSealer([]MasterKey{fresh, old})
	unrelated, _ := newSealer([]MasterKey{NewMasterKey()})
	here := place("app", "ks1", "secret.0")
	sealed := before.seal("the appkey", here)
	if bytes.Contains(sealed, []byte("appkey")) {
		t.Error("the sealed text shows the plain text")
	}
	if bytes.Equal(sealed, before.seal("the appkey", here)) {
		t.Error("the same text is sealed the same way twice: the nonce is not random")
	}
	if got, err := after.open(sealed, here); got != "the appkey" || err != nil {
		t.Errorf("open with a later keyring = %q, %v, want the text", got, err)
	}
	if _, err := before.open(after.seal("x", here), here); err == nil {
		t.Error("a text sealed with the new key opens with the old one")
	}
	if _, err := unrelated.open(sealed, here); err == nil {
		t.Error("a text opens with another master key")
	}
	for _, elsewhere := range []string{place("app", "ks2", "secret.0"), place("app", "ks1", "secret.1"), place("key", "ks1", "secret.0"), ""} {
		if _, err := before.open(sealed, elsewhere); err == nil {
			t.Errorf("a text moved to %q opens there", elsewhere)
		}
	}
	for i := range sealed {
		broken := bytes.Clone(sealed)
		broken[i] ^= 1
		if _, err := before.open(broken, here); err == nil {
			t.Errorf("a text changed at byte %d opens", i)
		}
	}
	for n := range sealed {
		if _, err := before.open(sealed[:n], here); err == nil {
			t.Errorf("a text cut to %d bytes opens", n)
		}
	}
}

func TestAMasterKeyIsReadInEveryUsualSpelling(t *testing.T) {
	key := NewMasterKey()
	for _, text := range []string{key.Text(), key.Text() + "=", " " + key.Text() + "\n", strings.NewReplacer("-", "+", "_", "/").Replace(key.Text())} {
		if got, err := ParseMasterKey(text); err != nil || got.Text() != key.Text() {
			t.Errorf("ParseMasterKey(%d characters) = %v, want the key", len(text), err)
		}
	}
	for _, text := range []string{"", "short", key.Text()[1:], key.Text() + "AA", strings.Repeat("*", 43)} {
		if _, err := ParseMasterKey(text); err == nil {
			t.Errorf("ParseMasterKey(%q) accepted", text)
		}
	}
	if _, err := newSealer([]MasterKey{{}}); err == nil {
		t.Error("the zero MasterKey seals")
	}
}

func TestASecretCannotBeShownByAccident(t *testing.T) {
	const text = "s3cr3t-s3cr3t"
	app := App{ID: "a", Secrets: []AppSecret{{Secret: NewSecret(text)}}}
	type holder struct{ hidden Secret } // fmt cannot call String on it
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "app", app, "secret", app.Secrets[0].Secret)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "app", app, "secret", app.Secrets[0].Secret)
	j, err := json.Marshal(map[string]any{"app": app, "secret": app.Secrets[0].Secret})
	if err != nil {
		t.Fatal(err)
	}
	shown := log.String() + string(j)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		for _, v := range []any{app, app.Secrets, holder{app.AppKey()}, &app} {
			shown += fmt.Sprintf(verb, v)
		}
	}
	if strings.Contains(shown, text) || strings.Contains(shown, fmt.Sprintf("%x", text)) {
		t.Errorf("the secret is shown: %s", shown)
	}
}

func TestSecretsCompare(t *testing.T) {
	s := NewSecret("abc")
	for text, want := range map[string]bool{"abc": true, "abd": false, "ab": false, "abcd": false, "": false} {
		if got := s.Equal(text); got != want {
			t.Errorf("Equal(%q) = %t, want %t", text, got, want)
		}
	}
	if (Secret{}).Equal("") || NewSecret("").Equal("") {
		t.Error("no secret equals the empty text")
	}
}
