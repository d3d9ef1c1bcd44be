package toolschema

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/internal/toolschema/tree"
)

func TestHiddenTextIsStripped(t *testing.T) {
	for name, text := range hiddentext.Hidden {
		for _, c := range []struct{ in, want string }{
			{text, ""}, {"a" + text + "b", "ab"}, {text + "a", "a"}, {"a" + text, "a"}, {"1" + text + "b", "1b"},
			{"用" + text + "户", "用户"},
		} {
			if got := strings.ReplaceAll(Text(c.in), " ", ""); got != c.want {
				t.Errorf("%s: Text(%q) = %q, want %q", name, c.in, got, c.want)
			}
			if Visible(c.in) {
				t.Errorf("%s: %q passes for visible", name, c.in)
			}
		}
	}
}

// Joiners and selectors are kept where they are seen, and nowhere else.
func TestJoinersAndSelectorsOutOfPlaceAreStripped(t *testing.T) {
	for in, want := range map[string]string{
		"a\u200db": "ab", "a\u200cb": "ab", "می\u200c": "می", "می\u200c x": "می x", "\u200cمی": "می",
		"می\u200c\u200cخ": "می\u200cخ", "می\u200c\u200dخ": "می\u200dخ", "م\u200dक": "مक",
		"👨\u200d": "👨", "👨\u200d\u200d👩": "👨\u200d👩", "👨\u200cx": "👨x", "👨\u200c👩": "👨👩", "1\u200d2": "12", "a\u200d👩": "a👩",
		"🇩\u200d🇪":      "🇩🇪",
		"❤\ufe0f\ufe0f": "❤️", "❤\ufe0f\ufe0e": "❤️", "❤\ufe0e\ufe0f\ufe0e": "❤\ufe0e", "a\ufe0f": "a", "1\ufe0f": "1",
		"1\ufe0f2": "12", "1\ufe0e\u20e3": "1\u20e3", "#\ufe0f": "#", "用\ufe00": "用", "🇩\ufe0f": "🇩", "👍🏿\ufe0f": "👍🏿",
		"🏴" + hiddentext.Tags("usca") + "\U000e007f": "🏴", "🏴" + hiddentext.Tags("gbeng"): "🏴",
		"🏴" + hiddentext.Tags("gbengx") + "\U000e007f": "🏴", "🏴󠁧󠁢󠁥󠁮󠁧󠁿" + hiddentext.Tags("gbeng") + "\U000e007f": "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
		"x" + hiddentext.Tags("gbeng") + "\U000e007f": "x", "🏴️" + hiddentext.Tags("gbeng") + "\U000e007f": "🏴️",
		"⠓\u2800⠓": "⠓ ⠓", "a\nb\tc\u2028d\u2029e\r\nf": "a b c d e f", "a\xffb\xe2\x80": "ab",
	} {
		if got := Text(in); got != want {
			t.Errorf("Text(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestLegibleTextIsKeptByteForByte(t *testing.T) {
	for _, text := range hiddentext.Legible {
		if got := Text(text); got != text || !Visible(text) || Lines(text) != text {
			t.Errorf("Text(%q) = %q, Visible %t", text, got, Visible(text))
		}
	}
	all := strings.Join(hiddentext.Legible, "; ")
	if got := Text(all); got != all {
		t.Errorf("Text(all of it) = %q", got)
	}
}

func TestTextThatIsCutStaysLegible(t *testing.T) {
	for _, end := range []string{"👨‍👩‍👧‍👦", "می\u200cخ", "1️⃣", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "❤️", "क्\u200dष"} {
		for n := maxRunes - 8; n <= maxRunes; n++ {
			got := Text(strings.Repeat("x", n) + strings.Repeat(end, 3))
			if utf8.RuneCountInString(got) > maxRunes || Text(got) != got {
				t.Errorf("%d characters and %q: Text() ends in %q, which has more to strip", n, end, got[n:])
			}
		}
	}
}

func TestLinesOfATextStayLines(t *testing.T) {
	for in, want := range map[string]string{"a\nb\r\n\tc": "a\nb\n c", "a\u200b\n\u202eb": "a\nb",
		strings.Repeat("é\n", 2000): strings.Repeat("é\n", 2000)} {
		if got := Lines(in); got != want {
			t.Errorf("Lines(%.40q) = %.40q, want %.40q", in, got, want)
		}
	}
}

func TestPlainTextCostsNothing(t *testing.T) {
	for _, text := range []string{"Lists the pets of an owner, at most 100.", "获取用户列表", "می\u200cخواهم 👨‍👩‍👧‍👦"} {
		if n := testing.AllocsPerRun(100, func() { Text(text); Visible(text) }); n != 0 {
			t.Errorf("Text(%q) allocates %v times, want none", text, n)
		}
	}
}

// The keywords of a schema are data: they are shown as they are or not at all.
func TestKeywordWithHiddenTextIsDroppedAndReported(t *testing.T) {
	for name, text := range hiddentext.Hidden {
		quoted, _ := json.Marshal("a" + text + "b")
		s := string(quoted)
		for keyword, value := range map[string]string{
			"enum": `["x",` + s + `]`, "const": s, "default": `[{"a":[` + s + `]}]`, "format": s, "pattern": s,
		} {
			schema := `{"properties":{"p":{"title":` + s + `,"description":` + s + `,"` + keyword + `":` + value + `,"type":"string"}}}`
			got, reports := reported(t, schema, Limits{Properties: 9})
			if want := `"title":"`; !strings.Contains(got, want) || strings.Contains(got, keyword) || !ascii(got) {
				t.Errorf("%s in %s: %s", name, keyword, got)
			}
			if !slices.Contains(reports, "/properties/p/"+keyword+" "+hiddenReason) && keyword != "pattern" {
				t.Errorf("%s in %s: reported is %q", name, keyword, reports)
			}
		}
		for _, schema := range []string{
			`{"properties":{"p":{"default":{` + s + `:1}}}}`, `{"properties":{"p":{"enum":[{"a":{` + s + `:1}}]}}}`,
			`{"properties":{"p":{"type":"object","properties":{` + s + `:{"type":"string"},"b":{}},"required":[` + s + `,"b"],"additionalProperties":{"type":"integer"}}}}`,
			`{"properties":{"p":{"items":{"anyOf":[{"const":` + s + `},{"type":"string"}]},"type":"array"}}}`,
			`{"properties":{"p":{"$ref":` + s + `}}}`, `{"properties":{"p":{"type":` + s + `}}}`,
		} {
			if got, _ := reported(t, schema, Limits{Depth: 8, Nodes: 100, Properties: 9}); !ascii(got) ||
				strings.Contains(got, "additionalProperties") {
				t.Errorf("%s: %s of %s", name, got, schema)
			}
		}
	}
	for _, text := range hiddentext.Legible {
		if quoted, _ := json.Marshal(text); text != "" {
			s := string(quoted)
			object := `{` + s + `:` + s + `}`
			schema := `{"properties":{"c":{"const":` + s + `},"p":{"default":` + object + `,"enum":[` + s + `,` +
				object +
				`]}},"type":"object"}`
			if got, reports := reported(t, schema, Limits{Properties: 9}); !sameText(t, got, schema) || len(reports) > 0 {
				t.Errorf("%q is left out: %s, %q", text, got, reports)
			}
		}
	}
}

// reported shows the input schema of a tool, and what was left out of it.
func reported(t *testing.T, schema string, l Limits) (shown string, reports []string) {
	t.Helper()
	root, err := tree.Parse(schema, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	p := NewDocument(root, maxHops).Projection(l,
		func(n Node, why string) { reports = append(reports, n.Pointer()+" "+why) })
	fields, ok := p.Fields(p.doc.Root())
	if !ok || p.Err() != nil {
		t.Fatalf("Fields(%s) = %v, %v", schema, ok, p.Err())
	}
	out, err := Input(fields).JSON(maxBytes)
	if err != nil {
		t.Fatal(err)
	}
	return string(out), reports
}

func sameText(t *testing.T, a, b string) bool {
	t.Helper()
	x, err := tree.Parse(a, maxDepth)
	y, err2 := tree.Parse(b, maxDepth)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	return tree.Equal(x, y)
}

func ascii(s string) bool {
	var v any
	json.Unmarshal([]byte(s), &v)
	ok := v != nil
	hiddentext.Each(v, func(text string) {
		ok = ok && !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
	})
	return ok
}

// forbidden reports what no cleaned text has, said in another way than the cleaner does.
func forbidden(r rune) bool {
	switch {
	case r == '\u200c', r == '\u200d', r == '\ufe0e', r == '\ufe0f', 0xe0061 <= r && r <= 0xe007f:
		return false // by what stands beside them
	}
	return unicode.In(r, unicode.C, unicode.Zl, unicode.Zp, unicode.Variation_Selector,
		unicode.Other_Default_Ignorable_Code_Point) || r == '\u2800'
}

func FuzzText(f *testing.F) {
	for _, text := range hiddentext.Hidden {
		f.Add("a" + text + "b")
	}
	for _, text := range hiddentext.Legible {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, s string) {
		once := Text(s)
		if again := Text(once); again != once {
			t.Errorf("Text(Text(%q)) = %q, want %q", s, again, once)
		}
		if lines := Lines(s); Lines(lines) != lines {
			t.Errorf("Lines(Lines(%q)) = %q, want %q", s, Lines(lines), lines)
		}
		if !Visible(once) || !utf8.ValidString(once) || utf8.RuneCountInString(once) > maxRunes ||
			strings.TrimSpace(once) != once {
			t.Errorf("Text(%q) = %q, want one line of visible text", s, once)
		}
		runes := []rune(once)
		for i, r := range runes {
			last := i == len(runes)-1
			tag := 0xe0061 <= r && r <= 0xe007f
			switch {
			case forbidden(r), r == '\n':
				t.Errorf("Text(%q) = %q, which has %U", s, once, r)
			case i == 0 && (r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f' || tag), last &&
				(r == '\u200c' || r == '\u200d'):
				t.Errorf("Text(%q) = %q, where %U joins nothing", s, once, r)
			case i > 0 && runes[i-1] == r && (r == '\u200c' || r == '\u200d' || r == '\ufe0e' || r == '\ufe0f' || tag):
				t.Errorf("Text(%q) = %q, which has a run of %U", s, once, r)
			}
		}
	})
}
