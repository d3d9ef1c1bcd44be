package toolschema

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"
)

func TestNamesThatModelsCannotWriteAreMappedAtEveryLevel(t *testing.T) {
	long := strings.Repeat("x", 70)
	for _, c := range []struct {
		name, schema, want string
		known              map[string]string
		arguments, sent    string
	}{
		{"optional and required", `{"type":"object","properties":{"uids[]":{"type":"array","items":{"type":"string"},` +
			`"description":"The users"},"$top":{"type":"integer"},"plain":{}},"required":["uids[]","plain"],` +
			`"additionalProperties":false}`,
			`{"additionalProperties":false,"properties":{"plain":{},"top":{"description":"\"$top\" in the API.",` +
				`"type":"integer"},"uids":{"description":"\"uids[]\" in the API. The users",` +
				`"items":{"type":"string"},"type":"array"}},"required":["plain","uids"],"type":"object"}`,
			map[string]string{"uids": "uids[]", "top": "$top"},
			`{"uids":["a","b"], "top" : 9007199254740993,"plain":{"top":1}}`,
			`{"uids[]":["a","b"],"$top":9007199254740993,"plain":{"top":1}}`},
		{"the upstream's own name is taken too", `{"properties":{"$top":{}}}`,
			`{"properties":{"top":{"description":"\"$top\" in the API."}},"type":"object"}`,
			map[string]string{"top": "$top"}, `{"$top":1}`, `{"$top":1}`},
		{"names that are there already",
			`{"properties":{"a[]":{},"a":{},"a$":{},"o":{"type":"object","properties":{"a_2":{}}}}}`,
			`{"properties":{"a":{},"a_3":{"description":"\"a$\" in the API."},` +
				`"a_4":{"description":"\"a[]\" in the API."},"o":{"properties":{"a_2":{}},"type":"object"}},` +
				`"type":"object"}`,
			map[string]string{"a_3": "a$", "a_4": "a[]"}, `{"a":1,"a_3":2,"a_4":3,"o":{"a":4}}`,
			`{"a":1,"a$":2,"a[]":3,"o":{"a":4}}`},
		{"within objects, lists, choices and maps",
			`{"properties":{"l":{"type":"array","items":{"type":"object","properties":{"x y":{}},` +
				`"required":["x y"]}},"c":{"anyOf":[{"type":"object","properties":{"@id":{"type":"string"}}},` +
				`{"type":"string"}]},"m":{"type":"object","additionalProperties":{"type":"object",` +
				`"properties":{"x y":{"type":"object"}}}}}}`,
			`{"properties":{"c":{"anyOf":[{"properties":{"id":{"description":"\"@id\" in the API.","type":"string"}},` +
				`"type":"object"},{"type":"string"}]},"l":{"items":{"properties":{"x_y":{"description":"\"x y\" in ` +
				`the API."}},"required":["x_y"],"type":"object"},"type":"array"},` +
				`"m":{"additionalProperties":{"properties":{"x_y":{"description":"\"x y\" in the API.",` +
				`"type":"object"}},"type":"object"},"type":"object"}},"type":"object"}`,
			map[string]string{"id": "@id", "x_y": "x y"},
			`{"l":[{"x_y":1},{"x_y":[{"x_y":2}]},7],"c":{"id":"i"},"m":{"id":{"x_y":{"id":1}}},"more":{"id":2}}`,
			`{"l":[{"x y":1},{"x y":[{"x_y":2}]},7],"c":{"@id":"i"},"m":{"id":{"x y":{"id":1}}},"more":{"id":2}}`},
		{"what refers to itself", `{"properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object",` +
			`"properties":{"@v":{"type":"string"},"next":{"$ref":"#/$defs/N"}}}}}`,
			`{"$defs":{"N":{"properties":{"next":{"$ref":"#/$defs/N"},"v":{"description":"\"@v\" in the API.",` +
				`"type":"string"}},"type":"object"}},"properties":{"n":{"$ref":"#/$defs/N"}},"type":"object"}`,
			map[string]string{"v": "@v"}, `{"n":{"v":"1","next":{"next":{"v":"3"}}}}`,
			`{"n":{"@v":"1","next":{"next":{"@v":"3"}}}}`},
		{"names without a letter, and of no end", `{"properties":{"":{"type":"string"},"获取":{},"` + long + `":{}}}`,
			`{"properties":{"arg":{"type":"string"},"arg_2":{"description":"\"获取\" in the API."},"` + long[:64] +
				`":{"description":"\"` + long[:64] + `…\" in the API."}},"type":"object"}`,
			map[string]string{"arg": "", "arg_2": "获取", long[:64]: long}, `{"arg":"é\u00e9","arg_2":[],"` + long[:64] +
				`":null}`, `{"":"é\u00e9","获取":[],"` + long + `":null}`},
		{"nothing to map", `{"properties":{"a.b-c_D9":{}}}`, `{"properties":{"a.b-c_D9":{}},"type":"object"}`, nil,
			` {"a.b-c_D9": 1} `, ` {"a.b-c_D9": 1} `},
	} {
		got, err := Import(json.RawMessage(c.schema))
		if err != nil || string(got.Schema) != c.want || !maps.Equal(got.Known, c.known) || len(got.Left) > 0 {
			t.Errorf("%s: Import() = %s, %v, left %v, %v\nwant %s, %v", c.name, got.Schema, got.Known, got.Left, err,
				c.want, c.known)
		}
		sent, err := Restore(got.Schema, got.Known, json.RawMessage(c.arguments))
		if err != nil || string(sent) != c.sent {
			t.Errorf("%s: Restore(%s) = %s, %v\nwant %s", c.name, c.arguments, sent, err, c.sent)
		}
		if again, err := Sanitize(got.Schema); err != nil || string(again) != string(got.Schema) {
			t.Errorf("%s: Sanitize(%s) = %s, %v, want the same", c.name, got.Schema, again, err)
		}
	}
}

func TestArgumentUnderBothOfItsNamesIsRefused(t *testing.T) {
	in, err := Import(json.RawMessage(`{"properties":{"o":{"type":"object","properties":{"$top":{}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	if sent, err := Restore(in.Schema, in.Known, json.RawMessage(`{"o":{"top":1,"$top":2}}`)); err == nil ||
		!strings.Contains(err.Error(), `"$top" is there twice`) {
		t.Errorf("Restore() = %s, %v, want an error about $top", sent, err)
	}
}

func TestForeignSchemaListsWhatIsLeftOut(t *testing.T) {
	wide := `{"properties":{"a":{"properties":{` + repeated(2001, `"p%d":{}`) + `}}}}`
	for schema, want := range map[string]string{
		`{"properties":{"a":{"type":"string","pattern":"["},"b":false,"c":{"type":3},"d":{"type":"object",` +
			`"properties":{"e/f":{"pattern":"["}}}}}`: "/properties/a/pattern /properties/b /properties/c/type " +
			"/properties/d/properties/e~1f/pattern",
		`{"properties":{"a":{"$ref":"#/$defs/A"},"b":{"$ref":"#/$defs/A"}}}`: "/properties/a /properties/b",
		"{\"properties\":{\"a\u202e\":{},\"o\":{\"type\":\"object\",\"properties\":{\"b\u202e\":{}}}}}": "/properties/" +
			"o/properties/b\u202e /properties/a\u202e",
		`{"properties":{"a":{"type":"array","prefixItems":[{"type":"object"}]},"o":{"type":"object",` +
			`"patternProperties":{"^x":{}},"if":{},"then":{}}}}`: "/properties/a/prefixItems /properties/o/if " +
			"/properties/o/patternProperties",
		wide: "",
		`{"properties":{` + repeated(300, `"p%d":false`) + `}}`: "*100",
	} {
		got, err := Import(json.RawMessage(schema))
		if err != nil {
			t.Fatal(err)
		}
		var pointers []string
		for _, l := range got.Left {
			pointers = append(pointers, l.Pointer)
		}
		switch {
		case want == "*100" && len(pointers) == 100:
		case schema == wide && len(got.Left) == 1 && strings.Contains(got.Left[0].Reason, "without theirs"):
		case strings.Join(pointers, " ") != want || len(pointers) == 0:
			t.Errorf("of %.100s is left out %q, want %q", schema, pointers, want)
		}
	}
	got, err := Import(json.RawMessage("{\"properties\":{\"a\u202e\":{}},\"required\":[\"a\u202e\"]}"))
	if err == nil || !strings.Contains(err.Error(), "rename it") {
		t.Errorf("Import() = %+v, %v, want that the argument is to be renamed", got, err)
	}
}

// A call that gives every argument under its new name is sent with every name that the schema declares.
func FuzzRestore(f *testing.F) {
	f.Add("uids[]", "$top", "x y")
	f.Add("a", "a_2", "a[]")
	f.Add("", "arg", "\x00")
	f.Add("o", "properties", "$ref")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) }
		a, b, c = strings.ToValidUTF8(a, ""), strings.ToValidUTF8(b, ""), strings.ToValidUTF8(c, "")
		leaf := `{"type":"object","properties":{` + quoted(b) + `:{"type":"string"},` + quoted(c) +
			`:{"type":"array","items":{"type":"object","properties":{` + quoted(a) + `:{"type":"integer"}}}}}}`
		in, err := Import(json.RawMessage(`{"type":"object","properties":{` + quoted(a) + `:` + leaf + `,` + quoted(b) +
			`:` + leaf + `}}`))
		if err != nil {
			return
		}
		made := func(name string) string {
			for as, known := range in.Known {
				if known == name {
					return as
				}
			}
			return name
		}
		if a == b || b == c || len(in.Left) > 0 {
			return
		}
		with := func(n func(string) string) string {
			return `{` + quoted(n(a)) + `:{` + quoted(n(b)) + `:"1",` + quoted(n(c)) + `:[{` + quoted(n(a)) + `:2}]}}`
		}
		var got, want any
		sent, err := Restore(in.Schema, in.Known, json.RawMessage(with(made)))
		if err != nil || json.Unmarshal(sent, &got) != nil ||
			json.Unmarshal([]byte(with(func(s string) string { return s })), &want) != nil {
			t.Fatalf("Restore(%s, %v, %s) = %s, %v", in.Schema, in.Known, with(made), sent, err)
		}
		if g, w := quotedAny(got), quotedAny(want); g != w {
			t.Fatalf("Restore(%s, %v, %s) = %s, want %s", in.Schema, in.Known, with(made), g, w)
		}
		for as := range in.Known {
			if !Legal(as) {
				t.Fatalf("a name that was made is %q", as)
			}
		}
	})
}

func quotedAny(v any) string { text, _ := json.Marshal(v); return string(text) }
