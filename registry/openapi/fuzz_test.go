package openapi

import (
	"encoding/json"
	"errors"
	"path/filepath"
	"reflect"
	"testing"
)

func FuzzParse(f *testing.F) {
	files, err := filepath.Glob("testdata/openapi-golden/*.json")
	if err != nil || len(files) == 0 {
		f.Fatalf("no vectors: %v", err)
	}
	for _, file := range files {
		var v struct{ OpenAPI json.RawMessage }
		read(f, file, &v)
		f.Add([]byte(v.OpenAPI), false)
	}
	for _, document := range []string{"\ufeff" + small, small + small, "openapi: 3.0.3", `"{\"swagger\":2.0,\"paths\":{\"/\":{\"get\":{}}}}"`, `{"openapi":"3.0","openapi":"2","paths":{"/":{"get":{"x":1e999}}}}`} {
		f.Add([]byte(document), false)
	}
	f.Add(asYAML(f, []byte(whole2)), true)
	f.Add(asYAML(f, []byte(whole3)), true)
	f.Add([]byte("--- {openapi: 3.1.0, x: &x {get: {operationId: a}}, paths: {/a: *x, /b: {<<: *x}}}"), false)
	f.Add([]byte(whole2), true)
	f.Add([]byte(whole3), true)
	f.Fuzz(func(t *testing.T, document []byte, resolve bool) {
		o := Options{Member: "m", ResolveRefs: resolve, MaxDocument: 1 << 16, MaxOperations: 50}
		result, err := Parse(t.Context(), document, o)
		var r *Rejection
		if err != nil {
			if !errors.As(err, &r) || r.Msg == "" {
				t.Fatalf("Parse() = %v, want a rejection", err)
			}
			return
		}
		for _, tool := range result.Tools {
			sound(t, tool)
		}
		if again, err := Parse(t.Context(), document, o); err != nil || !reflect.DeepEqual(again, result) {
			t.Errorf("Parse() = %v, %v, and another time %v", result, again, err)
		}
	})
}
