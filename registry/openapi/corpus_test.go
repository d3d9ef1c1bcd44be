package openapi

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// corpus is a folder of OpenAPI documents with an index.csv that says how many tools each
// yields. It is not part of the project.
const corpus = "KEYSTILE_OPENAPI_CORPUS"

func TestCorpusYieldsItsTools(t *testing.T) {
	rows := table(t, corpusFile(t, "index.csv"))
	if len(rows) == 0 {
		t.Fatal("the index of the corpus is empty")
	}
	for _, row := range rows {
		t.Run(row["name"], func(t *testing.T) {
			text, err := os.ReadFile(corpusFile(t, filepath.Join(row["bucket"], row["name"])))
			if err != nil {
				t.Fatal(err)
			}
			want, err := strconv.Atoi(row["walk_tools"])
			if err != nil {
				t.Fatal(err)
			}
			wellRead(t, text, want)
		})
	}
}

// wellRead fails unless a document yields a number of sound tools, the same ones whatever
// the order of its keys.
func wellRead(t *testing.T, text []byte, want int) {
	t.Helper()
	longest := strings.Repeat("m", maxMember)
	for _, o := range []Options{{Member: "m"}, {Member: longest, ResolveRefs: true}} {
		result, err := Parse(t.Context(), text, o)
		if want == 0 {
			rejected(t, err, ErrcodeEmpty)
			continue
		}
		if err != nil {
			t.Fatalf("Parse() = %v, want %d tools", err, want)
		}
		if len(result.Tools) != want {
			t.Errorf("%d tools, want %d; skipped: %v", len(result.Tools), want, result.Skipped)
		}
		names := map[string]bool{}
		for _, tool := range result.Tools {
			sound(t, tool)
			if name := o.Member + "__" + tool.Name; names[name] || !toolName.MatchString(name) {
				t.Errorf("the name %q is not legal or there twice", name)
			} else {
				names[name] = true
			}
		}
		if again := parsed(t, text, o); !reflect.DeepEqual(again, result) {
			t.Error("the same document gives other tools")
		}
		if turned := parsed(t, turned(t, text), o); !reflect.DeepEqual(turned, result) {
			t.Error("the order of keys changes the tools")
		}
	}
}

// turned writes a document with its keys in the opposite order.
func turned(t testing.TB, text []byte) []byte {
	var v any
	decode(t, text, &v)
	var b bytes.Buffer
	backwards(t, &b, v)
	return b.Bytes()
}

// backwards writes a value with the keys of its objects from z to a.
func backwards(t testing.TB, b *bytes.Buffer, v any) {
	switch v := v.(type) {
	case map[string]any:
		b.WriteByte('{')
		keys := slices.Sorted(maps.Keys(v))
		slices.Reverse(keys)
		for i, key := range keys {
			if i > 0 {
				b.WriteByte(',')
			}
			b.Write(encode(t, key))
			b.WriteByte(':')
			backwards(t, b, v[key])
		}
		b.WriteByte('}')
	case []any:
		b.WriteByte('[')
		for i, item := range v {
			if i > 0 {
				b.WriteByte(',')
			}
			backwards(t, b, item)
		}
		b.WriteByte(']')
	case json.Number:
		b.WriteString(string(v))
	default:
		b.Write(encode(t, v))
	}
}

func corpusFile(t testing.TB, name string) string {
	t.Helper()
	dir := os.Getenv(corpus)
	if dir == "" {
		t.Skip(corpus + " names no folder of documents")
	}
	return filepath.Join(dir, name)
}

// table reads a file of comma-separated values whose first row names the columns.
func table(t testing.TB, file string) (out []map[string]string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		named := map[string]string{}
		for i, column := range rows[0] {
			named[column] = row[i]
		}
		out = append(out, named)
	}
	return out
}
