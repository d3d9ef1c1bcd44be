package openapi

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// Decision 34.
func TestUserOfAProviderIsSavedWhenTheProfileChanges(t *testing.T) {
	for _, c := range []struct{ name, entry, want string }{
		{"by name", `{"name":"search","description":"Finds","inputSchema":{"type":"object","properties":{"q":{"type":"string"}},"required":["q"]}}`,
			`{"name":"search","description":"Finds","inputSchema":{"properties":{"q":{"type":"string"}},"required":["q"],"type":"object"}}`},
		{"by name, with little said", `{"name":"ping","path":null}`, `{"name":"ping","description":"ping","inputSchema":{"properties":{},"type":"object"}}`},
		{"get", `{"name":"pet","httpMethod":"GET","path":"/pets/:id","inputSchema":{"type":"object","properties":{"id":{"type":"integer"},"verbose":{"type":"boolean"}},"required":["verbose"]}}`,
			`{"name":"pet","httpMethod":"get","path":"/pets/:id","description":"GET /pets/:id",` +
				`"inputSchema":{"additionalProperties":false,"properties":{"id":{"type":"integer"},` +
				`"verbose":{"type":"boolean"}},"required":["id","verbose"],"type":"object"},` +
				`"call":{"template":"/pets/{id}","params":[{"arg":"id","name":"id","in":"path","required":true},{"arg":"verbose","name":"verbose","in":"query","explode":true,"required":true}]}}`},
		{"delete", `{"name":"d","httpMethod":"delete","path":"/x","inputSchema":{"properties":{"a":{}}}}`,
			`{"name":"d","httpMethod":"delete","path":"/x","description":"DELETE /x",` +
				`"inputSchema":{"additionalProperties":false,"properties":{"a":{}},"type":"object"},` +
				`"call":{"template":"/x","params":[{"arg":"a","name":"a","in":"query","explode":true}]}}`},
		{"put", `{"name":"u","httpMethod":"put","path":"/t/:idType/:id:cancel","inputSchema":{"properties":{"id":{},"idType":{},"a[b]":{"type":"string"},"c":{}},"required":["c"]}}`,
			`{"name":"u","httpMethod":"put","path":"/t/:idType/:id:cancel","description":"PUT /t/:idType/:id:cancel",` +
				`"inputSchema":{"additionalProperties":false,"properties":{"a_b":{"description":"\"a[b]\" in the ` +
				`API.","type":"string"},"c":{},"id":{},"idType":{}},"required":["c","id","idType"],"type":"object"},` +
				`"call":{"template":"/t/{idType}/{id}:cancel","params":[{"arg":"id","name":"id","in":"path","required":true},{"arg":"idType","name":"idType","in":"path","required":true}],` +
				`"body":{"content_type":"application/json","fields":[{"arg":"a_b","name":"a[b]"},{"arg":"c","name":"c","required":true}],"required":true}}}`},
		{"an optional body", `{"name":"u","httpMethod":"patch","path":"/","inputSchema":{"properties":{"c":{}}}}`,
			`{"name":"u","httpMethod":"patch","path":"/","description":"PATCH /",` +
				`"inputSchema":{"additionalProperties":false,"properties":{"c":{}},"type":"object"},` +
				`"call":{"template":"/","body":{"content_type":"application/json","fields":[{"arg":"c",` +
				`"name":"c"}]}}}`},
		{"named like an operation", `{"httpMethod":"post","path":"/pets"}`,
			`{"name":"post_pets","httpMethod":"post","path":"/pets","description":"POST /pets",` +
				`"inputSchema":{"additionalProperties":false,"properties":{},"type":"object"},` +
				`"call":{"template":"/pets"}}`},
	} {
		r, err := StaticTools(t.Context(), json.RawMessage(`[`+c.entry+`]`), Options{Member: "m"})
		if err != nil || len(r.Tools) != 1 || len(r.Skipped) != 0 {
			t.Errorf("%s: StaticTools() = %v, %v, want one tool", c.name, r, err)
			continue
		}
		var got, want any
		decode(t, encode(t, r.Tools[0]), &got)
		decode(t, []byte(c.want), &want)
		if string(encode(t, got)) != string(encode(t, want)) {
			t.Errorf("%s: %s\nwant %s", c.name, encode(t, got), encode(t, want))
		}
		sound(t, r.Tools[0])
	}
}

func TestStaticToolsThatCannotBeUsedAreLeftOut(t *testing.T) {
	for _, c := range []struct{ entry, why string }{
		{`7`, "not a tool"},
		{`{}`, "called by its name"},
		{`{"name":"a b"}`, "called by its name"},
		{`{"name":"good"}`, "another tool has this name"},
		{`{"name":"` + strings.Repeat("x", 60) + `"}`, "more than 58 characters"},
		{`{"name":"p","path":7}`, "not a text"},
		{`{"name":"p","path":"/a"}`, "httpMethod"},
		{`{"name":"p","path":"/a","httpMethod":"head"}`, "httpMethod"},
		{`{"name":"p","path":"a","httpMethod":"get"}`, "must start with /"},
		{`{"name":"p","path":"/../a","httpMethod":"get"}`, "dot segments"},
		{`{"name":"p","path":"/{a}","httpMethod":"get","inputSchema":{"properties":{"a":{}}}}`, "braces"},
		{`{"name":"p","path":"/users/:id/x","httpMethod":"get"}`, "names :id, which is no property"},
		{`{"name":"p","path":"/` + strings.Repeat(":a", 65) + `","httpMethod":"get"}`, "colons"},
		{`{"name":"p","inputSchema":{"type":"string"}}`, "must describe an object"},
		{`{"name":"p","inputSchema":true}`, "must describe an object"},
		{`{"name":"p","inputSchema":{"properties":{"a\u202e":{}},"required":["a\u202e"]}}`, "rename it"},
	} {
		r, err := StaticTools(t.Context(), json.RawMessage(`[{"name":"good"},`+c.entry+`]`), Options{Member: "four"})
		if err != nil || len(r.Tools) != 1 || len(r.Skipped) != 1 || r.Skipped[0].Pointer != "/1" ||
			!strings.Contains(r.Skipped[0].Reason, c.why) {
			t.Errorf("StaticTools(%.80s) = %+v, %v, want it left out because %s", c.entry, r, err, c.why)
		}
	}
}

func TestListWithoutToolsIsRefused(t *testing.T) {
	for _, c := range []struct {
		list    string
		errcode int
	}{
		{`[]`, ErrcodeEmpty}, {`[{}]`, ErrcodeEmpty}, {`{}`, ErrcodeBadField}, {`"[]"`, ErrcodeBadField}, {`null`, ErrcodeBadField}, {``, ErrcodeBadField}, {`[`, ErrcodeBadField},
		{`[` + strings.Repeat(`{"name":"a"},`, 2000) + `{"name":"a"}]`, ErrcodeTooMuch},
		{`[{"name":"a","x":"` + strings.Repeat("x", 16<<20) + `"}]`, ErrcodeTooMuch},
	} {
		_, err := StaticTools(t.Context(), json.RawMessage(c.list), Options{})
		rejected(t, err, c.errcode)
	}
	_, err := StaticTools(t.Context(), json.RawMessage(`[{"name":"a"},{"name":"b"}]`), Options{MaxTools: 60})
	rejected(t, err, ErrcodeTooMuch)
	_, err = StaticTools(t.Context(), json.RawMessage(`[7]`), Options{})
	if r := rejected(t, err, ErrcodeEmpty); len(r.Skipped) != 1 {
		t.Errorf("Skipped = %v, want the entry", r.Skipped)
	}
}

func TestStaticNamesOfTheUpstreamComeFirst(t *testing.T) {
	r, err := StaticTools(t.Context(), json.RawMessage(`[{"name":"x","httpMethod":"get","path":"/a"},{"name":"x"},{"name":"x","httpMethod":"get","path":"/a"}]`), Options{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range r.Tools {
		names = append(names, fmt.Sprintf("%s:%t", tool.Name, tool.Call != nil))
	}
	if got, want := strings.Join(names, " "), "get_a:true x:false get_a_2:true"; got != want {
		t.Errorf("names = %s, want %s", got, want)
	}
}
