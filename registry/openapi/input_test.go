package openapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
)

const small = `{"openapi":"3.0.3","paths":{"/a":{"get":{"operationId":"a"}}}}`

// Decision 37.
func TestDocumentForms(t *testing.T) {
	for _, c := range []struct {
		name, document string
		errcode        int // 0: one tool
	}{
		{"an object", small, 0},
		{"a string", quoted(small), 0},
		{"blanks around it", " \n" + small + "\r\n\t", 0},
		{"a byte order mark", "\ufeff" + small, 0},
		{"both, in a string", quoted("\ufeff \n" + small + " "), 0},
		{"a number as version", `{"swagger":2.0,"paths":{"/a":{"get":{}}}}`, 0},
		{"a bare major version", `{"swagger":2,"paths":{"/a":{"get":{}}}}`, 0},
		{"version 3.1", `{"openapi":"3.1.0","paths":{"/a":{"get":{}}}}`, 0},
		{"version 3.2", `{"openapi":"3.2.0","paths":{"/a":{"get":{}}}}`, 0},
		{"a key twice, the last counts", `{"openapi":"3.0.3","paths":{},"paths":{"/a":{"get":{}}}}`, 0},
		{"a number beyond float64", `{"openapi":"3.0.3","x":1e999,"paths":{"/a":{"get":{"x-n":-1e999}}}}`, 0},
		{"a string in a string", quoted(quoted(small)), ErrcodeNotOpenAPI},
		{"nothing", ``, ErrcodeNotOpenAPI},
		{"blanks", " \ufeff ", ErrcodeNotOpenAPI},
		{"an empty string", `""`, ErrcodeNotOpenAPI},
		{"null", `null`, ErrcodeNotOpenAPI},
		{"a list", `[` + small + `]`, ErrcodeNotOpenAPI},
		{"YAML", "openapi: 3.0.3\npaths: {/a: {get: {}}}\n", 0},
		{"YAML in a string", quoted("openapi: 3.0.3\npaths: {/a: {get: {}}}\n"), 0},
		{"YAML that is indented", "  openapi: 3.0.3\n  paths: {/a: {get: {}}}\n", 0},
		{"YAML whose first key is in quotes", `"openapi": 3.0.3` + "\npaths: {/a: {get: {}}}\n", 0},
		{"YAML with a byte order mark", "\ufeffopenapi: 3.0.3\npaths: {/a: {get: {}}}\n", 0},
		{"YAML with a number as version", "swagger: 2.0\npaths: {/a: {get: {}}}\n", 0},
		{"YAML in one line, marked as YAML", "--- {openapi: 3.0.3, paths: {/a: {get: {}}}}", 0},
		{"YAML with a key twice", "openapi: 3.0.3\npaths: {}\npaths: {/a: {get: {}}}\n", ErrcodeNotOpenAPI},
		{"two YAML documents", "openapi: 3.0.3\npaths: {/a: {get: {}}}\n---\nopenapi: 3.0.3\n", ErrcodeNotOpenAPI},
		{"YAML in UTF-16", "\xff\xfeo\x00p\x00", ErrcodeNotOpenAPI},
		{"YAML that is a text", "openapi 3.0.3", ErrcodeNotOpenAPI},
		{"YAML that is a list", "- openapi: 3.0.3", ErrcodeNotOpenAPI},
		{"YAML without paths", "openapi: 3.0.3", ErrcodeEmpty},
		{"YAML that starts like JSON", `{openapi: 3.0.3, paths: {/a: {get: {}}}}`, ErrcodeNotOpenAPI},
		{"more after it", small + small, ErrcodeNotOpenAPI},
		{"more after it in a string", quoted(small + "x"), ErrcodeNotOpenAPI},
		{"a string that does not end", `"` + small, ErrcodeNotOpenAPI},
		{"half of it", small[:len(small)-1], ErrcodeNotOpenAPI},
		{"version 1.2", `{"swaggerVersion":"1.2","swagger":"1.2","paths":{"/a":{"get":{}}}}`, ErrcodeNotOpenAPI},
		{"version 4", `{"openapi":"4.0.0","paths":{"/a":{"get":{}}}}`, ErrcodeNotOpenAPI},
		{"version 30", `{"openapi":"30","paths":{"/a":{"get":{}}}}`, ErrcodeNotOpenAPI},
		{"a version that is no text", `{"openapi":["3.0.3"],"paths":{"/a":{"get":{}}}}`, ErrcodeNotOpenAPI},
		{"the other's version", `{"swagger":"3.0.3","paths":{"/a":{"get":{}}}}`, ErrcodeNotOpenAPI},
		{"no paths", `{"openapi":"3.1.0","webhooks":{"w":{"post":{}}}}`, ErrcodeEmpty},
		{"paths that are a list", `{"openapi":"3.1.0","paths":[]}`, ErrcodeEmpty},
		{"two first keys, the last without operations", `{"openapi":"3.0.3","paths":{"/a":{"get":{}}},"paths":{}}`, ErrcodeEmpty},
	} {
		result, err := Parse(t.Context(), []byte(c.document), Options{})
		switch {
		case c.errcode != 0:
			if r := rejected(t, err, c.errcode); len(r.Msg) < 40 {
				t.Errorf("%s: %q does not say what to do", c.name, r.Msg)
			}
		case err != nil || len(result.Tools) != 1:
			t.Errorf("%s: Parse() = %v, %v, want one tool", c.name, result, err)
		}
	}
	if v := parsed(t, []byte(small), Options{}).Version; v != "3.0.3" {
		t.Errorf("Version = %q, want 3.0.3", v)
	}
}

func quoted(s string) string {
	text, _ := json.Marshal(s) // a string cannot fail
	return string(text)
}

func TestLimitsRefuseAWholeDocument(t *testing.T) {
	if testing.Short() {
		t.Skip("reads large documents")
	}
	padded := func(n int) string { return small[:len(small)-1] + `,"x":"` + strings.Repeat("x", n) + `"}` }
	nested := func(n int) string {
		return `{"openapi":"3.0.3","paths":{"/a":{"get":{}}},"x":` + strings.Repeat("[", n) + strings.Repeat("]", n) + `}`
	}
	many := func(n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"/%d":{"get":{}},`, i)
		}
		return `{"openapi":"3.0.3","paths":{` + b.String() + `"x-end":null}}`
	}
	for _, c := range []struct {
		name, document string
		o              Options
		refused        bool
	}{
		{"16 MiB", padded(16<<20 - len(padded(0))), Options{}, false},
		{"one byte more", padded(16<<20 - len(padded(0)) + 1), Options{}, true},
		{"20 MB", padded(20_000_000), Options{}, true},
		{"20 MB in a string", `"` + strings.ReplaceAll(padded(20_000_000), `"`, `\"`) + `"`, Options{}, true},
		{"a long string that is not even closed", `"` + strings.Repeat("x", 7000), Options{MaxDocument: 1000}, true},
		{"its own limit", small, Options{MaxDocument: len(small)}, false},
		{"one byte more than its own limit", small + "\n", Options{MaxDocument: len(small) - 1}, true},
		{"64 levels", nested(63), Options{}, false},
		{"65 levels", nested(64), Options{}, true},
		{"50,000 levels", nested(50_000), Options{}, true},
		{"1,000,000 levels, never closed", `{"openapi":"3.0.3","x":` + strings.Repeat(`{"a":`, 1_000_000), Options{}, true},
		{"2,000 operations", many(2000), Options{}, false},
		{"2,001 operations", many(2001), Options{}, true},
		{"5,000 operations", many(5000), Options{}, true},
		{"more tools than fit", many(100), Options{MaxTools: 5000}, true},
		{"16 MiB of YAML", yamlOf(16 << 20), Options{}, false},
		{"one byte more of YAML", yamlOf(16<<20 + 1), Options{}, true},
		{"20 MB of YAML in a string", quoted(yamlOf(20_000_000)), Options{}, true},
		{"YAML whose aliases make too much of it", "openapi: 3.0.3\npaths: {/a: {get: {}}}\nx: &x [" +
			strings.Repeat("x", 900) + "]\ny: [*x, *x]", Options{MaxDocument: 2000}, true},
		{"64 levels of YAML", "openapi: 3.0.3\npaths: {/a: {get: {}}}\nx: " + strings.Repeat("[", 63) +
			strings.Repeat("]", 63), Options{}, false},
		{"65 levels of YAML", "openapi: 3.0.3\npaths: {/a: {get: {}}}\nx: " + strings.Repeat("[", 64) +
			strings.Repeat("]", 64), Options{}, true},
		{"YAML of billions", "openapi: 3.0.3\npaths: {/a: {get: {}}}\n" + laughs(12), Options{}, true},
		{"YAML of too many values", "openapi: 3.0.3\npaths: {/a: {get: {}}}\nx: [" + strings.Repeat("1,", maxValues) + "]",
			Options{}, true},
	} {
		result, err := Parse(t.Context(), []byte(c.document), c.o)
		if !c.refused {
			if err != nil || len(result.Tools) == 0 {
				t.Errorf("%s: Parse() = %v, want tools", c.name, err)
			}
			continue
		}
		if r := rejected(t, err, ErrcodeTooMuch); !strings.Contains(r.Msg, ": ") {
			t.Errorf("%s: %q does not say what to do", c.name, r.Msg)
		}
	}
}

// yamlOf is a YAML document of n bytes with one operation.
func yamlOf(n int) string {
	const head = "openapi: 3.0.3\npaths: {/a: {get: {}}}\nx: |\n"
	line := "  " + strings.Repeat("x", 97) + "\n"
	return (head + strings.Repeat(line, n/len(line)+1))[:n]
}

// laughs has n levels of ten aliases to the level before.
func laughs(n int) string {
	var b strings.Builder
	b.WriteString("x0: &x0 [x]\n")
	for i := range n {
		fmt.Fprintf(&b, "x%d: &x%[1]d [%s*x%d]\n", i+1, strings.Repeat(fmt.Sprintf("*x%d,", i), 9), i)
	}
	return b.String()
}

func TestRejectionSaysWhatWasLeftOut(t *testing.T) {
	_, err := Parse(t.Context(), []byte(`{"openapi":"3.0.3","paths":{"/a~b/c":{"get":7},"http://nope":{"get":{}},"/x/../y":{"get":{}},"/z":null}}`), Options{})
	r := rejected(t, err, ErrcodeEmpty)
	got := string(encode(t, r.Skipped))
	want := `[{"pointer":"/paths/~1a~0b~1c/get","reason":"not an operation"},` +
		`{"pointer":"/paths/~1x~1..~1y","reason":"a path must not have dot segments"},` +
		`{"pointer":"/paths/~1z","reason":"not a path item"},` +
		`{"pointer":"/paths/http:~1~1nope","reason":"a path must start with /"}]`
	if got != want {
		t.Errorf("Skipped = %s\nwant %s", got, want)
	}
}

func TestPiecesAreListedOnce(t *testing.T) {
	var b strings.Builder
	for i := range 300 {
		fmt.Fprintf(&b, `"/%03d":{"get":{"parameters":[{"$ref":"#/bad"},null]}},`, i)
	}
	document := `{"openapi":"3.0.3","bad":{"in":"query"},"paths":{` + b.String() + `"/":{"get":{}}}}`
	r := parsed(t, []byte(document), Options{})
	if len(r.Tools) != 301 || len(r.Skipped) != 600 {
		t.Errorf("%d tools, %d skipped, want 301 and 600", len(r.Tools), len(r.Skipped))
	}
	twice := `{"openapi":"3.0.3","c":{"s":{"type":"wrong"}},"paths":{"/a":{"get":{"parameters":[{"name":"a","in":"query","schema":{"$ref":"#/c/s"}},{"name":"b","in":"query","schema":{"$ref":"#/c/s"}}]}}}}`
	if r := parsed(t, []byte(twice), Options{}); len(r.Skipped) != 1 || r.Skipped[0].Pointer != "/c/s/type" {
		t.Errorf("Skipped = %v, want the piece once, where it stands", r.Skipped)
	}
}

func TestPathsThatCannotStandInARequest(t *testing.T) {
	for path, want := range map[string]bool{
		"/a/../b": false, "/..": false, "/a/.": false, "/a/%2e%2E/b": false, "/a/.%2e": false, "/a\\b": false, "/a\nb": false,
		"/a\x7f":                           false,
		"/" + strings.Repeat("x", maxPath): false, "/a..b": true, "/.well-known/x": true, "/a b": true, "/a/...": true,
		"/" + strings.Repeat("x", maxPath-1): true,
	} {
		_, err := Parse(t.Context(),
			encode(t, map[string]any{"openapi": "3.0.0",
				"paths": map[string]any{path: map[string]any{"get": map[string]any{}}}}), Options{})
		if (err == nil) != want {
			t.Errorf("Parse(path %.20q) = %v, want it taken: %t", path, err, want)
		}
	}
}

func TestRegisterNamesAllWrongOptionsAtOnce(t *testing.T) {
	_, err := Parse(t.Context(), []byte(small), Options{Member: strings.Repeat("m", 49), MaxDepth: -1, MaxTools: -2})
	for _, field := range []string{"Member", "MaxDepth", "MaxTools"} {
		if err == nil || !strings.Contains(err.Error(), "Options."+field) {
			t.Errorf("Parse() = %v, want %s named", err, field)
		}
	}
	if _, err := StaticTools(t.Context(), []byte(`[]`), Options{MaxSchema: -1}); err == nil || !strings.Contains(err.Error(), "MaxSchema") {
		t.Errorf("StaticTools() = %v, want MaxSchema named", err)
	}
}

func TestParsingEndsWithItsContext(t *testing.T) {
	three := `{"openapi":"3.0.3","paths":{"/a":{"get":{}},"/b":{"get":{}},"/c":{"get":{}}}}`
	for checks := range 6 { // one for each path, one for each operation
		if _, err := Parse(&fading{t.Context(), checks}, []byte(three), Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("Parse(ended at check %d) = %v, want context.Canceled", checks, err)
		}
	}
	if _, err := StaticTools(&fading{t.Context(), 1}, []byte(`[{"name":"a"},{"name":"b"}]`), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("StaticTools() = %v, want context.Canceled", err)
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
