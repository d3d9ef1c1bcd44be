package yamljson

import (
	"errors"
	"strings"
	"testing"
)

func TestErrorsNameTheirPlace(t *testing.T) {
	for _, c := range []struct {
		text, want string
	}{
		{"", "line 1, column 1: there is nothing"},
		{"# c\n\n", "line 1, column 1: there is nothing"},
		{"a: 1\nb: 2\n  c: 3\n", "line 3, column 4: mapping values are not allowed"},
		{"a:\n  b: 1\n c: 2\n", "line 3, column 2: did not find expected key while parsing a block mapping"},
		{"a: [1, 2\nb: 3\n", "line 2, column 2: did not find expected ',' or ']' while parsing a flow sequence"},
		{"a:\n\tb: 1\n", "line 2, column 1: found character that cannot start any token"},
		{"a: 'x\n\n", "line 3, column 1: found unexpected end of stream"},
		{"a: @x", "line 1, column 4: found character that cannot start"},
		{"a: \"\\/\"", "line 1, column 5: found unknown escape character while parsing a quoted scalar: write / for \\/"},
		{"a: \"\\ud83d\"", "line 1, column 7: found invalid Unicode character escape code"},
		{"a: \"\\q\"", "line 1, column 5: found unknown escape character"},
		{"a: 1\nü: *ü", "line 2, column 5: did not find expected alphabetic"},
		{"a: 1\nb: *c\n", "line 2, column 4: unknown anchor 'c'"},
		{"a: 1\nb:\n  c: 1\n  \"c\": 2", `line 4, column 3: the key "c" stands in line 3 already`},
		{"200: a\n'200': b", `line 2, column 1: the key "200" stands in line 1`},
		{"a: &a {b: 1}\nc: {<<: *a, d: 1, <<: *a}", "line 2, column 19: the merge key << stands here twice"},
		{"a: {<<: {b: 1, b: 2}}", `line 1, column 16: the key "b" stands in line 1`},
		{"a: {<<: [b]}", "line 1, column 9: the merge key << takes a mapping"},
		{"a: &a {<<: *a}", "line 1, column 12: the alias *a leads to itself"},
		{"a: &a [1, *a]", "line 1, column 11: the alias *a leads to itself"},
		{"a: &a {b: &b {c: *a}}", "line 1, column 18: the alias *a leads to itself"},
		{"? [a]\n: b", "line 1, column 3: a list or mapping cannot be a key"},
		{"a: .inf", `line 1, column 4: JSON has no number ".inf"`},
		{"a: -.INF", "JSON has no number"},
		{"a: .nan", "JSON has no number"},
		{"a: 0x" + strings.Repeat("f", 1000), "JSON has no number"},
		{"a: !!int x", `line 1, column 4: "x" is no !!int`},
		{"a: !!int 1.5", "is no !!int"},
		{"a: !!bool yes", `"yes" is no !!bool`},
		{"a: !!null 0", "is no !!null"},
		{"a: !!binary aGk=", "line 1, column 4: the tag !!binary has no meaning"},
		{"a: !!timestamp 2020-01-01", "the tag !!timestamp has no meaning"},
		{"a: !own x", "the tag !own has no meaning"},
		{"a: !!set {b}", "the tag !!set has no meaning"},
		{"a: !!map [b]", "the tag !!map has no meaning"},
		{"!!omap b: c", "the tag !!omap has no meaning"},
		{"a: 1\n--- \nb: 2", "line 2, column 1: a second document begins"},
		{"---\n---\n", "line 2, column 1: a second document begins"},
		{"\"a\" \"b\"", "line 1, column 5: did not find expected <document start>"},
		{"# c\n\n%YAML 2.0\n---\na", "line 3, column 1: found incompatible YAML document"},
		{"%TAG x\n---\na", "line 1, column"},
		{"\xff\xfea\x00", "line 1, column 1: this is UTF-16"},
		{"\xfe\xff\x00a", "line 1, column 1: this is UTF-16"},
		{"a\x00:\x00", "line 1, column 1: this is UTF-16"},
		{"a: 1\r\nb: é\x01", `line 2, column 5: the character U+0001 cannot stand here: write \u0001`},
		{"a: 1\rb: \x7f", "line 2, column 4: the character U+007F"},
		{"a: 1\n\nb: \xe9", "line 3, column 4: this is not UTF-8"},
		{"a: b\u2028c: d", "line 1, column 5: the character U+2028"},
		{"a: b\u0085", "line 1, column 5: the character U+0085"},
		{"a: \ufeffb", "line 1, column 4: the character U+FEFF"},
	} {
		if e := refused(t, c.text, wideLimits); !strings.Contains(e.Error(), c.want) || errors.Is(e, ErrSize) ||
			errors.Is(e, ErrDepth) {
			t.Errorf("%q is refused with %q, want %q", c.text, e, c.want)
		}
	}
}
