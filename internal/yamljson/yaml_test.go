package yamljson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

func TestJSONIsWrittenInLines(t *testing.T) {
	got, err := YAML([]byte(`{"kind":"group","name":"yes","list":["a: b","012",7,true,null],"empty":[],"of":{"x":"- y"}}`))
	want := "kind: group\nname: \"yes\"\nlist:\n    - 'a: b'\n    - \"012\"\n    - 7\n    - true\n    - null\n" +
		"empty: []\nof:\n    x: '- y'\n"
	if err != nil || string(got) != want {
		t.Errorf("%s, %v, want %s", got, err, want)
	}
}

// FuzzYAMLIsReadAsTheJSONThatItWas writes JSON as YAML, and reads it again.
func FuzzYAMLIsReadAsTheJSONThatItWas(f *testing.F) {
	for _, text := range []string{`{"a":"0o14","b":"1_000","c":"12:30","d":"~","e":"<<","f":"#","g":"\u0085"}`,
		`["","\n","a\n","\ta"," a ","'","\"","&a","*a","!a","%a","@","` + "`" + `","---","...","null","1e3","0x1f",".inf"]`,
		`{"true":{"null":[[],{},[{}]]},"1":1.50,"a b":-0,"é":"😀"}`, `"text"`, `1`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		limits := Limits{Bytes: 1 << 20, Depth: 50, Nodes: 10_000}
		var compact bytes.Buffer
		if !json.Valid(text) || json.Compact(&compact, text) != nil {
			return
		}
		before, err := JSON(t.Context(), compact.Bytes(), limits)
		if err != nil {
			return // a text that no YAML document holds
		}
		written, err := YAML(before)
		if err != nil {
			t.Fatalf("%s: %v", before, err)
		}
		after, err := JSON(t.Context(), written, limits)
		if err != nil || !bytes.Equal(before, after) {
			t.Fatalf("%s\nis written as\n%s\nand read as\n%s, %v", before, strings.ToValidUTF8(string(written), "?"), after, err)
		}
	})
}
