package repeat

import (
	"strings"
	"testing"
)

func TestKeyIsATextInQuotesOrAWord(t *testing.T) {
	long := strings.Repeat("k", maxKey)
	for value, want := range map[string]string{
		`"8e03978e-40d5-43e8-bc93-6894a57f9324"`: "8e03978e-40d5-43e8-bc93-6894a57f9324", // as the draft has it
		"8e03978e-40d5-43e8-bc93-6894a57f9324":   "8e03978e-40d5-43e8-bc93-6894a57f9324", // as clients send it
		" k \t":                                  "k",
		`"a b"`:                                  "a b",
		`"a\"b\\c"`:                              `a"b\c`,
		`"a,b;c"`:                                "a,b;c",
		"base64+/=":                              "base64+/=",
		long:                                     long,
		`"` + long + `"`:                         long,
		`"` + strings.Repeat(`\"`, maxKey) + `"`: strings.Repeat(`"`, maxKey),
	} {
		if got, err := ParseKey([]string{value}); got != want || err != nil {
			t.Errorf("ParseKey(%.40q) = %.40q, %v; want %.40q", value, got, err, want)
		}
	}
}

func TestIdempotencyKeyThatIsInvalidIsRefusedWithAReason(t *testing.T) {
	for value, want := range map[string]error{
		"": errEmpty, "  ": errEmpty, `""`: errEmpty,
		strings.Repeat("k", maxKey+1): errLong, strings.Repeat("k", 10<<10): errLong, `"` + strings.Repeat("k", maxKey+1) + `"`: errLong,
		"a b": errForm, "a\x00b": errForm, "a\x7fb": errForm, "clé": errForm, "a,b": errForm, "a;b=1": errForm, `a"b`: errForm, `a\b`: errForm,
		`"a`: errForm, `"`: errForm, `"a\`: errForm, `"a\b"`: errForm, `"a"b`: errForm, `"a";b=1`: errForm, "\"a\tb\"": errForm, `"clé"`: errForm,
	} {
		if got, err := ParseKey([]string{value}); got != "" || err != want {
			t.Errorf("ParseKey(%.40q) = %.40q, %v; want %v", value, got, err, want)
		}
	}
	for _, values := range [][]string{nil, {"a", "a"}, {"a", "b"}} {
		if got, err := ParseKey(values); got != "" || err != errSeveral {
			t.Errorf("ParseKey(%q) = %q, %v; want %v", values, got, err, errSeveral)
		}
	}
}

func FuzzParseKey(f *testing.F) {
	for _, value := range []string{`"8e03978e-40d5-43e8-bc93-6894a57f9324"`, "word", `"a\"b\\"`, `"a"b`, `"`, " ", "a,b"} {
		f.Add(value)
	}
	f.Fuzz(func(t *testing.T, value string) {
		key, err := ParseKey([]string{value})
		if err != nil {
			if key != "" {
				t.Fatalf("ParseKey(%q) = %q and %v", value, key, err)
			}
			return
		}
		if key == "" || len(key) > maxKey || strings.ContainsFunc(key, func(c rune) bool { return c < ' ' || c > '~' }) {
			t.Fatalf("ParseKey(%q) = %q, want 1 to %d visible characters", value, key, maxKey)
		}
		again := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(key) + `"`
		if got, err := ParseKey([]string{again}); got != key || err != nil {
			t.Fatalf("ParseKey(%q) = %q, %v; want %q, whose quoted form it is", again, got, err, key)
		}
		if word := strings.Trim(value, " \t"); word[0] != '"' && word != key {
			t.Fatalf("ParseKey(%q) = %q, want the word itself", value, key)
		}
	})
}
