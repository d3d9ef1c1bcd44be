package toolschema

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
)

func TestSanitizeForeignSchema(t *testing.T) {
	for _, c := range []struct{ name, schema, want string }{
		{"nothing", ``, `{"properties":{},"type":"object"}`},
		{"an empty object", `{}`, `{"properties":{},"type":"object"}`},
		{"the root is exactly an object", `{"type":["object","null"],"title":"T","x-a":1,"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"]}`,
			`{"additionalProperties":false,"properties":{"a":{"type":"string"}},"required":["a"],"type":"object"}`},
		{"the dialect that is shown", `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{}}`, `{"$schema":"https://json-schema.org/draft/2020-12/schema","properties":{},"type":"object"}`},
		{"another dialect", `{"$schema":"http://json-schema.org/draft-07/schema#","properties":{}}`, `{"properties":{},"type":"object"}`},
		{"what others are like", `{"properties":{"a":{"additionalProperties":false,"properties":{"b":{}}}},"additionalProperties":{"type":"integer"}}`,
			`{"additionalProperties":{"type":"integer"},"properties":{"a":{"additionalProperties":false,"properties":{"b":{}},"type":"object"}},"type":"object"}`},
		{"no word about others where not all are shown", `{"properties":{"a b":{},"c":{"additionalProperties":false,"properties":{"d":false}}},"additionalProperties":false}`, `{"properties":{"c":{"type":"object"}},"type":"object"}`},
		{"what refers to itself", `{"properties":{"n":{"$ref":"#/$defs/Node"},"m":{"$ref":"#/$defs/x~1Node"},"o":{"$ref":"#/$defs/Once"},"r":{"$ref":"#","description":"all"}},"$defs":{"Once":{"type":"string"},"Node":{"type":"object","properties":{"v":{"$ref":"#/$defs/Once"},"next":{"$ref":"#/$defs/Node"},"kids":{"type":"array","items":{"$ref":"#/$defs/Node"}}},"required":["v"],"additionalProperties":false},"x/Node":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x~1Node"}]}}}`,
			`{"$defs":{"Node":{"additionalProperties":false,"properties":{"kids":{"items":{"$ref":"#/$defs/Node"},"type":"array"},"next":{"$ref":"#/$defs/Node"},"v":{"type":"string"}},"required":["v"],"type":"object"},` +
				`"root":{"properties":{"m":{"$ref":"#/$defs/x1Node"},"n":{"$ref":"#/$defs/Node"},"o":{"type":"string"},"r":{"$ref":"#/$defs/root","description":"all"}},"type":"object"},"x1Node":{"anyOf":[{"type":"null"},{"$ref":"#/$defs/x1Node"}]}},` +
				`"properties":{"m":{"$ref":"#/$defs/x1Node"},"n":{"$ref":"#/$defs/Node"},"o":{"type":"string"},"r":{"$ref":"#/$defs/root","description":"all"}},"type":"object"}`},
		{"properties that are a list", `{"type":"object","properties":[]}`, `{"properties":{},"type":"object"}`},
		{"required of what is not there", `{"properties":{"a":{}},"required":["b","a","a",7]}`, `{"properties":{"a":{}},"required":["a"],"type":"object"}`},
		{"boolean schemas", `{"properties":{"a":true,"b":false,"c":{"type":"array","items":true},"d":{"type":"object","additionalProperties":true},"e":{"type":"object","additionalProperties":{}}},"required":["b"]}`,
			`{"properties":{"a":{},"c":{"items":{},"type":"array"},"d":{"type":"object"},"e":{"type":"object"}},"type":"object"}`},
		{"references within it", `{"properties":{"a":{"$ref":"#/$defs/A"}},"$defs":{"A":{"type":"object","properties":{"b":{"$ref":"#/$defs/B"}},"required":["b"]},"B":{"enum":["x"]}}}`,
			`{"properties":{"a":{"properties":{"b":{"enum":["x"]}},"required":["b"],"type":"object"}},"type":"object"}`},
		{"a root that is a reference", `{"$ref":"#/$defs/A","$defs":{"A":{"type":"object","properties":{"b":{}}}}}`, `{"properties":{"b":{}},"type":"object"}`},
		{"references to anything else", `{"properties":{"a":{"$ref":"https://example.test/a"},"b":{"$ref":"#nowhere"},"c":{"$ref":"#/properties/c"},"d":{"$dynamicRef":"#x"}}}`,
			`{"properties":{"a":{"description":"nested: a (not expanded)"},` +
				`"b":{"description":"nested: nowhere (not expanded)"},"c":{"description":"nested: c (not expanded)"},` +
				`"d":{}},"type":"object"}`},
		{"a choice at the root", `{"type":"object","anyOf":[{"properties":{"a":{"type":"string"}},"required":["a","k"]},{"properties":{"b":{},"k":{"type":"integer"}},"required":["k"]}]}`,
			`{"properties":{"a":{"type":"string"},"b":{},"k":{"type":"integer"}},"required":["k"],"type":"object"}`},
		{"a property that the branches see differently", `{"oneOf":[{"properties":{"k":{"const":"a"}}},{"properties":{"k":{"const":"b"}}},{"properties":{"k":{"const":"a"}}}]}`,
			`{"properties":{"k":{"anyOf":[{"const":"a"},{"const":"b"}]}},"type":"object"}`},
		{"one that a branch leaves open", `{"oneOf":[{"properties":{"k":{"const":"a","description":"d"}}},{"properties":{"k":{}}}]}`, `{"properties":{"k":{"description":"d"}},"type":"object"}`},
		{"its own word counts more than allOf's", `{"allOf":[{"properties":{"a":{"type":"string"},"b":{"type":"string"}}},{"properties":{"b":{"type":"boolean"}}}],"properties":{"a":{"type":"integer"}}}`,
			`{"properties":{"a":{"type":"integer"},"b":{"type":"boolean"}},"type":"object"}`},
		{"a property called $ref is a property", `{"properties":{"$ref":{"type":"string"},"a":{"properties":{"$ref":{"type":"string"}}}}}`,
			`{"properties":{"a":{"properties":{"$ref":{"type":"string"}},"type":"object"}},"type":"object"}`},
		{"names that models cannot use, optional", `{"properties":{"a[b]":{},"a.b-c_D9":{},"` + strings.Repeat("x", 65) + `":{},"":{}}}`, `{"properties":{"a.b-c_D9":{}},"type":"object"}`},
		{"extensions and words of other drafts", `{"properties":{"a":{"type":"string","x-mcp-header":"H","$id":"i","$anchor":"a","if":{},"not":{},"prefixItems":[],"example":1,"examples":[1]}}}`, `{"properties":{"a":{"type":"string"}},"type":"object"}`},
	} {
		got, err := Sanitize(json.RawMessage(c.schema))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: Sanitize() = %s, %v\nwant %s", c.name, got, err, c.want)
		}
		if again, err := Sanitize(got); err != nil || string(again) != string(got) {
			t.Errorf("%s: Sanitize(%s) = %s, %v, want the same", c.name, got, again, err)
		}
	}
}

func TestKeywords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`"type":"integer","minimum":9007199254740993,"maximum":1e30,"multipleOf":2,"default":-9007199254740993`,
			`"default":-9007199254740993,"maximum":1e30,"minimum":9007199254740993,"multipleOf":2,"type":"integer"`},
		{`"minimum":"1","maximum":null,"multipleOf":0,"minLength":-1,"maxLength":1.5,"minItems":"1","maxItems":1e1,"uniqueItems":1,"deprecated":"yes"`, ``},
		{`"minLength":0,"maxLength":9,"minItems":1,"maxItems":2,"minProperties":0,"maxProperties":3,"uniqueItems":false,"deprecated":true`, `"deprecated":true,"maxItems":2,"maxLength":9,"maxProperties":3,"minItems":1,"minLength":0,"minProperties":0,"uniqueItems":false`},
		{`"minimum":1e999,"default":[{"a":1e999}],"enum":[1,-1e400],"const":1E+309`, ``},
		{`"enum":[]`, ``}, {`"enum":"a"`, ``}, {`"enum":["a",["b"],{"c":null}]`, `"enum":["a",["b"],{"c":null}]`},
		{`"minimum":0,"exclusiveMinimum":true,"maximum":9,"exclusiveMaximum":false`, `"exclusiveMinimum":0,"maximum":9`},
		{`"exclusiveMinimum":0,"exclusiveMaximum":5`, `"exclusiveMaximum":5,"exclusiveMinimum":0`},
		{`"maximum":9,"exclusiveMaximum":true`, `"exclusiveMaximum":9`}, {`"exclusiveMaximum":true`, ``}, {`"exclusiveMaximum":"x"`, ``},
		{`"type":"string","nullable":true,"enum":["a"]`, `"enum":["a",null],"type":["string","null"]`},
		{`"type":"string","x-nullable":true,"enum":["a",null]`, `"enum":["a",null],"type":["string","null"]`},
		{`"type":["string","null"],"nullable":true`, `"type":["string","null"]`},
		{`"nullable":true`, ``}, {`"nullable":true,"const":1`, ``}, {`"nullable":"true","type":"string"`, `"type":"string"`},
		{`"nullable":true,"anyOf":[{"type":"string"}]`, `"anyOf":[{"type":"string"},{"type":"null"}]`},
		{`"type":"file"`, `"format":"binary","type":"string"`}, {`"type":"file","format":"x"`, `"format":"binary","type":"string"`},
		{`"type":"any"`, ``}, {`"type":3`, ``}, {`"type":[]`, ``}, {`"type":["string","string"]`, ``}, {`"type":["string","any"]`, ``}, {`"type":["string"]`, `"type":"string"`},
		{`"type":"array"`, `"items":{},"type":"array"`}, {`"items":{"type":"string"}`, `"items":{"type":"string"},"type":"array"`}, {`"type":"array","items":[{"type":"string"}]`, `"items":{},"type":"array"`},
		{`"title":"a\nb","description":"  ","format":"date"`, `"format":"date","title":"a b"`}, {`"title":1,"description":[],"format":{}`, ``},
		{`"pattern":"^[a-z]{2,5}(?:x|y)\\d+$"`, `"pattern":"^[a-z]{2,5}(?:x|y)\\d+$"`},
		{`"pattern":"["`, ``}, {`"pattern":"(?=a)b"`, ``}, {`"pattern":"(?i)b"`, ``}, {`"pattern":"(?:a)(?P<n>b)"`, ``}, {`"pattern":"\\Aa\\z"`, ``}, {`"pattern":"[[:alpha:]]"`, ``}, {`"pattern":"` + strings.Repeat("a", 1025) + `"`, ``},
		{`"type":["boolean","null"],"uniqueItems":true,"minLength":1,"maximum":2,"exclusiveMinimum":0,"format":"x","minItems":1,"maxProperties":2,"pattern":"a"`, `"type":["boolean","null"]`},
		{`"type":["string","array"],"uniqueItems":true,"minLength":1,"maximum":2`, `"items":{},"minLength":1,"type":["string","array"],"uniqueItems":true`},
		{`"oneOf":[{"type":"string"},{"type":"string"},{"type":"integer"}]`, `"anyOf":[{"type":"string"},{"type":"integer"}]`},
		{`"anyOf":[{"type":"string"},{}]`, ``}, {`"anyOf":[{"type":"string"},true]`, ``}, {`"anyOf":[{"type":"string"},7]`, ``}, {`"anyOf":[]`, ``}, {`"anyOf":7`, ``},
		{`"allOf":[{"type":"string","maxLength":3},{"maxLength":2}],"minLength":1`, `"maxLength":2,"minLength":1,"type":"string"`},
	} {
		got, err := Sanitize(json.RawMessage(`{"properties":{"p":{` + c.in + `}}}`))
		if want := `{"properties":{"p":{` + c.want + `}},"type":"object"}`; err != nil || string(got) != want {
			t.Errorf("{%.80s}: %s, %v\nwant %s", c.in, got, err, want)
		}
	}
}

func TestSchemasThatNoToolCanHave(t *testing.T) {
	for _, c := range []struct{ schema, why string }{
		{`null`, "must describe an object"}, {`[]`, "must describe an object"}, {`true`, "must describe an object"}, {`"x"`, "must describe an object"},
		{`{"type":"string"}`, "must describe an object"}, {`{"type":"array","items":{}}`, "must describe an object"}, {`{"oneOf":[{"type":"object"},{"type":"string"}]}`, "must describe an object"},
		{`{`, "not JSON"}, {strings.Repeat(`{"properties":`, 65) + strings.Repeat(`}`, 65), "nested too deep"}, {`{"a":"` + strings.Repeat("x", 1<<20) + `"}`, "more than 1048576 bytes"},
		{`{"properties":{"a b":{}},"required":["a b"]}`, "rename it"},
		{`{"properties":{"a":{"default":"` + strings.Repeat("x", 64<<10) + `"}}}`, "more than 65536 bytes"},
		{`{"properties":{` + repeated(513, `"p%d":{}`) + `}}`, "more than 512 properties"},
		{`{"properties":{"a":{"enum":[` + repeated(20_001, `%d`) + `]}}}`, "more than 20000 steps"},
	} {
		if got, err := Sanitize(json.RawMessage(c.schema)); err == nil || !strings.Contains(err.Error(), c.why) {
			t.Errorf("Sanitize(%.60s) = %.60s, %v, want an error about %s", c.schema, got, err, c.why)
		}
	}
}

func TestSanitizeShowsTooDeepOrTooWideWithoutStructure(t *testing.T) {
	nested := `{}`
	for range 12 {
		nested = `{"properties":{"a":` + nested + `}}`
	}
	got, err := Sanitize(json.RawMessage(nested))
	if levels := strings.Count(string(got), `"properties"`); err != nil || levels != 9 {
		t.Errorf("Sanitize(12 levels) = %s, %v, want the root and 8 levels", got, err)
	}
	wide := `{"properties":{"a":{"properties":{` + repeated(2001, `"p%d":{}`) + `}},"b":{"type":"string"}}}`
	got, err = Sanitize(json.RawMessage(wide))
	if want := `{"properties":{"a":{"type":"object"},"b":{"type":"string"}},"type":"object"}`; err != nil || string(got) != want {
		t.Errorf("Sanitize(2,001 schemas) = %.100s, %v, want %s", got, err, want)
	}
}

func TestSanitizingTwiceChangesNothing(t *testing.T) {
	once, err := Sanitize(json.RawMessage(`{"properties":{"a":{"oneOf":[{"type":"string","nullable":true},{"items":{"properties":{"x":{"const":1}},"required":["x"]}}]},"b":{"allOf":[{"type":"file"}],"description":"d"}},"required":["a"]}`))
	if err != nil {
		t.Fatal(err)
	}
	if again, err := Sanitize(once); err != nil || string(again) != string(once) {
		t.Errorf("Sanitize(%s) = %s, %v, want the same", once, again, err)
	}
}

func repeated(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = fmt.Sprintf(format, i)
	}
	return strings.Join(parts, ",")
}

func FuzzSanitize(f *testing.F) {
	for _, seed := range []string{`{}`, `{"type":"object","properties":{"a":{"type":["string","null"],"enum":["x",null]}},"required":["a"]}`, `{"$ref":"#"}`,
		`{"anyOf":[{"properties":{"a":{"$ref":"#/anyOf/0"}}},{"allOf":[{"$ref":"#"}]}]}`, `{"properties":{"a":{"oneOf":[{"items":{"pattern":"a"}}]}}}`,
		`{"properties":{"a":{"title":"\u200b\ud83d\udc68\u200d\ud83d\udc69","default":{"\u202e":["\udb40\udc69"]},"properties":{"x\u3164":{"enum":["\u001b"]}},"additionalProperties":{"type":"string"}}}}`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, schema []byte) {
		once, err := Sanitize(schema)
		if err != nil {
			return
		}
		var root struct {
			Type       string
			Properties map[string]map[string]any
			Required   []string
		}
		if err := json.Unmarshal(once, &root); err != nil || root.Type != "object" || root.Properties == nil {
			t.Fatalf("Sanitize(%q) = %s, %v, want an object of schemas", schema, once, err)
		}
		var all any
		json.Unmarshal(once, &all)
		hiddentext.Each(all, func(text string) {
			if !Visible(text) {
				t.Errorf("Sanitize(%q) = %s, want no hidden text: %q", schema, once, text)
			}
		})
		for _, name := range root.Required {
			if root.Properties[name] == nil {
				t.Errorf("Sanitize(%q): %q is required and no property", schema, name)
			}
		}
		if again, err := Sanitize(schema); err != nil || string(again) != string(once) {
			t.Errorf("Sanitize(%q) = %s, another time %s, %v", schema, once, again, err)
		}
	})
}
