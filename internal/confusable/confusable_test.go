package confusable

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// alike reports whether two names share a skeleton.
func alike(a, b string) bool {
	other := Skeletons(b)
	return slices.ContainsFunc(Skeletons(a), func(s string) bool { return slices.Contains(other, s) })
}

func TestNamesThatCanBeMistakenForEachOtherShareASkeleton(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		alike bool
	}{
		{"alice", "alice", true},
		{"alice", "\u0430lice", true},              // Cyrillic a
		{"alice", "ａlice", true},                   // full width
		{"alice", "alice\u0301", true},             // combining acute
		{"alice", "al\u0456ce", true},              // Ukrainian i
		{"alice", "a\u200dlice", true},             // zero width joiner
		{"alice", "ali\u3164ce", true},             // Hangul filler
		{"alice", "aIice", true},                   // capital I
		{"alice", "a1ice", true},                   // one
		{"alice", "a|ice", true},                   // bar
		{"Alice", "\u0391lice", true},              // capital Alpha
		{"papa", "\u0440\u0430\u0440\u0430", true}, // all of it Cyrillic
		{"bob", "b\u043eb", true},                  // Cyrillic o
		{"LISA", "L1SA", true},                     //
		{"robot", "r0bot", true},                   // zero
		{"R0bot", "robot", true},                   //
		{"modern", "rnodern", true},                // rn
		{"jose", "josé", true},                     //
		{"bjorn", "bjørn", true},                   //
		{"Ian", "lan", true},                       // l
		{"σας", "ΣΑΣ", true},                       // final sigma
		{"scope", "\u0455\u0441\u043e\u0440\u0435", true},
		{"apple", "\u0430\u0440\u0440\u04cf\u0435", true}, // all of it Cyrillic, with a palochka
		{"Alice", "\u0410\u04cf\u0456\u0441\u0435", true},
		{"微信", "微信", true},
		{"ﬁn", "fin", true}, // ligature
		{"ian", "lan", false},
		{"alice", "alicia", false},
		{"か", "が", false}, // the voicing mark makes another letter
		{"王", "玉", false},
		{"कि", "कु", false},
		{"anna", "hanna", false},
	} {
		if got := alike(c.a, c.b); got != c.alike {
			t.Errorf("%q %+q and %q %+q: alike = %t, want %t", c.a, Skeletons(c.a), c.b, Skeletons(c.b), got, c.alike)
		}
	}
}

func TestNameIsLookedUpByNFKCInLowerCase(t *testing.T) {
	for typed, want := range map[string]string{
		" Alice ": "alice", "ＡＬＩＣＥ": "alice", "\u3000ａｌｉｃｅ\u3000": "alice", "e\u0301": "é", "É": "é", "\u212a": "k",
		"\u0430lice": "\u0430lice", "ﾊﾝﾄﾞﾙ": "ハンドル",
	} {
		if got := Key(typed); got != want || Key(got) != got {
			t.Errorf("Key(%q) = %q, want %q and no other form of itself", typed, got, want)
		}
	}
	if got := Normal("　Ａlice "); got != "Alice" {
		t.Errorf("Normal() = %q, want the case kept", got)
	}
}

func TestNewNameIsSeenAndOfOneWritingSystem(t *testing.T) {
	for name, want := range map[string]error{
		"alice": nil, "Alice B. 2nd_x-y": nil, "a@b.example": nil, "王小明": nil, "王xiaoming": nil, "さくらサクラ桜sakura": nil,
		"김철수kim": nil, "ㄅㄆ注音abc": nil, "Алиса": nil, "Алиса7": nil, "ελένη": nil, "محمد": nil, "आलिया": nil, "josé": nil,
		"🙂":     nil,
		"ﾊﾝﾄﾞﾙ": nil, "Ａｌｉｃｅ": nil, "王　小明": nil, "ハンドルー": nil,
		"": ErrText, " ": ErrText, "\u3000": ErrText, "a\u200bb": ErrText, "a\u202eb": ErrText, "a\u2066b": ErrText,
		"a\u00adb": ErrText,
		"a\u3164b": ErrText, "\uffa0": ErrText, "a\ufe0fb": ErrText, "a\u034fb": ErrText, "a\U000e0041": ErrText,
		"a\u2800": ErrText,
		"a\nb":    ErrText, "a\x00": ErrText, "\xff": ErrText, "a\u2028b": ErrText, "\ue000": ErrText, "a\u115fb": ErrText,
		strings.Repeat("x", 100): nil, strings.Repeat("x", 101): ErrText,
		strings.Repeat("\ufdfa", 10): ErrText, // 30 bytes that become 330
		"\u0430lice":                 ErrMixed, "al\u03b9ce": ErrMixed, "김さん": ErrMixed, "Алиса王": ErrMixed,
		"محمدx": ErrMixed, "ㄅか": ErrMixed,
	} {
		if got := Check(name); !errors.Is(got, want) {
			t.Errorf("Check(%+q) = %v, want %v", name, got, want)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	if len(table()) != strings.Count(tableText, "\n") || len(table()) < 2000 {
		t.Errorf("%d code points in %d lines", len(table()), strings.Count(tableText, "\n"))
	}
	for from, to := range table() {
		if to == "" || !utf8.ValidString(to) || strings.ContainsRune(to, utf8.RuneError) {
			t.Errorf("%U looks like %q", from, to)
		}
		for _, r := range to {
			if like, ok := table()[r]; ok && like != string(r) {
				t.Errorf("%U looks like %U, which looks like %q", from, r, like)
			}
		}
	}
}
