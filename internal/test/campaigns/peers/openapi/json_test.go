package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
)

// tree is a JSON object.
type tree = map[string]any

func decoded(t testing.TB, text []byte) (out tree) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func encoded(t testing.TB, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}

func sorted(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }

func list(v any) []any {
	out, _ := v.([]any)
	return out
}

// number reads a number of any kind.
func number(v any) (float64, error) {
	switch v := v.(type) {
	case json.Number:
		return v.Float64()
	case float64:
		return v, nil
	}
	return 0, errors.New("no number")
}

// resolved returns an object of a document, or what it leads to by a reference.
func resolved(document tree, v any) tree {
	for range 8 {
		object, _ := v.(tree)
		ref, is := object["$ref"].(string)
		if !is {
			return object
		}
		v = document
		for name := range strings.SplitSeq(strings.TrimPrefix(ref, "#/"), "/") {
			in, _ := v.(tree)
			v = in[strings.NewReplacer("~1", "/", "~0", "~").Replace(name)]
		}
	}
	return nil
}
