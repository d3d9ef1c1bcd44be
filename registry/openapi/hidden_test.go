package openapi

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
	"github.com/keystile/keystile/storage/toolplan"
)

const (
	hiddenSchema = `{"type":"object","title":"Title","description":"Text","required":["name"],"properties":{
		"name":{"type":"string","title":"Name","description":"Its name","format":"word","pattern":"^[a-z]+$","enum":["one","two"],"default":"one","example":"two","examples":["one"],"const":"one"},
		"deep":{"type":"object","properties":{"inner":{"type":"array","items":{"enum":["three"],"description":"Inner"}}},"required":["inner"],"default":{"inner":["three"]},"additionalProperties":{"type":"string","description":"More"}},
		"any":{"anyOf":[{"const":"four","title":"Four"},{"$ref":"#/components/schemas/Shared"}]}}}`
	hiddenPaths = `"/pets/{petId}":{"parameters":[{"name":"petId","in":"path","required":true,"description":"Which","SCHEMA":{"type":"string","default":"five"}}],
		"post":{"operationId":"addPet","summary":"Adds a pet","description":"At length","tags":["pets"],"parameters":[
			{"name":"kind","in":"query","description":"Kind","SCHEMA":{"type":"string","enum":["cat","dog"]}},{"name":"X-Trace","in":"header","SCHEMA":{"type":"string","format":"uuid"}}],BODY}}`
)

// hiddenDocuments are ASCII, and have a text wherever a document may have one.
var hiddenDocuments = map[string]string{
	"OpenAPI 3.0": `{"openapi":"3.0.3","info":{"title":"Pets","version":"1","description":"All pets"},"paths":{` + oas3(`"requestBody":{"description":"A pet","content":{"application/json":{"schema":`+hiddenSchema+`}}}`) + `},"components":{"schemas":{"Shared":{"type":"string","description":"Shared","enum":["six"]}}}}`,
	"OpenAPI 3.1": `{"openapi":"3.1.0","info":{"title":"Pets","version":"1"},"paths":{` + oas3(`"requestBody":{"$ref":"#/components/requestBodies/Pet"}`) + `},"components":{"requestBodies":{"Pet":{"content":{"application/x-www-form-urlencoded":{"schema":` + hiddenSchema + `}}}},"schemas":{"Shared":{"type":["string","null"],"const":"six"}}}}`,
	"OpenAPI 2.0": `{"swagger":"2.0","info":{"title":"Pets","version":"1"},"consumes":["application/json"],"paths":{` + strings.NewReplacer(`"SCHEMA":{`, ``, `}}],`, `}],`, `}},{`, `},{`, `BODY`, `"responses":{}`).Replace(hiddenPaths) + `,"/new":{"post":{"parameters":[{"name":"pet","in":"body","description":"A pet","schema":` + hiddenSchema + `}]}}},"components":{"schemas":{"Shared":{"description":"Shared","format":"six"}}}}`,
}

func oas3(body string) string {
	return strings.NewReplacer("SCHEMA", "schema", "BODY", body).Replace(hiddenPaths)
}

const hiddenStatic = `[{"name":"byPath","httpMethod":"put","path":"/pets/:name/:deep","description":"Puts","title":"Puts","inputSchema":` + hiddenSchema + `},{"name":"byName","description":"Named","inputSchema":` + hiddenSchema + `}]`

// wantVisible fails if anything of a tool that models or people read is not what it was
// before a text was hidden in it, which was ASCII.
func wantVisible(t *testing.T, where string, tools []toolplan.Tool, skipped []toolplan.Skip) {
	t.Helper()
	check := func(text string) {
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
			t.Errorf("%s: %q leaves", where, text)
		}
	}
	for _, tool := range tools {
		var schema any
		if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
			t.Fatal(err)
		}
		hiddentext.Each(schema, check)
		for _, text := range []string{tool.Name, tool.Description, tool.Path, tool.Method} {
			check(text)
		}
		if tool.Description == "" {
			t.Errorf("%s: a tool has no description", where)
		}
	}
	for _, s := range skipped {
		check(s.Pointer)
		check(s.Reason)
	}
}

func TestDocumentTextsAreNeverHidden(t *testing.T) {
	text := strings.Join(slices.Sorted(maps.Values(hiddentext.Hidden)), "")
	for version, document := range hiddenDocuments {
		for _, o := range []Options{{Member: "m"}, {Member: "m", ResolveRefs: true}} {
			for where, changed := range hiddentext.Everywhere([]byte(document), text) {
				r, err := Parse(t.Context(), changed, o)
				if err != nil {
					continue // the words of OpenAPI itself
				}
				wantVisible(t, version+" at "+where, r.Tools, r.Skipped)
			}
		}
	}
	for where, changed := range hiddentext.Everywhere([]byte(hiddenStatic), text) {
		r, err := StaticTools(t.Context(), changed, Options{Member: "m"})
		if err != nil {
			t.Errorf("tools_static at %s: %v", where, err)
			continue
		}
		wantVisible(t, "tools_static at "+where, r.Tools, r.Skipped)
	}
}

// A keyword that is dropped is reported with its place.
func TestKeywordThatHidesTextIsAmongWhatWasSkipped(t *testing.T) {
	document := get(`"c":0`, `"parameters":[{"name":"a","in":"query","schema":{"type":"string","enum":["x`+hiddentext.Hidden["bidi"]+`"]}}]`)
	r := parsed(t, []byte(document), Options{})
	if len(r.Skipped) != 1 || !strings.HasSuffix(r.Skipped[0].Pointer, "/parameters/0/schema/enum") ||
		!strings.Contains(r.Skipped[0].Reason, "nobody sees") {
		t.Errorf("skipped are %+v, want the enum", r.Skipped)
	}
	if got := string(r.Tools[0].InputSchema); got != closed+`"properties":{"a":{"type":"string"}},"type":"object"}` {
		t.Errorf("the schema is %s, want it without the enum", got)
	}
}

func TestTextOfAllScriptsIsKept(t *testing.T) {
	text := strings.Join(hiddentext.Legible, "")
	for version, document := range hiddenDocuments {
		whole := string(encode(t, parsed(t, []byte(document), Options{Member: "m", ResolveRefs: true}).Tools))
		kept := 0
		for where, changed := range hiddentext.Everywhere([]byte(document), text) {
			r, err := Parse(t.Context(), changed, Options{Member: "m", ResolveRefs: true})
			if err != nil || len(r.Tools) == 0 {
				continue
			}
			got := string(encode(t, r.Tools))
			if got != whole && strings.Contains(got, strings.Trim(string(encode(t, text)), `"`)) {
				kept++
			} else if strings.Contains(where, "/description") && !strings.Contains(where, "key") && got != whole {
				t.Errorf("%s at %s: it is not kept: %s", version, where, got)
			}
		}
		if kept < 15 {
			t.Errorf("%s: it is kept in %d places, want most", version, kept)
		}
	}
}
