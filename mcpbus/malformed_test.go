package mcpbus_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

func TestMalformedToolLeavesTheOthersUsable(t *testing.T) {
	schema := func(text string) toolplan.Tool {
		bad := rest("get", "bad")
		bad.InputSchema = json.RawMessage(text)
		return bad
	}
	named := func(name string) toolplan.Tool {
		bad := rest("get", "x")
		bad.Name = name
		return bad
	}
	undescribed := rest("get", "bad")
	undescribed.Description = ""
	for name, bad := range map[string]toolplan.Tool{
		"no schema":                schema("null"),
		"a schema that is true":    schema("true"),
		"a list of types":          schema(`{"type":["object","null"]}`),
		"no type":                  schema(`{"properties":{}}`),
		"Type":                     schema(`{"Type":"object"}`),
		"another type":             schema(`{"type":"array"}`),
		"properties as a list":     schema(`{"type":"object","properties":[]}`),
		"properties null":          schema(`{"type":"object","properties":null}`),
		"a property that is true":  schema(`{"type":"object","properties":{"a":true}}`),
		"a property that is null":  schema(`{"type":"object","properties":{"a":null}}`),
		"required as a text":       schema(`{"type":"object","required":"a"}`),
		"required numbers":         schema(`{"type":"object","required":[1]}`),
		"a number beyond float64":  schema(`{"type":"object","properties":{"a":{"maximum":1e999}}}`),
		"a schema of 128 KiB":      schema(`{"type":"object","description":"` + strings.Repeat("x", 128<<10) + `"}`),
		"no name":                  named(""),
		"a name with a dot":        named("a.b"),
		"a name that is too long":  named(strings.Repeat("x", 62)),
		"a name that breaks JSON":  named(`"`),
		"a name in another script": named("名"),
		"no description":           undescribed,
		"a name twice":             rest("get", "good"),
	} {
		h := emptyFixture(t)
		h.register(capability("m", "https://m.example.com"), rest("get", "good"), bad, rest("get", "also"))
		h.open()
		if names, _ := h.walk(); !slices.Equal(names, []string{"m__also", "m__good"}) {
			t.Errorf("%s: the list is %v, want also and good", name, names)
		}
	}
}
