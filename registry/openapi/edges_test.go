package openapi

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/restcall"
	"github.com/keystile/keystile/storage/toolplan"
)

func TestMediaTypeObjectMayBeAReference(t *testing.T) {
	const document = `{"openapi":"3.2.0","paths":{"/a":{"post":{"operationId":"a",
		"parameters":[{"in":"query","name":"q","content":{"application/json":{"$ref":"#/components/mediaTypes/M"}}}],
		"requestBody":{"content":{"application/json":{"$ref":"#/components/mediaTypes/M"}}}}}},
		"components":{"mediaTypes":{"M":{"schema":{"type":"object","properties":{"id":{"type":"integer"}}}}}}}`
	r := parsed(t, []byte(document), Options{ResolveRefs: true})
	const object = `{"properties":{"id":{"type":"integer"}},"type":"object"}`
	want := `{"additionalProperties":false,"properties":{"id":{"type":"integer"},"q":` + object + `},"type":"object"}`
	if got := string(r.Tools[0].InputSchema); got != want || len(r.Skipped) > 0 {
		t.Errorf("schema %s, skipped %+v, want %s", got, r.Skipped, want)
	}
}

func TestSequenceThatIsNotMadeIsListed(t *testing.T) {
	for content, want := range map[string]string{
		`{"multipart/mixed":{"itemSchema":{},"itemEncoding":{"contentType":"image/png"}}}`: "itemEncoding itemSchema",
		`{"multipart/mixed":{"schema":{"type":"array"},"prefixEncoding":[{}]}}`:            "prefixEncoding",
		`{"application/json":{"itemSchema":{"type":"object"}}}`:                            "itemSchema",
		`{"application/jsonl":{"schema":{"type":"array"},"itemSchema":{}}}`:                "itemSchema",
		`{"application/jsonl":{"itemSchema":{"type":"object"}}}`:                           "",
	} {
		r := parsed(t, []byte(`{"openapi":"3.2.0","paths":{"/a":{"post":{"operationId":"a","requestBody":{"content":`+
			content+`}}}}}`), Options{})
		var got []string
		for _, s := range r.Skipped {
			if key := s.Pointer[strings.LastIndexByte(s.Pointer, '/')+1:]; strings.Contains(s.Reason, "sequence") {
				got = append(got, key)
			}
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("of %s are listed %q, want %s: %+v", content, got, want, r.Skipped)
		}
	}
}

func TestBodyOfManyTypesIsSentAsTheFirstOfThem(t *testing.T) {
	content := map[string]any{}
	for i := range restcall.MaxMediaTypes + 8 {
		bytes := map[string]any{"type": "string", "format": "binary"}
		content[fmt.Sprintf("application/x-%02d", i)] = map[string]any{"schema": bytes}
	}
	r := withContent(t, "3.0.3", content)
	if len(r.Tools) != 1 {
		t.Fatalf("no tool: %+v", r.Skipped)
	}
	if _, err := restcall.Compile(r.Tools[0]); err != nil {
		t.Errorf("the tool cannot be called: %v", err)
	}
	listed := func(s toolplan.Skip) bool { return strings.Contains(s.Reason, "application/x-00 too") }
	types := r.Tools[0].Call.Body.Types
	if len(types) != restcall.MaxMediaTypes || !slices.ContainsFunc(r.Skipped, listed) {
		t.Errorf("%d types, skipped %+v", len(types), r.Skipped)
	}
}

func TestQueryParameterThatThePathShowsIsAnArgument(t *testing.T) {
	for path, want := range map[string]string{
		"/a?id={id}": "/a", "/a?v=1&id={id}": "/a?v=1", "/a?id={id}&b;c=%2F": "/a?b;c=%2F", "/a?x={id}": "/a?x={id}",
	} {
		r := parsed(t, encode(t, map[string]any{"openapi": "3.0.3", "paths": map[string]any{path: map[string]any{
			"get": map[string]any{"operationId": "a", "parameters": []any{map[string]any{
				"in": "query", "name": "id", "required": true, "schema": map[string]any{"type": "integer"}}}}}}}),
			Options{})
		tool := r.Tools[0]
		if tool.Call.Template != want || len(tool.Call.Params) != 1 || !tool.Call.Params[0].Required {
			t.Errorf("%s: %+v, want %s and id", path, tool.Call, want)
		}
	}
}

func TestTextOfAMediaTypeIsSentAsItIs(t *testing.T) {
	// The first is what pydantic writes of a Json in a form.
	for schema, text := range map[string]string{
		`{"type":"string","contentMediaType":"application/json","contentSchema":{"type":"object"}}`: `{"x":1}`,
		`{"type":"string","contentMediaType":"text/csv; charset=utf-8"}`:                            "AP8=",
		`{"type":"string","contentMediaType":"image/svg+xml"}`:                                      `<svg/>`,
	} {
		r := withContent(t, "3.1.0", media{"multipart/form-data": json.RawMessage(
			`{"schema":{"type":"object","properties":{"f":` + schema + `}}}`)})
		sound(t, r.Tools[0])
		file := map[string]string{"data": base64.StdEncoding.EncodeToString([]byte(text))}
		for _, given := range []any{text, file} {
			body, contentType, refused := send(t, r.Tools[0], encode(t, map[string]any{"f": given}))
			if refused != "" {
				t.Errorf("%v of %s: %s", given, schema, refused)
				continue
			}
			if got := filesOf(t, body, contentType); len(got) != 1 || got[0].text != text {
				t.Errorf("%v of %s: %+v", given, schema, got)
			}
		}
	}
}

func TestPathFixedByAHandFilledToolIsNoArgument(t *testing.T) {
	r, err := StaticTools(t.Context(), []byte(`[{"name":"a","httpMethod":"get","path":"/a?v=1",
		"inputSchema":{"type":"object","properties":{"v":{"type":"string"},"w":{"type":"string"}},"required":["v"]}}]`),
		Options{Member: "m"})
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"additionalProperties":false,"properties":{"w":{"type":"string"}},"type":"object"}`
	if got := string(r.Tools[0].InputSchema); got != want || len(r.Skipped) != 1 {
		t.Errorf("schema %s, left out: %+v", got, r.Skipped)
	}
	if _, _, refused := send(t, r.Tools[0], []byte(`{"w":"x"}`)); refused != "" {
		t.Error(refused)
	}
}
