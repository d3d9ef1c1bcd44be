package toolschema

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

// shownOf returns what is shown of a schema, all of its structure, and what was reported.
func shownOf(t *testing.T, schema string) (string, []string) {
	t.Helper()
	root, err := tree.Parse(schema, maxDepth)
	if err != nil {
		t.Fatal(err)
	}
	var reported []string
	p := NewDocument(root, maxHops).Projection(Limits{Depth: 4, Nodes: 100, Properties: 100}, func(n Node, why string) {
		reported = append(reported, n.Pointer()+" "+why)
	})
	out, _ := p.Schema(p.doc.Root())
	text, _ := tree.Append(nil, out, maxBytes)
	return string(text), reported
}

func TestValuesAreWrittenAsTheirTypeHasThem(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"string","enum":[0,1,2]}`:                  `{"enum":["0","1","2"],"type":"string"}`,
		`{"type":"string","enum":[1,"1",true,1.50]}`:        `{"enum":["1","true","1.50"],"type":"string"}`,
		`{"type":"string","default":0,"const":"0"}`:         `{"const":"0","default":"0","type":"string"}`,
		`{"type":"integer","enum":["1","2"],"default":"1"}`: `{"default":1,"enum":[1,2],"type":"integer"}`,
		`{"type":"number","enum":["1.5",2]}`:                `{"enum":[1.5,2],"type":"number"}`,
		`{"type":"integer","enum":[1.0,9007199254740993]}`:  `{"enum":[1.0,9007199254740993],"type":"integer"}`,
		`{"type":"boolean","enum":["yes","no"],"default":"TRUE"}`: `{"default":true,"enum":[true,false],` +
			`"type":"boolean"}`,
		`{"type":"boolean","default":0}`:               `{"default":false,"type":"boolean"}`,
		`{"type":["string","null"],"enum":[1,null]}`:   `{"enum":["1",null],"type":["string","null"]}`,
		`{"type":"string","nullable":true,"enum":[1]}`: `{"enum":["1",null],"type":["string","null"]}`,
		`{"type":["integer","string"],"enum":[1,"a"]}`: `{"enum":[1,"a"],"type":["integer","string"]}`,
		`{"type":"array","items":{"type":"string","enum":[1]},"default":[1,"b"]}`: `{"default":["1","b"],` +
			`"items":{"enum":["1"],"type":"string"},"type":"array"}`,
		`{"properties":{"a":{"type":"string","enum":[true]}},"default":{"a":true}}`: `{"default":{"a":"true"},` +
			`"properties":{"a":{"enum":["true"],"type":"string"}},"type":"object"}`,
		`{"allOf":[{"type":"string"},{"enum":[1]}],"default":1}`: `{"default":"1","enum":["1"],"type":"string"}`,
		`{"anyOf":[{"type":"string"},{"type":"null"}],"default":1}`: `{"anyOf":[{"type":"string"},{"type":"null"}],` +
			`"default":"1"}`,
		`{"anyOf":[{"type":"string"},{"type":"integer"}],"default":1,"enum":[1,"x"]}`: `{"anyOf":[{"type":"string"},` +
			`{"type":"integer"}],"default":1,"enum":[1,"x"]}`,
		`{"type":"object","additionalProperties":{"type":"string",` +
			`"enum":[1]}}`: `{"additionalProperties":{"enum":["1"],"type":"string"},"type":"object"}`,
	} {
		if got, reported := shownOf(t, schema); got != want || len(reported) > 0 {
			t.Errorf("of %s\n is shown %s, %q\n     want %s", schema, got, reported, want)
		}
	}
}

func TestValueThatNoTypeCanHaveIsListedAndLeftOut(t *testing.T) {
	for schema, want := range map[string]string{
		`{"type":"integer","enum":[1,"all"]}`:                              "/enum",
		`{"type":"integer","enum":["1.5"]}`:                                "/enum",
		`{"type":"number","enum":["1e999"]}`:                               "/enum",
		`{"type":"array","items":{"type":"string"},"enum":["a","b"]}`:      "/enum",
		`{"type":"array","items":{"type":"integer"},"default":["a"]}`:      "/default",
		`{"type":"string","default":{}}`:                                   "/default",
		`{"type":"object","const":"a"}`:                                    "/const",
		`{"type":"string","enum":[null]}`:                                  "/enum",
		`{"anyOf":[{"type":"integer"},{"type":"null"}],"default":"never"}`: "/default",
	} {
		got, reported := shownOf(t, schema)
		if strings.Contains(got, want[1:]) || len(reported) == 0 ||
			!strings.HasPrefix(reported[len(reported)-1], want+" ") {
			t.Errorf("of %s is shown %s, reported %q", schema, got, reported)
		}
	}
	if got, reported := shownOf(t, `{"type":"string","enum":["a",null]}`); got != `{"enum":["a"],"type":"string"}` ||
		len(reported) != 1 {
		t.Errorf("null beside a type without it: %s, %q", got, reported)
	}
}

func TestProjectionHidesWhatContradictsAType(t *testing.T) {
	for schema, want := range map[string]string{
		`{"allOf":[{"type":"array","items":{"type":"string"}},{"type":"object",` +
			`"properties":{"a":{}}}]}`: `{"properties":{"a":{}},"type":"object"}`,
		`{"allOf":[{"type":"string","format":"date"}],"type":"object"}`: `{"type":"object"}`,
		`{"type":"object","anyOf":[{"type":"string"},{"type":"object",` +
			`"properties":{"a":{}}}]}`: `{"anyOf":[{"properties":{"a":{}},"type":"object"}],"type":"object"}`,
		`{"type":"number","anyOf":[{"type":"integer","minimum":3},{"enum":[0.5]}]}`: `{"anyOf":[{"minimum":3,` +
			`"type":"integer"},{"enum":[0.5]}],"type":"number"}`,
		`{"type":"string","anyOf":[{"type":["string","integer"],"minimum":3,` +
			`"maxLength":2}]}`: `{"anyOf":[{"maxLength":2,"type":"string"}],"type":"string"}`,
		`{"type":"string","anyOf":[{"type":"integer"}]}`: `{"type":"string"}`,
	} {
		if got, _ := shownOf(t, schema); got != want {
			t.Errorf("of %s is shown %s, want %s", schema, got, want)
		}
	}
}

func TestImportedToolsHaveValuesOfTheirTypes(t *testing.T) {
	got, err := Sanitize(json.RawMessage(`{"type":"object","properties":{"mode":{"type":"string","enum":[0,1]},` +
		`"list":{"type":"array","items":{"type":"string","enum":[true]}}}}`))
	if want := `{"properties":{"list":{"items":{"enum":["true"],"type":"string"},"type":"array"},"mode":{"enum":["0",` +
		`"1"],"type":"string"}},"type":"object"}`; err != nil || string(got) != want {
		t.Errorf("Sanitize() = %s, %v, want %s", got, err, want)
	}
}

func TestFieldOfAnswersIsNoArgumentWhereverItSaysSo(t *testing.T) {
	const defs = `"$defs":{"id":{"type":"string","readOnly":true},"more":{"$ref":"#/$defs/id"},` +
		`"plain":{"type":"string"}}`
	for _, property := range []string{
		`{"readOnly":true}`, `{"$ref":"#/$defs/id"}`, `{"$ref":"#/$defs/more"}`,
		`{"$ref":"#/$defs/plain","readOnly":true}`,
		`{"allOf":[{"$ref":"#/$defs/id"}],"description":"x"}`, `{"allOf":[{"type":"string"},{"readOnly":true}]}`,
		`{"anyOf":[{"$ref":"#/$defs/id"},{"type":"null"}]}`, `{"oneOf":[{"$ref":"#/$defs/id"}]}`,
	} {
		for _, schema := range []string{
			`{"properties":{"id":` + property + `,"name":{}},"required":["id"],` + defs + `}`,
			`{"allOf":[{"properties":{"id":` + property +
				`,"name":{}},"required":["id"]},{"properties":{"id":{"type":"string"}}}],` + defs + `}`,
			`{"allOf":[{"properties":{"id":{"type":"string"}}},{"properties":{"id":` + property +
				`,"name":{}},"required":["id"]}],` + defs + `}`,
		} {
			got, err := Sanitize(json.RawMessage(schema))
			if want := `{"properties":{"name":{}},"type":"object"}`; err != nil || string(got) != want {
				t.Errorf("of %s\nis shown %s, %v, want %s", schema, got, err, want)
			}
		}
		nested := `{"properties":{"a":{"type":"object","properties":{"id":` + property +
			`,"name":{}},"required":["id"]}},` + defs + `}`
		got, err := Sanitize(json.RawMessage(nested))
		if want := `{"properties":{"a":{"properties":{"name":{}},"type":"object"}},"type":"object"}`; err != nil ||
			string(got) != want {
			t.Errorf("of %s\nis shown %s, %v, want %s", nested, got, err, want)
		}
	}
	got, err := Sanitize(json.RawMessage(`{"properties":{"id":{"anyOf":[{"$ref":"#/$defs/id"},` +
		`{"$ref":"#/$defs/plain"}]}},` + defs + `}`))
	if err != nil || !strings.Contains(string(got), `"id"`) {
		t.Errorf("one branch may be sent, and is not shown: %s, %v", got, err)
	}
}
