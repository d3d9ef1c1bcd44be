package restcall

import (
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

func TestBodies(t *testing.T) {
	form := "application/x-www-form-urlencoded"
	file := `{"type":"string","format":"binary"}`
	for _, c := range []struct {
		contentType, schema string
		place               any
		value, want, sentAs string
	}{
		{"application/json", "{}", fieldArg("a\"b"), `{"k": [1.50, null]}`, `{"a\"b":{"k": [1.50, null]}}`, "application/json"},
		{"application/vnd.api+json", "{}", fieldArg("a"), `9007199254740993`, `{"a":9007199254740993}`, "application/vnd.api+json"},
		{"text/json", "{}", fieldArg("a"), `null`, `{"a":null}`, "text/json"},
		{"*/*", "{}", fieldArg("a"), `1`, `{"a":1}`, "application/json"}, {"application/*+json", "{}", whole{}, `1`, `1`, "application/json"},
		{"application/json; charset=utf-8", "{}", whole{}, `[1,"two",null]`, `[1,"two",null]`, "application/json; charset=utf-8"},
		{form, "{}", fieldArg("a b"), `"x y&+"`, "a+b=x+y%26%2B", form}, {form, "{}", fieldArg("a"), `[1,null,{"k": 2}]`, "a=1&a=%7B%22k%22%3A2%7D", form}, {form, "{}", fieldArg("a"), `null`, "", ""}, {form, "{}", fieldArg("a"), `[]`, "", form},
		{form, "{}", whole{}, `{"a":1,"b":["x","y"],"n":null}`, "a=1&b=x&b=y", form},
		{"text/plain", "{}", whole{}, `"a\nb"`, "a\nb", "text/plain"}, {"text/plain", "{}", whole{}, `12.50`, "12.50", "text/plain"}, {"application/xml", "{}", whole{}, `"<a/>"`, "<a/>", "application/xml"}, {"text/plain", "{}", whole{}, `null`, "", ""}, {"text/plain", "{}", whole{}, `""`, "", "text/plain"},
		{"application/octet-stream", file, whole{}, `"AP8="`, "\x00\xff", "application/octet-stream"}, {"image/png",
			`{"contentEncoding":"base64"}`, whole{}, `"AP8="`, "AP8=", "image/png"}, {"application/octet-stream",
			`{"type":"string"}`, whole{}, `"AP8="`, "AP8=", "application/octet-stream"},
	} {
		r, err := build(t, one("post", "/", c.contentType, c.schema, c.place), `{"x":`+c.value+`}`)
		if err != nil || string(r.body) != c.want || r.header.Get("Content-Type") != c.sentAs {
			t.Errorf("%s of %s: %+v, %v, want %q as %q", c.contentType, c.value, r, err, c.want, c.sentAs)
		}
	}
	for _, c := range []struct {
		contentType string
		place       any
		value, want string
	}{
		{"application/octet-stream", whole{}, `"A"`, `"x" must be base64`}, {"multipart/form-data", toolplan.Field{Name: "f", File: true}, `"AP8=x"`, `"x" must be base64`}, {"multipart/form-data", toolplan.Field{Name: "f", File: true}, `["AP8=","!"]`, `"x" must be base64`},
		{form, whole{}, `"a=b"`, `"x" must be an object`}, {"multipart/form-data", whole{}, `[1]`, `"x" must be an object`}, {"multipart/form-data", whole{}, `{"a\r\nb":1}`, "control characters in its name"},
	} {
		if _, err := build(t, one("post", "/", c.contentType, `{"format":"binary"}`, c.place), `{"x":`+c.value+`}`); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %s: %v, want a refusal: %s", c.contentType, c.value, err, c.want)
		}
	}
}

func TestBodyThatIsNeededIsSent(t *testing.T) {
	fields := tool("post", "/", "application/json", []string{"a", "b"}, map[string]arg{
		"a": {`{"type":"string"}`, toolplan.Field{Name: "a", Required: true}}, "b": {`{"type":"string"}`, fieldArg("b")},
	})
	for _, c := range []struct {
		required        bool
		arguments, want string
	}{
		{false, `{}`, ""}, {false, `{"a":"1"}`, `{"a":"1"}`}, {false, `{"b":"1","a":"2"}`, `{"a":"2","b":"1"}`}, {true, `{"a":"1","b":null}`, `{"a":"1","b":null}`},
		{false, `{"b":"1"}`, `"a" is required when`}, {true, `{}`, `"a" is required when`}, {false, `{"b":null}`, `"a" is required when`},
	} {
		fields.Call.Body.Required = c.required
		r, err := build(t, fields, c.arguments)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && string(r.body) != c.want {
			t.Errorf("required %t, %s: %+v, %v, want %q", c.required, c.arguments, r, err, c.want)
		}
	}
	for _, c := range []struct{ schema, arguments, want string }{
		{`{}`, `{"x":null}`, "null"}, {`{"type":["array","null"]}`, `{"x":null}`, "null"}, {`{"type":"array"}`, `{"x":null}`, "must be of type array"}, {`{}`, `{}`, `"x" is required`},
	} {
		all := one("post", "/", "application/json", c.schema, whole{})
		all.Call.Body.Required = true
		r, err := build(t, all, c.arguments)
		if err != nil && !strings.Contains(err.Error(), c.want) || err == nil && string(r.body) != c.want {
			t.Errorf("%s with %s: %+v, %v, want %q", c.schema, c.arguments, r, err, c.want)
		}
	}
	empty := one("post", "/", "application/json", "{}", fieldArg("x"))
	empty.Call.Body.Required = true
	if r, err := build(t, empty, `{}`); err != nil || string(r.body) != "{}" {
		t.Errorf("a required body of optional fields: %+v, %v, want {}", r, err)
	}
}

func TestMultipartBodyKeepsItsParts(t *testing.T) {
	u := serve(t, false, answers(200, "{}"))
	form := tool("post", "/", "multipart/form-data", []string{"f", "m", "n", "o"}, map[string]arg{
		"f": {"{}", toolplan.Field{Name: `a"b\`, File: true}}, "m": {"{}", toolplan.Field{Name: "many", File: true}}, "n": {"{}", fieldArg("n")}, "o": {"{}", fieldArg("日")},
	})
	arguments := `{"f":"AAEC","m":["aGVsbG8=","d29ybGQ="],"n":[1,"--x\r\n"],"o":{"k": 9007199254740993}}`
	if _, err := u.caller(t, Config{}).Call(t.Context(), Upstream{BaseURL: base}, compile(t, form),
		raw(arguments)); err != nil {
		t.Fatal(err)
	}
	want := []part{
		{`a%22b\`, `a%22b_`, "\x00\x01\x02"}, {"many", "many", "hello"}, {"many", "many", "world"},
		{"n", "", "1"}, {"n", "", "--x\r\n"}, {"日", "", `{"k":9007199254740993}`},
	}
	got := u.only(t)
	if parts := partsOf(t, got); !slices.Equal(parts, want) {
		t.Errorf("the parts are %q, want %q", parts, want)
	}
	if strings.Count(got.body, "Content-Type: application/json\r\n") != 1 ||
		strings.Count(got.body, "Content-Type: application/octet-stream\r\n") != 3 {
		t.Errorf("the parts have other types in %q", got.body)
	}
}
