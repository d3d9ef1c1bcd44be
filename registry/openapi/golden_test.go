package openapi

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// Decision 38.
func TestGoldenVectors(t *testing.T) {
	files, err := filepath.Glob("testdata/openapi-golden/*.json")
	if err != nil || len(files) != 36 {
		t.Fatalf("%d golden vectors found, want 36: %v", len(files), err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			var v struct {
				OpenAPI  json.RawMessage
				Expected struct {
					Tools []map[string]any
					Error string
				}
			}
			read(t, file, &v)
			result, err := Parse(t.Context(), v.OpenAPI, Options{})
			if want, refused := map[string]int{"empty": ErrcodeEmpty, "invalid": ErrcodeNotOpenAPI}[v.Expected.Error]; refused {
				rejected(t, err, want)
				return
			}
			if err != nil {
				t.Fatalf("Parse() = %v, want tools", err)
			}
			if len(v.Expected.Tools) == 0 || len(result.Tools) != len(v.Expected.Tools) {
				t.Fatalf("Parse() = %d tools, want %d", len(result.Tools), len(v.Expected.Tools))
			}
			for i, want := range v.Expected.Tools {
				got := public(t, result.Tools[i])
				if !reflect.DeepEqual(got, want) {
					t.Errorf("tool %d = %v\nwant %v", i, got, want)
				}
				sound(t, result.Tools[i])
			}
		})
	}
}

// Decision 39.
func TestNameVectors(t *testing.T) {
	var file struct {
		Vectors []struct {
			Why, Member string
			Operations  []struct {
				Method, Path string
				OperationID  any
			}
			Names []string
		}
	}
	read(t, "testdata/tool-names.json", &file)
	if len(file.Vectors) != 13 {
		t.Fatalf("%d name vectors found, want 13", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		paths := map[string]map[string]any{}
		for _, op := range v.Operations {
			if paths[op.Path] == nil {
				paths[op.Path] = map[string]any{}
			}
			paths[op.Path][op.Method] = map[string]any{"operationId": op.OperationID}
		}
		result := parsed(t, encode(t, map[string]any{"openapi": "3.0.0", "paths": paths}), Options{Member: v.Member})
		var names []string
		for _, tool := range result.Tools {
			names = append(names, v.Member+"__"+tool.Name)
		}
		if !reflect.DeepEqual(names, v.Names) {
			t.Errorf("%s: names = %q, want %q", v.Why, names, v.Names)
		}
	}
}

// public holds what the vectors say of a tool.
func public(t *testing.T, tool toolplan.Tool) map[string]any {
	t.Helper()
	var out map[string]any
	decode(t, encode(t, map[string]any{
		"name": tool.Name, "httpMethod": tool.Method, "path": tool.Path, "inputSchema": tool.InputSchema,
	}), &out)
	return out
}

func parsed(t testing.TB, document []byte, o Options) *Result {
	t.Helper()
	result, err := Parse(t.Context(), document, o)
	if err != nil {
		t.Fatalf("Parse(%.300s) = %v, want tools", document, err)
	}
	return result
}

func rejected(t testing.TB, err error, errcode int) *Rejection {
	t.Helper()
	var r *Rejection
	if !errors.As(err, &r) || r.Errcode != errcode {
		t.Fatalf("error = %v, want a rejection with errcode %d", err, errcode)
	}
	return r
}

func read(t testing.TB, file string, into any) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	decode(t, text, into)
}

func decode(t testing.TB, text []byte, into any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatalf("%v in %.300s", err, text)
	}
}

func encode(t testing.TB, v any) []byte {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
