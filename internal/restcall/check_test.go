package restcall

import (
	"fmt"
	"strings"
	"testing"
)

// lookahead is a pattern that RE2 does not know.
const lookahead = `{"pattern":"^(?=a)b$"}`

func TestArgumentsAreCheckedAgainstTheSchema(t *testing.T) {
	for _, c := range []struct{ schema, value, want string }{ // says "": fits
		{`{}`, `{"a":[1,null]}`, ""}, {`true`, `1`, ""}, {`false`, `1`, "must not be given"}, {`[]`, `1`, ""},
		{`{"type":"string"}`, `"a"`, ""}, {`{"type":"string"}`, `1`, "type string"}, {`{"type":"string"}`, `["a"]`, "type string"},
		{`{"type":"integer"}`, `7`, ""}, {`{"type":"integer"}`, `-7.0`, ""}, {`{"type":"integer"}`, `1e3`, ""}, {`{"type":"integer"}`, `0.0`, ""},
		{`{"type":"integer"}`, `7.5`, "type integer"}, {`{"type":"integer"}`, `1e-3`, "type integer"},
		{`{"type":"integer"}`, `"x7"`, "type integer"}, {`{"type":"integer"}`, `true`, "type integer"},
		{`{"type":"number"}`, `7.5`, ""}, {`{"type":"number"}`, `7`, ""}, {`{"type":"number"}`, `"7x"`, "type number"},
		{`{"type":"boolean"}`, `true`, ""}, {`{"type":"boolean"}`, `false`, ""}, {`{"type":"boolean"}`, `0`, "type boolean"},
		{`{"type":"array"}`, `[]`, ""}, {`{"type":"array"}`, `{}`, "type array"}, {`{"type":"object"}`, `{}`, ""}, {`{"type":"object"}`, `[]`, "type object"},
		{`{"type":["string","integer"]}`, `1`, ""}, {`{"type":["string","integer"]}`, `"a"`, ""}, {`{"type":["string","integer"]}`, `1.5`, "type string or integer"},
		{`{"type":3}`, `1`, ""}, {`{"type":"file"}`, `1`, ""}, {`{"type":["file","string"]}`, `1`, ""},
		{`{"enum":["a",1,null]}`, `"a"`, ""}, {`{"enum":["a",1,null]}`, `1.0`, ""}, {`{"enum":["a",1]}`, `"1"`, `one of: "a", 1`}, {`{"enum":["a"]}`, `"A"`, "one of"},
		{`{"enum":[9007199254740993]}`, `9007199254740992`, "one of: 9007199254740993"}, {`{"enum":[9007199254740993]}`, `9007199254740993`, ""},
		{`{"enum":[{"a":1,"b":[true]}]}`, `{"b":[true],"a":1}`, ""}, {`{"enum":[{"a":1,"b":[true]}]}`, `{"b":[false],"a":1}`, "one of"}, {`{"enum":["a\"b"]}`, `"a\u0022b"`, ""},
		{`{"const":5}`, `5`, ""}, {`{"const":5}`, `6`, "one of: 5"}, {`{"enum":5}`, `6`, ""},
		{`{"minimum":1,"maximum":3}`, `1`, ""}, {`{"minimum":1,"maximum":3}`, `3.0`, ""}, {`{"minimum":1}`, `0.999`, "at least 1"}, {`{"maximum":3}`, `3.0001`, "at most 3"},
		{`{"exclusiveMinimum":1}`, `1.0`, "more than 1"}, {`{"exclusiveMinimum":1}`, `1.01`, ""}, {`{"exclusiveMaximum":3}`, `3`, "less than 3"}, {`{"exclusiveMaximum":3}`, `2.9`, ""},
		{`{"maximum":9007199254740992}`, `9007199254740993`, "at most 9007199254740992"}, {`{"minimum":-1}`, `-2`, "at least -1"}, {`{"minimum":-1}`, `0`, ""}, {`{"maximum":10}`, `1e999999999999999999999`, "at most 10"},
		{`{"minimum":"a"}`, `-1`, ""}, {`{"minimum":"5"}`, `-1`, ""}, {`{"exclusiveMinimum":true,"minimum":1}`, `1`, ""}, {`{"minimum":null}`, `1`, ""},
		{`{"minLength":2,"maxLength":3}`, `"äö"`, ""}, {`{"minLength":2}`, `"ä"`, "at least 2 characters"}, {`{"maxLength":3}`, `"日本語字"`, "at most 3 characters"}, {`{"maxLength":3}`, `"日本語"`, ""}, {`{"maxLength":-1}`, `"a"`, ""},
		{`{"pattern":"^[a-z]+$"}`, `"abc"`, ""}, {`{"pattern":"^[a-z]+$"}`, `"aBc"`, "must match ^[a-z]+$"}, {`{"pattern":"b"}`, `"abc"`, ""}, {lookahead, `"x"`, ""},
		{`{"format":"email"}`, `"no"`, ""}, {`{"default":1}`, `2`, ""}, {`{"multipleOf":2}`, `3`, ""},
		{`{"items":{"type":"integer"}}`, `[1,2]`, ""}, {`{"items":{"type":"integer"}}`, `[1,"x2"]`,
			`"x[1]" must be of type integer`}, {`{"items":{"type":"integer"}}`, `[null]`, `"x[0]"`}, {`{"items":{}}`,
			`[1,"a",null]`, ""},
		{`{"minItems":1,"maxItems":2}`, `[]`, "at least 1 elements"}, {`{"minItems":1,"maxItems":2}`, `[1,2,3]`, "at most 2 elements"}, {`{"minItems":1,"maxItems":2}`, `[1]`, ""},
		{`{"properties":{"a":{"type":"integer"}}}`, `{"a":"b"}`, `"x.a" must be of type integer`}, {`{"properties":{"a":{"type":"integer"}}}`, `{"a":1,"z":2}`, ""}, {`{"required":["a"]}`, `{"b":1}`, `"x.a" is required`}, {`{"required":["a"]}`, `{"a":null}`, ""},
		{`{"items":{"enum":[null,1]}}`, `[null,1]`, ""}, {`{"items":{"const":null}}`, `[null]`, ""}, {`{"items":{"const":null}}`, `[1]`, `"x[0]" must be one of: null`},
		{`{"items":{"properties":{"a":{"items":{"type":"string"}}}}}`, `[{},{"a":["b",3]}]`, `"x[1].a[1]"`},
		{`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `1`, ""}, {`{"anyOf":[{"type":"string"},{"type":"integer"}]}`, `true`, "none of the forms"}, {`{"allOf":[{"minimum":1},{"maximum":2}]}`, `3`, "at most 2"}, {`{"allOf":[{"minimum":1},{"maximum":2}]}`, `2`, ""},
	} {
		text := target(t, one("post", "/", "application/json", c.schema, fieldArg("x")), `{"x":`+c.value+`}`)
		if c.want == "" && text != "/" || c.want != "" && (!strings.Contains(text, c.want) || !strings.Contains(text, `argument "x`)) {
			t.Errorf("%s with %s: %q, want %q", c.schema, c.value, text, c.want)
		}
	}
}

func TestArgumentsMustBeOneSoundObject(t *testing.T) {
	deep := func(n int) string { return strings.Repeat("[", n) + strings.Repeat("]", n) }
	many := func(twice string) string {
		var out strings.Builder
		for i := range 40 {
			fmt.Fprintf(&out, `"m%d":%d,`, i, i)
		}
		return `{"x":{` + out.String() + twice + `:1}}`
	}
	for _, c := range []struct{ arguments, want string }{
		{"", ""}, {"null", ""}, {"{}", ""}, {" \n{ } ", ""}, {`{"x":1}`, ""}, {"  ", ""}, {`{"x":` + deep(63) + `}`, ""}, {many(`"y"`), ""},
		{`{`, "one JSON value"}, {`{} {}`, "one JSON value"}, {`{"x":1,}`, "one JSON value"}, {`{"x":NaN}`, "one JSON value"}, {`{"x":01}`, "one JSON value"}, {"{\"x\":\"\xff\"}", "UTF-8"}, {`{'x':1}`, "one JSON value"},
		{`[1]`, "must be an object"}, {`"x"`, "must be an object"}, {`1`, "must be an object"}, {`true`, "must be an object"},
		{`{"x":1,"x":2}`, "a member twice"}, {`{"x":1,"\u0078":2}`, "a member twice"}, {`{"x":[{"a":1,"a":1}]}`, "a member twice"}, {many(`"m3"`), "a member twice"}, {many(`"m39"`), "a member twice"},
		{`{"x":` + deep(64) + `}`, "at most 64 levels"}, {`{"x":` + deep(9000) + `}`, "at most 64 levels"}, {`{"x":` + deep(100000) + `}`, "one JSON value"},
		{`{"x":"` + strings.Repeat("a", maxArguments) + `"}`, "longer than"},
		{`{"X":1}`, `unknown argument "X": this tool takes x`}, {`{"y\n":1}`, `unknown argument "y\n"`},
	} {
		got := target(t, one("post", "/", "application/json", "{}", fieldArg("x")), c.arguments)
		if c.want == "" && got != "/" || !strings.Contains(got, c.want) {
			t.Errorf("%.60s: %q, want %q", c.arguments, got, c.want)
		}
	}
	if got := target(t, get, `{"a":1}`); !strings.Contains(got, `"a": this tool takes none`) {
		t.Errorf("an argument of a tool without any: %q", got)
	}
}

func TestRefusalTellsAllThatIsWrongAndNotMore(t *testing.T) {
	tool := one("get", "/", "", `{"items":{"type":"string"}}`, queryArg("x"))
	got := target(t, tool, `{"x":[1,2,3,4,5,6,7,8,9,10],"colour":"red"}`)
	if strings.Count(got, ";")+1 != maxComplaints || !strings.Contains(got, `"colour"`) || !strings.Contains(got, `"x[6]"`) {
		t.Errorf("the refusal is %q, want the first %d complaints", got, maxComplaints)
	}
	var unknown strings.Builder
	for i := range 20 {
		fmt.Fprintf(&unknown, `,"u%d":1`, i)
	}
	if got := target(t, tool, `{`+unknown.String()[1:]+`}`); strings.Count(got, "unknown argument") != maxComplaints {
		t.Errorf("the refusal is %q, want the first %d complaints", got, maxComplaints)
	}
	if got := target(t, tool, `{"`+strings.Repeat("n", 5000)+`":1}`); len(got) > 300 {
		t.Errorf("the refusal has %d bytes, want the name cut", len(got))
	}
}

func TestNumbersKeepEveryDigit(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"1", "1", 0}, {"1", "1.0", 0}, {"100", "1e2", 0}, {"1E+2", "1e2", 0}, {"0.01", "1e-2", 0}, {"0", "-0", 0},
		{"0.0e5", "0", 0}, {"120e-1", "12", 0},
		{"1", "2", -1}, {"9", "10", -1}, {"12", "123", -1}, {"0.12", "0.123", -1}, {"-1", "1", -1}, {"-2", "-1", -1},
		{"-1", "0", -1}, {"0", "1e-400", -1}, {"-1e-400", "0", -1},
		{"9007199254740992", "9007199254740993", -1}, {"-9007199254740993", "-9007199254740992", -1}, {"1e308", "1e309", -1},
		{"1e99999999999999999999", "1e9", 1}, {"1e-99999999999999999999", "1e-9", -1}, {"-1e99999999999999999999", "-5", -1},
	} {
		a, b := parseNumber(c.a), parseNumber(c.b)
		if got := a.compare(b); got != c.want {
			t.Errorf("compare(%s, %s) = %d, want %d", c.a, c.b, got, c.want)
		}
		if got := b.compare(a); got != -c.want {
			t.Errorf("compare(%s, %s) = %d, want %d", c.b, c.a, got, -c.want)
		}
		if (a.String() == b.String()) != (c.want == 0) {
			t.Errorf("String(%s) = %s and String(%s) = %s", c.a, a, c.b, b)
		}
	}
}
