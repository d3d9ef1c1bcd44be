package yamljson

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

var wideLimits = Limits{Bytes: 1 << 20, Depth: 64, Nodes: 1 << 16}

// refused returns the error of a document that must not be read.
func refused(t *testing.T, text string, l Limits) *Error {
	t.Helper()
	out, err := JSON(t.Context(), []byte(text), l)
	var e *Error
	if !errors.As(err, &e) {
		t.Fatalf("JSON(%.80q) = %.80s, %v, want an error with its place", text, out, err)
	}
	return e
}

func TestScalarsFollowTheCoreSchemaOfYAML12(t *testing.T) {
	for text, want := range map[string]string{
		`null`: `null`, `Null`: `null`, `NULL`: `null`, `~`: `null`, ``: `null`, `nULL`: `"nULL"`, `"~"`: `"~"`, `''`: `""`,
		`true`: `true`, `True`: `true`, `TRUE`: `true`, `false`: `false`, `False`: `false`, `FALSE`: `false`, `tRUE`: `"tRUE"`,
		`yes`: `"yes"`, `no`: `"no"`, `on`: `"on"`, `off`: `"off"`, `Yes`: `"Yes"`, `NO`: `"NO"`, `y`: `"y"`, `n`: `"n"`, `'true'`: `"true"`,
		`0`: `0`, `-0`: `-0`, `12`: `12`, `-12`: `-12`, `+12`: `12`, `012`: `12`, `-007`: `-7`, `00`: `0`, `0o14`: `12`, `0xC`: `12`, `0xfF`: `255`,
		`0o18`: `"0o18"`, `0xG`: `"0xG"`, `0x`: `"0x"`, `-0xC`: `"-0xC"`, `0O14`: `"0O14"`, `0b1`: `"0b1"`, `"0o14"`: `"0o14"`,
		`1_000`: `"1_000"`, `12:30:45`: `"12:30:45"`, `2020-01-01`: `"2020-01-01"`, `2001-12-14t21:59:43.10-05:00`: `"2001-12-14t21:59:43.10-05:00"`,
		`9007199254740993`: `9007199254740993`, `123456789012345678901234567890`: `123456789012345678901234567890`, `0xFFFFFFFFFFFFFFFFFF`: `4722366482869645213695`,
		`0.10`: `0.10`, `1e400`: `1e400`, `-1E-400`: `-1E-400`, `1.50e+07`: `1.50e+07`, `.5`: `0.5`, `-.5`: `-0.5`, `1.`: `1.0`, `1.e3`: `1.0e3`, `+.5`: `0.5`, `01.5`: `1.5`,
		`.`: `"."`, `-`: `"-"`, `+`: `"+"`, `e3`: `"e3"`, `1e`: `"1e"`, `1e+`: `"1e+"`, `1.2.3`: `"1.2.3"`, `1-2`: `"1-2"`, `-.`: `"-."`, `.e3`: `".e3"`, `--1`: `"--1"`, `+-.inf`: `"+-.inf"`,
		`'.inf'`: `".inf"`, `inf`: `"inf"`, `nan`: `"nan"`, `-.nan`: `"-.nan"`, `.iNF`: `".iNF"`,
		`!!str 12`: `"12"`, `!!str `: `""`, `!!int "12"`: `12`, `!!float 1`: `1`, `!!float "1.5"`: `1.5`, `!!null ""`: `null`, `!!bool "true"`: `true`, `!<tag:yaml.org,2002:str> 1`: `"1"`,
	} {
		if text == `-` {
			text = `"-"` // alone it begins a list
		}
		got, err := JSON(t.Context(), []byte("[x, "+text+"]"), wideLimits)
		if text == `` {
			got, err = JSON(t.Context(), []byte("- x\n-"), wideLimits)
		}
		if string(got) != `["x",`+want+`]` || err != nil {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestTextsAndMappings(t *testing.T) {
	for text, want := range map[string]string{
		"a: 1\nb: [x, {c: d}]\n":                                           `{"a":1,"b":["x",{"c":"d"}]}`,
		"z: 1\ny: 2\nx: 3":                                                 `{"z":1,"y":2,"x":3}`,
		"responses:\n  200: {}\n  '404': {}\n  default:\n":                 `{"responses":{"200":{},"404":{},"default":null}}`,
		"on: 1\ny: 2\ntrue: 3\n~: 4\n0x1F: 5\n1.0: 6\n":                    `{"on":1,"y":2,"true":3,"~":4,"0x1F":5,"1.0":6}`,
		"? a\n: b\n? c\n":                                                  `{"a":"b","c":null}`,
		"&k key: 1\nb: {*k : 2}":                                           `{"key":1,"b":{"key":2}}`,
		"a: |\n  one\n   two\n\n  three\nb: >-\n  one\n  two\n\n  three\n": `{"a":"one\n two\n\nthree\n","b":"one two\nthree"}`,
		"a: |+\n  one\n\n":                                                 `{"a":"one\n\n"}`,
		"a: |2\n   one\n":                                                  `{"a":" one\n"}`,
		"a: one\n  two\n":                                                  `{"a":"one two"}`,
		"a: 'it''s'\nb: \"\\x41\\u00e9\\U0001F600\\0\\e\\\"\\\\\"":         `{"a":"it's","b":"Aé😀\u0000\u001b\"\\"}`,
		"a: \"\\u2028\\x85\"":                                              "{\"a\":\"\\u2028\u0085\"}",
		"a: <b> & c":                                                       `{"a":"<b> & c"}`,
		"# c\na: b # d\n# e\n---\n":                                        "",
		"a: b\r\nc:\r\n  - d\r\n  - |\r\n    e\r\n":                        `{"a":"b","c":["d","e\n"]}`,
		"\ufeffa: b":                                                       `{"a":"b"}`,
		"%YAML 1.1\n---\na: yes\n":                                         `{"a":"yes"}`,
		"%YAML 1.2\n---\na: b\n...\n# c":                                   `{"a":"b"}`,
		"# c\r\n%YAML 1.2 # d\r\n---\r\na: b":                              `{"a":"b"}`,
		"--- |\n %YAML 1.2\n":                                              `"%YAML 1.2\n"`,
		"--- {a: b}":                                                       `{"a":"b"}`,
		"{\"a\":\"b\",\"c\":[1,{}]}":                                       `{"a":"b","c":[1,{}]}`,
		"a:\tb\nc: [\td,\n\te ]":                                           `{"a":"b","c":["d","e"]}`,
		"a: !!map {b: !!seq [1]}":                                          `{"a":{"b":[1]}}`,
		"a: &x [1, 2]\nb: *x\nc: [*x, *x]":                                 `{"a":[1,2],"b":[1,2],"c":[[1,2],[1,2]]}`,
		"a: &x 1\nb: &x 2\nc: *x":                                          `{"a":1,"b":2,"c":2}`,
		"plain":                                                            `"plain"`,
		"- a\n- - b":                                                       `["a",["b"]]`,
		"a: http://x:80/?a=b#c, d":                                         `{"a":"http://x:80/?a=b#c, d"}`,
		"<<: 1":                                                            "",
	} {
		got, err := JSON(t.Context(), []byte(text), wideLimits)
		if want == "" {
			refused(t, text, wideLimits)
			continue
		}
		if string(got) != want || err != nil {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestMergeKeys(t *testing.T) {
	const bases = "x: &x {a: 1, b: 2}\ny: &y {b: 3, c: 4}\nm: "
	for text, want := range map[string]string{
		"{<<: *x, c: 5}":            `{"c":5,"a":1,"b":2}`,
		"{a: 9, <<: *x}":            `{"a":9,"b":2}`,
		"{<<: [*x, *y]}":            `{"a":1,"b":2,"c":4}`,
		"{<<: [*y, *x], c: 0}":      `{"c":0,"b":3,"a":1}`,
		"{<<: {<<: *x, b: 7}}":      `{"b":7,"a":1}`,
		"{<<: [{<<: *x}, *y]}":      `{"a":1,"b":2,"c":4}`,
		"{<<: []}":                  `{}`,
		"{'<<': *x}":                `{"<<":{"a":1,"b":2}}`,
		"{<<: {'<<': 1}}":           `{"<<":1}`,
		"{<<: {a: {<<: *y}, b: 0}}": `{"a":{"b":3,"c":4},"b":0}`,
	} {
		got, err := JSON(t.Context(), []byte(bases+text), wideLimits)
		if want = `{"x":{"a":1,"b":2},"y":{"b":3,"c":4},"m":` + want + `}`; string(got) != want || err != nil {
			t.Errorf("%q is %s, %v, want %s", text, got, err, want)
		}
	}
}

// laughs has n levels of ten aliases to the level before.
func laughs(n int) string {
	b := strings.Builder{}
	b.WriteString("a0: &a0 [x]\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%[1]d [%s]\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10), ","))
	}
	return b.String()
}

// merged has n mappings, each of which merges the one before ten times.
func merged(n int) string {
	b := strings.Builder{}
	b.WriteString("a0: &a0 {x: 1}\n")
	for i := range n {
		fmt.Fprintf(&b, "a%d: &a%[1]d {<<: [%s]}\n", i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 10),
			","))
	}
	return b.String()
}

func TestJSONThatIsTooLargeIsRefusedSoon(t *testing.T) {
	l := Limits{Bytes: 1 << 20, Depth: 64, Nodes: 1 << 20}
	chain := func(n int) string {
		b := strings.Builder{}
		b.WriteString("a0: &a0 {x: 1}\n")
		for i := range n {
			fmt.Fprintf(&b, "a%d: &a%[1]d {<<: *a%d}\n", i+1, i)
		}
		return b.String()
	}
	for name, c := range map[string]struct {
		text string
		want error
	}{
		"64 levels":           {strings.Repeat("[", 64) + strings.Repeat("]", 64), nil},
		"65 levels":           {strings.Repeat("[", 65) + strings.Repeat("]", 65), ErrDepth},
		"65 levels in blocks": {strings.Repeat("- ", 65) + "x", ErrDepth},
		"levels that an alias adds": {"a: &a " + strings.Repeat("[", 40) + strings.Repeat("]", 40) + "\nb: " +
			strings.Repeat("[", 40) + "*a" + strings.Repeat("]", 40), ErrDepth},
		"20,000 levels":                 {strings.Repeat("[", 20_000), ErrDepth},
		"20,000 levels in blocks":       {strings.Repeat("- ", 20_000), ErrDepth},
		"few laughs":                    {laughs(3), nil},
		"ten to the ninth laughs":       {laughs(9), ErrSize},
		"merged a few times":            {merged(3), nil},
		"merged ten to the ninth times": {merged(9), ErrSize},
		"a long chain of merges":        {chain(20_000), ErrDepth},
		"a long text again and again": {"a: &a " + strings.Repeat("x", 1000) + "\nb: [" + strings.Repeat("*a,", 2000) +
			"*a]", ErrSize},
		"a long key again and again": {"a: &a {" + strings.Repeat("x", 1000) + ": 1}\nb: [" + strings.Repeat("*a,", 2000) +
			"*a]", ErrSize},
		"one long text":           {strings.Repeat("x", l.Bytes-1), ErrSize},
		"one long text that fits": {strings.Repeat("x", l.Bytes-2), nil},
		"a list of too much":      {"[" + strings.Repeat("a,", 1<<20) + "]", ErrSize},
		"a mapping of too much":   {"{" + strings.Repeat("a,", 1<<20) + "}", ErrSize},
		"lines of too much":       {strings.Repeat("-\n", 1<<20), ErrSize},
	} {
		start := time.Now()
		_, err := JSON(t.Context(), []byte(c.text), l)
		if !errors.Is(err, c.want) || (err == nil) != (c.want == nil) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
		if d := time.Since(start); d > 30*time.Second {
			t.Errorf("%s: it took %s", name, d)
		}
	}
}

func TestValuesAreCountedBeforeAnythingIsParsed(t *testing.T) {
	text := "@ no YAML: " + strings.Repeat("[a,", 1000)
	if e := refused(t, text, Limits{Bytes: 1 << 20, Depth: 64, Nodes: 100}); !errors.Is(e, ErrSize) || e.Line != 1 ||
		e.Column > 200 {
		t.Errorf("JSON() = %v, want ErrSize where the limit is passed", e)
	}
	if e := refused(t, text, wideLimits); errors.Is(e, ErrSize) {
		t.Errorf("JSON() = %v, want what is wrong with the syntax", e)
	}
}

func TestReadingEndsWithItsContext(t *testing.T) {
	text := []byte("a: " + strings.Repeat("x", 1<<19))
	for _, checks := range []int{0, 1, 100} { // while it is read it is asked for every 512 bytes
		if _, err := JSON(&fading{t.Context(), checks}, text, wideLimits); !errors.Is(err, context.Canceled) {
			t.Errorf("JSON(ended at check %d) = %v, want context.Canceled", checks, err)
		}
	}
}

// fading ends after so many checks.
type fading struct {
	context.Context
	left int
}

func (f *fading) Err() error {
	if f.left--; f.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestJSONIsYAML(t *testing.T) {
	for _, text := range []string{
		`{"a":[1,2.50,-0,1e400,true,false,null,"x\n\"\\\u00e9"],"b":{},"c":[]}`, "{\n\t\"a\": [\n\t\t1\n\t]\n}", `{"yes":"no","~":"null","1":"1","<<":"<<"}`, `[]`, `"x"`, `-1.5E+3`,
	} {
		got, err := JSON(t.Context(), []byte(text), wideLimits)
		if want := plainly(t, []byte(text)); err != nil || plainly(t, got) != want {
			t.Errorf("%s is %s, %v, want %s", text, got, err, want)
		}
	}
}

// plainly is a JSON text without what makes no difference: blanks, escapes and order. Numbers
// keep their digits.
func plainly(t testing.TB, text []byte) string {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}
