package toolschema

import (
	"encoding/json"
	"strings"
	"testing"
)

// A client refuses an answer that does not match the schema that it was shown.
func TestSchemaOfAnAnswerAdmitsAllThatItsUpstreamAdmits(t *testing.T) {
	for _, c := range []struct{ schema, want string }{
		{`{"type":"object"}`, `{"properties":{},"type":"object"}`},
		{`{"$schema":"http://json-schema.org/draft-07/schema#","type":"object","properties":{"t":{"type":"number",` +
			`"description":"d"}},"required":["t"],"additionalProperties":false}`,
			`{"additionalProperties":false,"properties":{"t":{"description":"d","type":"number"}},"required":["t"],` +
				`"type":"object"}`},
		{`{"type":"object","properties":{"id":{"type":"string","readOnly":true},"o":{"type":"object",` +
			`"properties":{"at":{"type":"string","readOnly":true}},"additionalProperties":false}},` +
			`"additionalProperties":false,"required":["id"]}`,
			`{"additionalProperties":false,"properties":{"id":{"type":"string"},"o":{"additionalProperties":false,` +
				`"properties":{"at":{"type":"string"}},"type":"object"}},"required":["id"],"type":"object"}`},
		{`{"type":"object","properties":{"readOnly":{"type":"boolean"},"$top":{"type":"integer"},` +
			`"a[]":{"type":"array","items":{"type":"string"}}},"additionalProperties":false,"required":["$top"]}`,
			`{"additionalProperties":false,"properties":{"$top":{"type":"integer"},"a[]":{"items":{"type":"string"},` +
				`"type":"array"},"readOnly":{"type":"boolean"}},"required":["$top"],"type":"object"}`},
		{`{"type":"object","properties":{"a":{"properties":{"b":{}},"required":["b"]},` +
			`"c":{"items":{"type":"string"}},"d":{"type":["object","null"],"properties":{"e":{}}}}}`,
			`{"properties":{"a":{},"c":{},"d":{"properties":{"e":{}},"type":["object","null"]}},"type":"object"}`},
		{`{"type":"object","properties":{"n":{"$ref":"#/$defs/N"}},"$defs":{"N":{"type":"object",` +
			`"properties":{"next":{"$ref":"#/$defs/N"},"v":{"type":"string","readOnly":true}}}}}`,
			`{"$defs":{"N":{"properties":{"next":{"$ref":"#/$defs/N"},"v":{"type":"string"}},"type":"object"}},` +
				`"properties":{"n":{"$ref":"#/$defs/N"}},"type":"object"}`},
		{`{"type":"object","properties":{"a":{"type":3},"b":{"$ref":"#/nowhere"},"c":true,"d":{"type":"string",` +
			`"pattern":"["}}}`,
			`{"properties":{"a":{},"b":{"description":"nested: nowhere (not expanded)"},"c":{},` +
				`"d":{"type":"string"}},"type":"object"}`},
	} {
		got, err := SanitizeAnswer(json.RawMessage(c.schema), 1<<10)
		if err != nil || string(got) != c.want {
			t.Errorf("SanitizeAnswer(%s)\n = %s, %v\nwant %s", c.schema, got, err, c.want)
		}
	}
	for schema, why := range map[string]string{
		`7`: `type "object"`, `{`: "not JSON", `{"type":["object","null"]}`: `type "object"`,
		`{"type":"array","items":{}}`: `type "object"`, `{"oneOf":[{"type":"object"}]}`: `type "object"`,
		`{"type":"object","properties":{"a":{"description":"` + strings.Repeat("x", 1000) +
			`"}}}`: "more than 1000 bytes",
	} {
		if got, err := SanitizeAnswer(json.RawMessage(schema), 1000); err == nil ||
			!strings.Contains(err.Error(), why) {
			t.Errorf("SanitizeAnswer(%.60s) = %s, %v, want an error about %s", schema, got, err, why)
		}
	}
}
