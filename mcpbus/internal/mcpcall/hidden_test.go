package mcpcall

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/internal/test/hiddentext"
)

const listed = `{"tools":[{"name":"search","title":"Search","description":"Finds","annotations":{"title":"Finder","readOnlyHint":true},"outputSchema":{"type":"object","description":"Out"},
	"inputSchema":{"type":"object","title":"In","description":"Input","$defs":{"D":{"type":"string","enum":["five"]}},"required":["q"],"properties":{
		"q":{"type":"string","title":"Query","description":"What","default":"one","pattern":"^a","format":"word","enum":["two"],"const":"three","examples":["four"]},
		"o":{"type":"object","description":"Options","properties":{"d":{"$ref":"#/$defs/D"}},"required":["d"],"default":{"d":"five"}}}},
	"icons":[{"src":"https://a.example/i"},{"src":"data:image/png;base64,iVBO","mimeType":"image/png","sizes":["48x48"],
	"theme":"dark"}],"_meta":{"a.example/b":"c"}},{"name":"untold","inputSchema":{"type":"object"}}],
	"nextCursor":"more"}`

func TestToolListTextsOfAnUpstreamAreNeverHidden(t *testing.T) {
	text := strings.Join(slices.Sorted(maps.Values(hiddentext.Hidden)), "")
	for where, page := range hiddentext.Everywhere([]byte(listed), text) {
		in := newIntake(100)
		if err := in.add(object(page)); err != nil {
			continue // the words of MCP itself
		}
		found := in.found("m")
		check := func(text string) {
			if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' }) {
				t.Errorf("%s: %q leaves", where, text)
			}
		}
		for _, tool := range found.Tools {
			var schema any
			if err := json.Unmarshal(tool.InputSchema, &schema); err != nil {
				t.Fatal(err)
			}
			hiddentext.Each(schema, check)
			check(tool.Name)
			check(tool.Description)
			shown, err := json.Marshal(tool)
			if err != nil {
				t.Fatal(err)
			}
			var all any
			json.Unmarshal(shown, &all)
			hiddentext.Each(all, check)
		}
		for _, s := range found.Skipped {
			check(s.Pointer)
			check(s.Reason)
		}
		if strings.HasSuffix(where, "/name") && len(found.Tools) == 2 {
			t.Errorf("%s: a name with control characters is taken", where)
		}
	}
}

func TestToolAnswersAreLeftAlone(t *testing.T) {
	text, _ := json.Marshal(hiddentext.Hidden["tags"] + hiddentext.Hidden["bidi"])
	block := `{"type":"text","text":` + string(text) + `}`
	r := readResult(object(raw(`{"content":[` + block + `]}`)))
	if len(r.Content) != 1 || string(r.Content[0]) != block {
		t.Errorf("the content is %s, want %s", r.Content, block)
	}
}
