package openapi

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/lint"
)

func TestLintGivesAdviceAndNoVerdict(t *testing.T) {
	for _, document := range []string{whole2, whole3} {
		if advice := Advise(t.Context(), []byte(document), lint.Check); len(advice) != 0 {
			t.Errorf("Advise(a good document) = %q, want none", advice)
		}
	}
	for _, c := range []struct{ document, want string }{
		{`{"openapi":"3.0.3","paths":{"/a":{"get":{}}}}`, "info"},
		{`{"swagger":"2.0","info":{"title":"t","version":"1"},"paths":{"/x":null}}`, "gave up"},
		{`{"swagger":"2.0","paths":7}`, "paths"},
		{`nonsense`, "no object"},
		{"a: 1\nb: 2\n c: 3", "line 3, column 3: "},
		{"openapi: 3.0.3\npaths:\n  /a: {get: {}}\n", "info"},
		{`{"openapi":"3.0.3","x":` + strings.Repeat(`{"properties":`, 7000), "levels deep"},
	} {
		advice := Advise(t.Context(), []byte(c.document), lint.Check)
		if len(advice) == 0 || !strings.Contains(advice[0], c.want) || strings.Contains(strings.Join(advice, ""), "\n") {
			t.Errorf("Advise(%.100s) = %q, want lines about %s", c.document, advice, c.want)
		}
	}
}

func TestLintDeclinesWhatWouldTakeMinutes(t *testing.T) {
	with := func(schemas string) string {
		return `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{},"components":{"schemas":{` + schemas + `"last":{}}}}`
	}
	alias := `"S%d":{"$ref":"#/components/schemas/S%d"},`
	property := `"S%04d":{"properties":{"a":{"$ref":"#/components/schemas/S%04d"}}},`
	chains := each(4000, property)
	for i := 400; i < 4000; i += 400 {
		chains = strings.ReplaceAll(chains, fmt.Sprintf(`schemas/S%04d"`, i), `schemas/last"`)
	}
	deep := strings.Repeat(`{"additionalProperties":`, 58) + `{}` + strings.Repeat(`}`, 58)
	for name, document := range map[string]string{
		"aliases":    with(each(100, alias)),
		"a chain":    with(each(1100, property)),
		"ten chains": with(chains),
		"depth":      with(each(4000, `"S%d":`+deep+`,"x%d":{},`)),
	} {
		advice := Advise(t.Context(), []byte(document), lint.Check)
		if len(advice) != 1 || !strings.HasPrefix(advice[0], "not judged by the strict validator: ") {
			t.Errorf("%s: Advise() = %.200q, want it declined and said so", name, advice)
		}
	}
	for name, document := range map[string]string{"a short chain": with(each(100, property)),
		"few aliases": with(each(10, alias))} {
		if advice := Advise(t.Context(), []byte(document), lint.Check); len(advice) > 0 &&
			strings.HasPrefix(advice[0], "not judged") {
			t.Errorf("%s: Advise() = %q, want it judged", name, advice)
		}
	}
}

func TestLintSaysWhichPathsGetASlash(t *testing.T) {
	document := []byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"pets/{id}":{"get":{}},"/pets":{"get":{}},"pets":{"get":{}},"http://h/x":{"get":{}},"":{"get":{}},"x-y":7}}`)
	const line = `the path "pets/{id}" does not start with /: it is read as "/pets/{id}"`
	if got := Advise(t.Context(), document, lint.Check); !slices.Contains(got, line) {
		t.Errorf("Advise() = %q, want %q in it", got, line)
	} else if twin := Advise(t.Context(), asYAML(t, document), lint.Check); !slices.Equal(twin, got) {
		t.Errorf("Advise() = %q of YAML, and of JSON %q", twin, got)
	}
	result := parsed(t, document, Options{})
	var paths []string
	for _, tool := range result.Tools {
		paths = append(paths, tool.Call.Template+" "+tool.Path)
	}
	if want := []string{"/pets /pets", "/pets/{id} /pets/:id"}; !slices.Equal(paths, want) {
		t.Errorf("paths = %q, want %q", paths, want)
	}
	const left = `[{"pointer":"/paths/","reason":"a path must start with /"},{"pointer":"/paths/http:~1~1h~1x","reason":"a path must start with /"},{"pointer":"/paths/pets","reason":"a path must start with /"}]`
	if got := string(encode(t, result.Skipped)); got != left {
		t.Errorf("skipped = %s, want %s", got, left)
	}
}

func TestLintListsWrongEncodings(t *testing.T) {
	for _, c := range []struct{ kind, encoding, pointer string }{
		{typeForm, `7`, "/encoding"}, {typeForm, `{"a":7}`, "/encoding/a"}, {typeForm, `{"a":{"$ref":"#/nowhere"}}`, "/encoding/a"}, {typeForm, `{"a":{"style":"matrix"}}`, "/encoding/a/style"},
		{typeForm, `{"a":{"contentType":"nonsense"}}`, "/encoding/a/contentType"}, {typeForm, `{"a":{"contentType":7}}`, "/encoding/a/contentType"}, {typeMultipart, `{"a":{"headers":7}}`, "/encoding/a/headers"},
		{typeMultipart, `{"a":{"headers":{"a b":{}}}}`, "/encoding/a/headers/a b"}, {typeMultipart, `{"a":{"headers":{"Content-Length":{}}}}`, "/encoding/a/headers/Content-Length"},
		{typeMultipart, `{"a":{"headers":{"X":{"schema":{"type":"string"}}}}}`, "/encoding/a/headers/X"}, {typeMultipart, `{"a":{"headers":{"X":{"example":"y","schema":{"example":"y"}}}}}`, "/encoding/a/headers/X"},
		{typeForm, `{"b":7}`, ""}, {typeForm, `{"a":{"headers":7}}`, ""}, {typeJSON, `{"a":7}`, ""}, {typeMultipart, `{"a":{"style":"matrix"}}`, ""}, {typeMultipart, `{"a":{"headers":{"content-type":7}}}`, ""},
	} {
		document := `{` + three + `,"paths":{"/a":{"post":{"requestBody":{"content":{"` + c.kind + `":{"schema":{"properties":{"a":{"type":"string"}}},"encoding":` + c.encoding + `}}}}}}}`
		result := parsed(t, []byte(document), Options{})
		sound(t, result.Tools[0])
		if c.pointer == "" && result.Skipped != nil || c.pointer != "" &&
			(len(result.Skipped) != 1 || !strings.HasSuffix(result.Skipped[0].Pointer, c.pointer)) {
			t.Errorf("%s in %s: skipped = %v, want %q", c.encoding, c.kind, result.Skipped, c.pointer)
		}
	}
}
