package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/keystile/keystile/internal/rawjson"
)

// FuzzJSON holds that whatever is read is valid JSON within the limits and no name stands in
// it twice, that JSON means what it meant, and that the parser never makes more of a text than
// was counted before.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{
		"openapi: 3.0.3\npaths:\n  /a:\n    get:\n      responses: {200: {description: ok}}\n",
		"a: &x {b: 1}\nc: {<<: *x, d: [*x, *x]}", laughs(3), merged(3),
		"- - a\n  - ? b\n    : c\n- !!str 1\n- |\n  x\n  y\n- >-\n  z\n", "{a, b: [c: d, ? e], ? f : g}", "%YAML 1.2\n%TAG ! tag:x,2000:\n---\n# c\na: 'b' # d\n...\n", `{"a":[1.50,-0,1e999,"\u00e9\n",null],"b":{"":true}}`,
		"? ? a\n  : b\n", ": a\n: b", "[,]", "{?,:}", "a:\n\n b:\n\tc", "012: +1\n0o7: .5\n0xF: 1.\n",
		"\ufeff\"a\": \"\\x41\\u00e9\"\r\nb: ''\r", "a: *a", "&a a: *a", "--- \n--- \n", "[[[{[", "\xff\xfe",
	} {
		f.Add([]byte(text))
	}
	l := Limits{Bytes: 1 << 16, Depth: 16, Nodes: 1 << 12}
	f.Fuzz(func(t *testing.T, text []byte) {
		boundHolds(t, text)
		out, err := JSON(t.Context(), text, l)
		var e *Error
		if err != nil {
			if !errors.As(err, &e) || e.Line < 1 || e.Column < 1 || e.Problem == "" {
				t.Fatalf("JSON(%q) = %v, want an error with its place", text, err)
			}
			return
		}
		if err := rawjson.Check(out, rawjson.Limits{Depth: l.Depth, Once: true}); err != nil || len(out) > l.Bytes {
			t.Fatalf("JSON(%q) = %s: %v", text, out, err)
		}
		var b bytes.Buffer
		if json.Compact(&b, out); b.Len() != len(out) {
			t.Errorf("JSON(%q) = %s, want it compact", text, out)
		}
		if rawjson.Check(text, rawjson.Limits{Depth: l.Depth, Once: true}) == nil && plainly(t, out) != plainly(t, text) {
			t.Errorf("JSON(%q) = %s, want the same", text, out)
		}
	})
}

// boundHolds fails if the parser makes more nodes of a text than screen counts.
func boundHolds(t *testing.T, text []byte) {
	t.Helper()
	dec := yaml.NewDecoder(bytes.NewReader(readable(text)))
	nodes := 0
	for range 100 { // documents
		var doc yaml.Node
		if decode(dec, &doc) != nil {
			break
		}
		nodes += count(&doc) - 2 // beside the document and what it holds if it is empty
	}
	if nodes > 0 && screen(text, nodes-1) == nil {
		t.Fatalf("%q makes %d nodes, and fewer were counted", text, nodes)
	}
}

func count(n *yaml.Node) int {
	sum := 1
	for _, inner := range n.Content {
		sum += count(inner)
	}
	return sum
}

func TestYAMLCountCoversWhatIsParsed(t *testing.T) {
	for _, text := range []string{"{a,b,c}", "[:,:]", "[{},[],{a}]", "[? ,? ]", "{?,?,:}", "- - - a: b",
		"a:\nb:\n? c\n? d\n", "[a: b, c: d]", "- a: 1\n  b: 2\n- ? c\n", "---\n- a\n---\nb: c\n", "\ta", "[\n\ta,\n\tb ]",
		"- ? - ? - a", "\"a\":b", "{\"a\":b,\"c\":d}", "- &a\n- !!str\n- *a"} {
		boundHolds(t, []byte(strings.Repeat(text+"\n", 1)))
	}
}
