package openapi

import (
	"fmt"
	"strings"
	"testing"
)

// Decision 38: resolve_refs.
func TestResolveShows(t *testing.T) {
	for _, c := range []struct{ name, components, property, want string }{
		{"a reference to an enum", `"S":{"type":"string","enum":["on","off"]}`, ref("S"), `{"enum":["on","off"],"type":"string"}`},
		{"with a description beside it", `"S":{"type":"string","description":"theirs"}`, `{"$ref":"#/c/S","description":"ours"}`, `{"description":"ours","type":"string"}`},
		{"an object, with what answers own left out", `"P":{"type":"object","required":["n","id"],"properties":{"n":{"type":"string"},"id":{"type":"integer","readOnly":true}}}`, ref("P"),
			`{"properties":{"n":{"type":"string"}},"required":["n"],"type":"object"}`},
		{"a list of references", `"P":{"type":"object","properties":{"n":{"type":"string"}}}`, `{"type":"array","items":` + ref("P") + `}`,
			`{"items":{"properties":{"n":{"type":"string"}},"type":"object"},"type":"array"}`},
		{"allOf", `"P":{"type":"object","required":["n"],"properties":{"n":{"type":"string"}}}`, `{"description":"d","allOf":[` + ref("P") + `,{"required":["m"],"properties":{"m":{"type":"integer"},"n":{"maxLength":3}}}]}`,
			`{"description":"d","properties":{"m":{"type":"integer"},"n":{"maxLength":3}},"required":["m","n"],"type":"object"}`},
		{"a choice", `"A":{"type":"object","properties":{"a":{}}},"B":{"type":"string"}`, `{"oneOf":[` + ref("A") + `,` + ref("B") + `]}`,
			`{"anyOf":[{"properties":{"a":{}},"type":"object"},{"type":"string"}]}`},
		{"a choice with a branch that cannot be shown", `"A":{"type":"string"}`, `{"oneOf":[` + ref("A") + `,` + ref("nowhere") + `]}`, `{}`},
		{"a map", `"A":{"type":"integer"}`, `{"type":"object","additionalProperties":` + ref("A") + `}`, `{"additionalProperties":{"type":"integer"},"type":"object"}`},
		{"a cycle", `"N":{"type":"object","properties":{"next":` + ref("N") + `,"v":{"type":"integer"}}}`, ref("N"),
			`{"properties":{"next":{"description":"nested: N (not expanded)"},"v":{"type":"integer"}},` +
				`"type":"object"}`},
		{"four levels and no more", `"D":{"properties":{"d":` + ref("E") + `}},"E":{"properties":{"e":` + ref("F") + `}},"F":{"properties":{"f":{"properties":{"g":{"type":"object","properties":{"h":{}}}}}}}`, ref("D"),
			`{"properties":{"d":{"properties":{"e":{"properties":{"f":{"properties":{"g":{"type":"object"}},"type":"object"}},"type":"object"}},"type":"object"}},"type":"object"}`},
		{"a reference to nothing", ``, ref("nowhere"), `{"description":"nested: nowhere (not expanded)"}`},
	} {
		document := []byte(`{"openapi":"3.0.3","c":{` + c.components + `},"paths":{"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{"p":` + c.property + `}}}}}}}}}`)
		tool := parsed(t, document, Options{ResolveRefs: true}).Tools[0]
		sound(t, tool)
		if got, want := string(tool.InputSchema), closed+`"properties":{"p":`+c.want+`},"type":"object"}`; got != want {
			t.Errorf("%s: %s\nwant %s", c.name, got, want)
		}
	}
}

func ref(name string) string { return `{"$ref":"#/c/` + name + `"}` }

func TestToolThatWouldBeTooBigIsShownWithoutReferences(t *testing.T) {
	var wide, long strings.Builder
	for i := range 500 {
		fmt.Fprintf(&wide, `"p%d":{},`, i)
	}
	for i := range 80 {
		fmt.Fprintf(&long, `"p%d":{"description":"%s"},`, i, strings.Repeat("x", 1000))
	}
	for name, properties := range map[string]string{"500 schemas": wide.String(), "64 KiB": long.String()} {
		document := `{"openapi":"3.0.3","c":{"W":{"properties":{` + properties + `"z":{}}}},"paths":{
			"/a":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{"w":` + ref("W") + `}}}}}}},
			"/b":{"post":{"requestBody":{"content":{"application/json":{"schema":{"properties":{"o":{"properties":{"x":{"type":"string"}}}}}}}}}}}}`
		r := parsed(t, []byte(document), Options{ResolveRefs: true})
		plain := parsed(t, []byte(document), Options{})
		if string(r.Tools[0].InputSchema) != string(plain.Tools[0].InputSchema) {
			t.Errorf("%s: %.200s, want it as without resolving", name, r.Tools[0].InputSchema)
		}
		if len(r.Skipped) != 1 || r.Skipped[0].Pointer != "/paths/~1a/post" ||
			!strings.Contains(r.Skipped[0].Reason, "without its nested references") {
			t.Errorf("%s: skipped = %v, want it said of the one tool", name, r.Skipped)
		}
		if got, want := string(r.Tools[1].InputSchema), closed+
			`"properties":{"o":{"properties":{"x":{"type":"string"}},"type":"object"}},"type":"object"}`; got != want {
			t.Errorf("%s: the other tool shows %s, want %s", name, got, want)
		}
	}
}

func TestToolThatIsTooBigAnywayIsLeftOut(t *testing.T) {
	var many strings.Builder
	for i := range 512 {
		fmt.Fprintf(&many, `{"name":"p%d","in":"query","schema":{}},`, i)
	}
	parameter := `{"name":"z","in":"query","schema":{"default":"%s"}}`
	for name, parameters := range map[string]string{
		"513 properties": many.String() + fmt.Sprintf(parameter, ""),
		"64 KiB":         fmt.Sprintf(parameter, strings.Repeat("x", 64<<10)),
	} {
		document := `{"openapi":"3.0.3","paths":{"/a":{"get":{"parameters":[` + parameters + `]}},"/b":{"get":{}}}}`
		for _, resolve := range []bool{false, true} {
			r := parsed(t, []byte(document), Options{ResolveRefs: resolve})
			if len(r.Tools) != 1 || r.Tools[0].Name != "get_b" || len(r.Skipped) == 0 ||
				r.Skipped[0].Pointer != "/paths/~1a/get" {
				t.Errorf("%s, resolved %t: %d tools, skipped %v, want /a left out", name, resolve, len(r.Tools), r.Skipped)
			}
		}
	}
	fits := `{"openapi":"3.0.3","paths":{"/a":{"get":{"parameters":[` + strings.TrimSuffix(many.String(), ",") + `]}}}}`
	if r := parsed(t, []byte(fits), Options{}); len(r.Skipped) != 0 {
		t.Errorf("512 properties: skipped = %v, want none", r.Skipped)
	}
}
