package mcpcall

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/toolplan"
)

// shownOf returns what is kept of an entry beside its name, description and schema, and what is listed as left out.
func shownOf(t *testing.T, members string) (shown, left string) {
	t.Helper()
	found := imports(t, "m", `{"name":"x","description":"d","inputSchema":{},`+members+`}`)
	if len(found.Tools) != 1 {
		t.Fatalf("%s: found %+v, skipped %v, want a tool", members, found.Tools, found.Skipped)
	}
	tool := found.Tools[0]
	text, err := json.Marshal(toolplan.Tool{Title: tool.Title, Annotations: tool.Annotations,
		OutputSchema: tool.OutputSchema, Icons: tool.Icons, ReadOnly: tool.ReadOnly})
	if err != nil {
		t.Fatal(err)
	}
	var pointers []string
	for _, s := range found.Skipped {
		if s.Reason == "" {
			t.Errorf("%s: %s is left out without a reason", members, s.Pointer)
		}
		pointers = append(pointers, strings.TrimPrefix(s.Pointer, "/tools/0"))
	}
	return strings.TrimPrefix(string(text), `{"name":"","description":"","inputSchema":null`),
		strings.Join(pointers, " ")
}

func TestUpstreamToolFieldsAreKeptOrListed(t *testing.T) {
	const picture = `"data:image/png;base64,iVBORw0KGgo="`
	for _, c := range []struct{ members, shown, left string }{
		{`"title":"Reads"`, `,"title":"Reads"}`, ""},
		{`"title":7,"annotations":{"title":[]}`, `}`, "/title /annotations/title"},
		{`"annotations":{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false,` +
			`"title":"T"}`,
			`,"read_only":true,"annotations":{"title":"T","readOnlyHint":true,"destructiveHint":false,` +
				`"idempotentHint":true,"openWorldHint":false}}`, ""},
		{`"annotations":{"readOnlyHint":false}`, `,"annotations":{"readOnlyHint":false}}`, ""},
		{`"annotations":{"openWorldHint":"false","destructiveHint":null,"costHint":1}`, `}`,
			"/annotations/costHint /annotations/openWorldHint"},
		{`"annotations":{}`, `}`, ""}, {`"annotations":null,"icons":null,"title":null,"_meta":null`, `}`, ""},
		{`"annotations":7,"icons":7,"execution":7,"_meta":7`, `}`, "/annotations /icons /_meta"},
		{`"annotations":{"readOnlyHint":true,"readOnlyHint":false}`, `}`, "/annotations"},
		{`"_meta":{"ui/resourceUri":"ui://x"},"a/b~c":1`, `}`, "/_meta /a~1b~0c"},
		{`"outputSchema":{"type":"object","properties":{"a[]":{"type":"string"}},"required":["a[]"]}`,
			`,"outputSchema":{"properties":{"a[]":{"type":"string"}},"required":["a[]"],"type":"object"}}`, ""},
		{`"outputSchema":[7]`, `}`, "/outputSchema"}, {`"outputSchema":{"type":"array"}`, `}`, "/outputSchema"},
		{`"execution":{"taskSupport":"forbidden"}`, `}`, ""},
		{`"execution":{"taskSupport":"optional"}`, `}`, "/execution/taskSupport"},
		{`"icons":[{"src":` + picture + `,"mimeType":"image/png","sizes":["48x48","any","x"],"theme":"dark"},{"src":` +
			picture + `,"theme":"red"}]`,
			`,"icons":[{"src":` + picture + `,"mimeType":"image/png","sizes":["48x48","any"],"theme":"dark"},{"src":` +
				picture + `}]}`, ""},
		{`"icons":[{"src":"https://a.example/i.png"},{"src":"javascript:1"},` +
			`{"src":"data:image/svg+xml;base64,AAAA"},7,{"src":` + picture + `}]`,
			`,"icons":[{"src":` + picture + `}]}`, "/icons/0 /icons/1 /icons/2 /icons/3"},
		{`"icons":[{"src":` + picture + `},{"src":"data:image/png;base64,` + strings.Repeat("A", 8<<10) + `"}]`,
			`,"icons":[{"src":` + picture + `}]}`, "/icons/1"},
	} {
		if shown, left := shownOf(t, c.members); shown != c.shown || left != c.left {
			t.Errorf("%.200s:\n keeps %s\n  want %s\n left out %s\n    want %s", c.members, shown, c.shown, left,
				c.left)
		}
	}
}

func TestInputSchemaListsWhatIsLeftOut(t *testing.T) {
	found := imports(t, "m", `{"name":"good"},{"name":"x","inputSchema":{"type":"object",`+
		`"properties":{"a":{"type":3},"b":{"$ref":"#/$defs/B"},"c\u202e":{}}}}`)
	if len(found.Tools) != 2 || string(found.Tools[1].InputSchema) != `{"properties":{"a":{},`+
		`"b":{"description":"nested: B (not expanded)"}},"type":"object"}` {
		t.Errorf("found %+v", found.Tools)
	}
	var left []string
	for _, s := range found.Skipped {
		left = append(left, s.Pointer)
	}
	if got := strings.Join(left, " "); got != "/tools/1/inputSchema/properties/a/type "+
		"/tools/1/inputSchema/properties/b /tools/1/inputSchema/properties/c" {
		t.Errorf("left out %s", got)
	}
}

// A list of what is left out stays one that can be stored and read.
func TestListOfWhatIsLeftOutIsBounded(t *testing.T) {
	entry := `,"_meta":{},"x1":1,"x2":1,"x3":1}`
	var entries []string
	for i := range 500 {
		entries = append(entries, `{"name":"t`+strings.Repeat("x", i%50)+strings.Repeat("y", i/50)+`"`+entry)
	}
	if found := imports(t, "m", strings.Join(entries, ",")); len(found.Tools) != 500 || len(found.Skipped) != maxParts {
		t.Errorf("%d tools, %d parts left out, want 500 and %d", len(found.Tools), len(found.Skipped), maxParts)
	}
}
