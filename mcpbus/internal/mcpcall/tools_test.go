package mcpcall

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"
)

// imports makes tools of the entries of a list.
func imports(t testing.TB, member, entries string) Found {
	t.Helper()
	in := newIntake(2000)
	if err := in.add(map[string]raw{"tools": raw("[" + entries + "]")}); err != nil {
		t.Fatalf("add() = %v, want no error", err)
	}
	return in.found(member)
}

// One tool that a client cannot read costs it the whole list, so none may come through,
// and none may cost the others.
func TestToolListSurvivesOneBadTool(t *testing.T) {
	const empty = `{"properties":{},"type":"object"}`
	for _, c := range []struct {
		name, entry string
		skipped     string // the reason
		schema      string
	}{
		{"a property that is true", `{"name":"x","inputSchema":{"type":"object","properties":{"a":true}}}`, "", `{"properties":{"a":{}},"type":"object"}`},
		{"properties that are a list", `{"name":"x","inputSchema":{"type":"object","properties":["a"]}}`, "", empty},
		{"properties that are null", `{"name":"x","inputSchema":{"type":"object","properties":null}}`, "", empty},
		{"an object or null", `{"name":"x","inputSchema":{"type":["object","null"],"properties":{"a":{"type":"string"}}}}`, "", `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"a description that is null", `{"name":"x","description":null,"inputSchema":{"type":"object"}}`, "", empty},
		{"no schema", `{"name":"x"}`, "", empty},
		{"a choice at the top", `{"name":"x","inputSchema":{"oneOf":[{"type":"object","properties":{"a":{"type":"string"}}},{"type":"object"}]}}`, "", `{"properties":{"a":{"type":"string"}},"type":"object"}`},
		{"an odd argument", `{"name":"x","inputSchema":{"type":"object","properties":{"$top":{"type":"integer"},` +
			`"a":{"type":"string"}}}}`, "",
			`{"properties":{"a":{"type":"string"},"top":{"description":"\"$top\" in the API.","type":"integer"}},` +
				`"type":"object"}`},
		{"an odd argument that is required",
			`{"name":"x","inputSchema":{"type":"object","properties":{"$top":{}},"required":["$top"]}}`, "",
			`{"properties":{"top":{"description":"\"$top\" in the API."}},"required":["top"],"type":"object"}`},
		{"a hidden argument that is required",
			`{"name":"x","inputSchema":{"type":"object","properties":{"a\u202e":{}},"required":["a\u202e"]}}`,
			"rename it", ""},
		{"a schema that is a string", `{"name":"x","inputSchema":"object"}`, "describe an object", ""},
		{"a schema that is null", `{"name":"x","inputSchema":null}`, "describe an object", ""},
		{"a schema of a list", `{"name":"x","inputSchema":{"type":"array"}}`, "describe an object", ""},
		{"a schema that is deep", `{"name":"x","inputSchema":{"a":` + strings.Repeat(`[`, 64) + strings.Repeat(`]`, 64) + `}}`, "nested too deep", ""},
		{"no name", `{"inputSchema":{}}`, "it has no name", ""},
		{"an empty name", `{"name":""}`, "it has no name", ""},
		{"a name that is a number", `{"name":7}`, "it has no name", ""},
		{"a name in capitals", `{"NAME":"x"}`, "it has no name", ""},
		{"a name twice", `{"name":"x","name":"y"}`, "twice", ""},
		{"an endless name", `{"name":"` + strings.Repeat("x", 257) + `"}`, "more than 256 bytes", ""},
		{"a name with an end of line", `{"name":"x\ny"}`, "control characters", ""},
		{"a name taken", `{"name":"good","description":"another"}`, "listed twice", ""},
		{"a task", `{"name":"x","execution":{"taskSupport":"required"}}`, "runs as a task", ""},
		{"null", `null`, "no object", ""},
		{"a number", `7`, "no object", ""},
		{"a header twice", `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"R"},"b":{"type":"string","x-mcp-header":"r"}}}}`, "x-mcp-header", ""},
		{"a header of an object", `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"object","x-mcp-header":"R"}}}}`, "x-mcp-header", ""},
		{"a header that ends the line", `{"name":"x","inputSchema":{"type":"object","properties":{"a":{"type":"string","x-mcp-header":"R\r\nX"}}}}`, "x-mcp-header", ""},
	} {
		found := imports(t, "m", `{"name":"good"},`+c.entry+`,{"name":"fine"}`)
		names := func(name string) bool { return found.Names[name] != "" }
		if !names("good") || !names("fine") || len(found.Names) != len(found.Tools) {
			t.Errorf("%s: the others are %v", c.name, found.Names)
		}
		if c.skipped != "" {
			if len(found.Tools) != 2 || len(found.Skipped) != 1 || found.Skipped[0].Pointer != "/tools/1" ||
				!regexp.MustCompile(c.skipped).MatchString(found.Skipped[0].Reason) {
				t.Errorf("%s: skipped %v, want %s", c.name, found.Skipped, c.skipped)
			}
			continue
		}
		if len(found.Tools) != 3 || len(found.Skipped) != 0 || string(found.Tools[1].InputSchema) != c.schema ||
			found.Tools[1].Description == "" {
			t.Errorf("%s: found %+v, skipped %v, want %s", c.name, found.Tools, found.Skipped, c.schema)
		}
	}
}

func TestDescriptionIsNeverEmptyAndFitToRead(t *testing.T) {
	for entry, want := range map[string]string{
		`{"name":"x.y","description":"a\nb\u0007c\u202e","title":"T"}`: "a bc",
		`{"name":"x.y","description":" ","title":"T"}`:                 "T",
		`{"name":"x.y","description":7,"annotations":{"title":"A"}}`:   "A",
		`{"name":"x.y","title":null}`:                                  "x.y",
		`{"name":" \u202e1"}`:                                          "1",
		`{"name":"\u202e"}`:                                            "A tool without a description",
	} {
		if found := imports(t, "", entry); len(found.Tools) != 1 || found.Tools[0].Description != want {
			t.Errorf("%s: %+v, want the description %q", entry, found.Tools, want)
		}
	}
	found := imports(t, "", `{"name":"x","description":"`+strings.Repeat("é", 5000)+`"}`)
	if n := utf8.RuneCountInString(found.Tools[0].Description); n != 1024 {
		t.Errorf("the description has %d characters, want 1024", n)
	}
}

// Decision 39: names are legal, unique, short and stable.
func TestNamesAreLegalUniqueAndStable(t *testing.T) {
	long, member := strings.Repeat("l", 80), strings.Repeat("m", 48)
	upstream := []string{"a", "a.b", "a b", "a_b", "获取", "获取用户", "Users获取", "-", "__", "x/", "tool", long, long + "2",
		long + ".", "a.b_8d4d6e05", "A", "c.d", "c d", "c/d"}
	legal := regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	for _, m := range []string{"", "m", member} {
		var tools []imported
		for _, name := range upstream {
			tools = append(tools, imported{upstream: name})
		}
		names := nameTools(tools, m)
		seen := map[string]bool{}
		for i, name := range names {
			if !legal.MatchString(name) || seen[name] || m != "" && len(m+"__"+name) > 64 || len(name) > 64 {
				t.Errorf("%s: %q is named %q", m, upstream[i], name)
			}
			seen[name] = true
			if plain := legal.MatchString(upstream[i]) && regexp.MustCompile(`[A-Za-z0-9]`).MatchString(upstream[i]); plain && len(m+"__"+upstream[i]) <= 64 && name != upstream[i] {
				t.Errorf("%s: %q is named %q, want it as it is", m, upstream[i], name)
			}
		}
		slices.Reverse(tools)
		again := nameTools(tools, m)
		slices.Reverse(again)
		if !slices.Equal(names, again) {
			t.Errorf("%s: the order of the list changes names: %v, %v", m, names, again)
		}
	}
}

func TestNamesInDetail(t *testing.T) {
	for _, c := range []struct{ member, upstream, name string }{
		{"shop", "pets.list/all items", "pets_list_all_items"},
		{"shop", "list__pets-v2", "list__pets-v2"},
		{"shop", "获取Users列表", "Users"},
		{"shop", "获取", "tool_3025ba82"},
		{"billing-service", "getTheVeryLongOperationNameThatNobodyShouldEverHaveWritten2",
			"getTheVeryLongOperationNameThatNobodyS_1d7aa02a"},
	} {
		names := nameTools([]imported{{upstream: c.upstream}}, c.member)
		if names[0] != c.name {
			t.Errorf("%s in %s is named %q, want %q", c.upstream, c.member, names[0], c.name)
		}
	}
}

func TestNameThatCannotBeToldApartIsSkipped(t *testing.T) {
	first := imports(t, "", `{"name":"a b"},{"name":"a.b"}`)
	taken := ""
	for name, upstream := range first.Names {
		if upstream == "a.b" {
			taken = name
		}
	}
	found := imports(t, "", `{"name":"a b"},{"name":"a.b"},{"name":`+strconv.Quote(taken)+`}`)
	if taken == "a_b" || len(found.Tools) != 2 || len(found.Skipped) != 1 || found.Skipped[0].Pointer != "/tools/1" ||
		!strings.Contains(found.Skipped[0].Reason, "told from") {
		t.Errorf("found %v, skipped %v, want the second of the two skipped", found.Names, found.Skipped)
	}
}
