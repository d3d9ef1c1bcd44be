package openapi

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/registry/lint"
)

// Each node of small documents becomes each kind of nonsense in turn: nothing panics, what
// is left is sound, and the only errors are rejections.
func TestNonsenseAnywhereIsLeftOut(t *testing.T) {
	for name, document := range map[string]string{"2.0": whole2, "3.0": whole3} {
		for i, nonsense := range []any{nil, false, json.Number("7"), "x", []any{}, []any{nil}, map[string]any{},
			map[string]any{"$ref": "#"}} {
			t.Run(fmt.Sprintf("%s, kind %d", name, i), func(t *testing.T) {
				t.Parallel()
				var root any
				decode(t, []byte(document), &root)
				n := 0
				eachNode(root, func(set func(any)) {
					set(nonsense)
					n++
					broken(t, encode(t, root))
				})
				if n < 60 {
					t.Fatalf("only %d documents were made", n)
				}
			})
		}
	}
}

func TestNonsenseAnywhereInAStaticListIsLeftOut(t *testing.T) {
	var root any
	decode(t, []byte(`[{"name":"a","description":"d","inputSchema":{"type":"object","properties":{"q":{"type":["string","null"],"enum":["x"]},"o":{"type":"object","properties":{"p":{"$ref":"#/$defs/D"}},"required":["p"]}},"required":["q"],"$defs":{"D":{"items":{"minimum":1}}}}},
		{"name":"b","httpMethod":"post","path":"/a/:id","inputSchema":{"anyOf":[{"properties":{"id":{"type":"integer"},"n":{}},"required":["n"]}]}}]`), &root)
	eachNode(root, func(set func(any)) {
		for _, nonsense := range []any{nil, true, false, json.Number("7"), "x", []any{}, []any{nil}, map[string]any{},
			map[string]any{"$ref": "#"}} {
			set(nonsense)
			list := encode(t, root)
			result, err := StaticTools(t.Context(), list, Options{})
			whole := 0 // entries that are left out, not pieces of them
			for i := 0; err == nil && i < len(result.Skipped); i++ {
				if strings.Count(result.Skipped[i].Pointer, "/") == 1 {
					whole++
				}
			}
			if err != nil || len(result.Tools)+whole != 2 {
				t.Fatalf("StaticTools(%s) = %+v, %v, want one entry good and the other good or left out", list, result, err)
			}
			for _, tool := range result.Tools {
				sound(t, tool)
			}
		}
	})
}

func broken(t *testing.T, document []byte) {
	t.Helper()
	for _, resolve := range []bool{false, true} {
		result, err := Parse(t.Context(), document, Options{ResolveRefs: resolve})
		var r *Rejection
		if err != nil && !errors.As(err, &r) {
			t.Fatalf("Parse(%s) = %v, want a rejection", document, err)
		}
		if err != nil {
			continue
		}
		for _, tool := range result.Tools {
			sound(t, tool)
		}
	}
	if t.Failed() {
		t.Fatalf("in %s", document)
	}
	Advise(t.Context(), document, lint.Check)
}

// eachNode calls do with a function that replaces one node, for all nodes, and puts each
// back afterwards.
func eachNode(v any, do func(set func(any))) {
	switch v := v.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			old := v[key]
			do(func(x any) { v[key] = x })
			v[key] = old
			eachNode(old, do)
		}
	case []any:
		for i, old := range v {
			do(func(x any) { v[i] = x })
			v[i] = old
			eachNode(old, do)
		}
	}
}

const whole3 = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/a/{id}":{"parameters":[{"$ref":"#/components/parameters/id"}],
	"put":{"operationId":"a","summary":"s","parameters":[{"name":"q","in":"query","style":"form","explode":false,"required":true,"schema":{"type":"array","items":{"type":"string","enum":["a"]}}},
		{"name":"j","in":"query","content":{"application/json":{"schema":{"type":"object"}}}}],
	"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/P"}}}},"responses":{"200":{"description":"ok"}}}}},
	"components":{"parameters":{"id":{"name":"id","in":"path","required":true,"schema":{"type":"integer","minimum":0,"exclusiveMinimum":true,"nullable":true,"default":1}}},
	"schemas":{"P":{"allOf":[{"$ref":"#/components/schemas/B"},{"oneOf":[{"required":["x"],"properties":{"x":{"anyOf":[{"type":"string"},{"type":"integer"}]}}},{"properties":{"y":{"enum":[1]}}}]}]},
	"B":{"type":"object","required":["n"],"properties":{"n":{"type":"object","properties":{"m":{"$ref":"#/components/schemas/B"}},"required":["m"],"additionalProperties":{"type":"string","pattern":"^a"}},"r":{"type":"string","readOnly":true}}}}}}`

const whole2 = `{"swagger":"2.0","info":{"title":"t","version":"1"},"consumes":["application/json"],"paths":{"/a/{id}":{"get":{"operationId":"g","parameters":[
	{"name":"id","in":"path","required":true,"type":"string","maxLength":5},{"name":"l","in":"query","type":"array","items":{"type":"string"},"collectionFormat":"multi"},{"name":"X-H","in":"header","type":"string"}],"responses":{"200":{"description":"ok"}}},
	"post":{"consumes":["multipart/form-data"],"parameters":[{"name":"f","in":"formData","type":"file","required":true},{"name":"id","in":"path","required":true,"type":"string"}],"responses":{"200":{"description":"ok","headers":{"X":{"type":"string"}}}}},
	"patch":{"parameters":[{"name":"id","in":"path","required":true,"type":"string"},{"name":"b","in":"body","required":true,"schema":{"$ref":"#/definitions/P"}}],"responses":{"default":{"$ref":"#/responses/R"}}}}},
	"responses":{"R":{"description":"r"}},"definitions":{"P":{"type":"object","required":["n"],"properties":{"n":{"type":"string","x-nullable":true,"enum":["a"]}}}}}`
