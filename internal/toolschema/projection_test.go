package toolschema

import (
	"fmt"
	"testing"

	"github.com/keystile/keystile/internal/toolschema/tree"
)

func TestSchemasThatAreCombinedAreBounded(t *testing.T) {
	members := func(n int) string { return `{"allOf":[` + repeated(n, `{"properties":{"p%d":{}}}`) + `]}` }
	deep := `{"properties":{"end":{}}}`
	for range maxLevels + 1 {
		deep = `{"allOf":[` + deep + `]}`
	}
	for name, c := range map[string]struct {
		schema           string
		fields, messages int
	}{
		"255 members":                    {members(255), 255, 0},
		"300 members":                    {members(300), 255, 1},
		"too many levels":                {deep, 0, 1},
		"as many levels as there may be": {deep[len(`{"allOf":[`) : len(deep)-2], 1, 0},
	} {
		d, message := document(t, c.schema), 0
		fields, ok := d.Projection(Limits{Properties: 512}, func(Node, string) { message++ }).Fields(d.Root())
		if len(fields) != c.fields || !ok || message != c.messages {
			t.Errorf("%s: %d fields, %t, %d reports, want %d and %d", name, len(fields), ok, message, c.fields, c.messages)
		}
	}
}

func TestPatternIsReadOnce(t *testing.T) {
	d := document(t, `{"properties":{`+repeated(20, `"p%d":{"pattern":"^a"}`)+`}}`)
	first := d.Projection(Limits{Properties: 512}, func(Node, string) {})
	first.Fields(d.Root())
	second := d.Projection(Limits{Properties: 512}, func(Node, string) {})
	second.Fields(d.Root())
	if cost := first.Steps() - second.Steps(); cost != patternSteps || second.Steps() < 20 {
		t.Errorf("reading a pattern took %d steps of %d, want %d, once", cost, first.Steps(), patternSteps)
	}
}

func TestProjectionReportsWhereSomethingIsLeftOut(t *testing.T) {
	d := document(t, `{"properties":{"a":7,"b":false,"c":{"type":"x","pattern":"[","items":{"enum":[]}},"d/e":{"minimum":"1","x-a":1,"description":""},"f":{"exclusiveMinimum":false}}}`)
	var got []string
	d.Projection(Limits{Properties: 512},
		func(n Node, reason string) { got = append(got, n.Pointer()+": "+reason) }).Fields(d.Root())
	want := []string{
		"/properties/a: not a schema", "/properties/b: a schema that accepts nothing",
		"/properties/c/type: not a type of JSON Schema", "/properties/c/pattern: no pattern that every client understands",
		"/properties/c/items/enum: no enum that every client understands",
		"/properties/d~1e/minimum: no minimum that every client understands",
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("reported are %q\nwant %q", got, want)
	}
}

func document(t *testing.T, text string) *Document {
	t.Helper()
	root, err := tree.Parse(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return NewDocument(root, 16)
}
