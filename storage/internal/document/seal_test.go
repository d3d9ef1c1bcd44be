package document

import (
	"bytes"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/secret"
)

func TestSealedTextOpensOnlyInItsPlaceWithItsKey(t *testing.T) {
	old, fresh := secret.NewMasterKey(), secret.NewMasterKey()
	before, _ := newSealer([]secret.MasterKey{old})
	after, _ := newSealer([]secret.MasterKey{fresh, old})
	unrelated, _ := newSealer([]secret.MasterKey{secret.NewMasterKey()})
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
	for _, elsewhere := range []string{place("app", "ks2", "secret.0"), place("app", "ks1", "secret.1"),
		place("key", "ks1", "secret.0"), ""} {
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

func TestMasterKeyIsReadInEveryUsualSpelling(t *testing.T) {
	key := secret.NewMasterKey()
	for _, text := range []string{key.Text(), key.Text() + "=", " " + key.Text() + "\n",
		strings.NewReplacer("-", "+", "_", "/").Replace(key.Text())} {
		if got, err := secret.ParseMasterKey(text); err != nil || got.Text() != key.Text() {
			t.Errorf("ParseMasterKey(%d characters) = %v, want the key", len(text), err)
		}
	}
	for _, text := range []string{"", "short", key.Text()[1:], key.Text() + "AA", strings.Repeat("*", 43)} {
		if _, err := secret.ParseMasterKey(text); err == nil {
			t.Errorf("ParseMasterKey(%q) accepted", text)
		}
	}
	if _, err := newSealer([]secret.MasterKey{{}}); err == nil {
		t.Error("the zero MasterKey seals")
	}
}
