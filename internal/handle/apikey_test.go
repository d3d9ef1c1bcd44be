package handle

import (
	"regexp"
	"strings"
	"testing"
)

func TestAPIKeyIsFoundByItsPatternAndItsChecksum(t *testing.T) {
	pattern := regexp.MustCompile(APIKeyPattern)
	seen := map[string]bool{}
	for range 1000 {
		key := NewAPIKey()
		for _, text := range []string{key, "Authorization: Bearer " + key, `{"key":"` + key + `"}`, "KEY=" + key + "\n"} {
			if found := pattern.FindString(text); found != key {
				t.Fatalf("in %q the pattern finds %q", text, found)
			}
		}
		if !IsAPIKey(key) || seen[key] || Hash(key) == key {
			t.Fatalf("%q is no key, or was drawn before", key)
		}
		seen[key] = true
	}
}

// The checksum tells what was mistyped or made up from keys, without a store.
func TestAPIKeyShapeIsCheckedOffline(t *testing.T) {
	key := NewAPIKey()
	for i := range len(key) {
		for _, c := range "aZ0_-.\n=" {
			if other := key[:i] + string(c) + key[i+1:]; other != key && IsAPIKey(other) {
				t.Errorf("%q passes for a key with character %d changed", other, i)
			}
		}
		if IsAPIKey(key[:i]) || IsAPIKey(key[:i]+key[i+1:]) {
			t.Errorf("a key passes without character %d", i)
		}
	}
	for _, text := range []string{"", "ks_", key + "a", "\n" + key, " " + key, strings.ToUpper(key), "rt_" + key[3:],
		strings.Repeat("ks_", 14), "ks_" + strings.Repeat("\n", 32) + "000000"} {
		if IsAPIKey(text) {
			t.Errorf("%q passes for a key", text)
		}
	}
}

// A scanner elsewhere computes the same checksum: CRC-32 of all before it, in base 62.
func TestChecksumIsTheDocumentedOne(t *testing.T) {
	const body = "ks_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"
	if !IsAPIKey(body + "4Vsewy") {
		t.Errorf("checksum(%q) = %q", body, checksum(body))
	}
}
