package mcpbus_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/mcpbus"
	"github.com/keystile/keystile/storage/toolplan"
)

// Clients put their own in front of a tool's name, and model APIs refuse more than 64 characters.
func TestLongNamesAreShortenedUniquelyAndStably(t *testing.T) {
	long := strings.Repeat("long", 10)
	register := func(h *fixture, names ...string) {
		var tools []toolplan.Tool
		for _, name := range names {
			tool := rest("get", name)
			tools = append(tools, tool)
		}
		h.register(capability("member", "https://m.example.com"), tools...)
	}
	listed := func(max int, names ...string) []string {
		h := emptyFixture(t)
		register(h, names...)
		h.open(func(c *mcpbus.Config) { c.MaxName, c.PageSize = max, 2 })
		found, _ := h.walk()
		for _, name := range append(slices.Clone(found), "member__"+long+"1") {
			if a := h.legacy("tools/call", `{"name":"`+name+`"}`); a.at("result.content") == nil ||
				a.at("result.isError") == true {
				t.Errorf("%s is called: %s", name, a.text)
			}
		}
		return found
	}
	all := []string{long + "1", long + "2", long + "3", "short"}
	found := listed(40, all...)
	again := listed(40, long+"1", long+"0", "other")
	want := regexp.MustCompile(`^member__longlonglonglonglo?n?_[0-9a-v]{13}$`)
	for i, name := range found[:3] {
		if !want.MatchString(name) || len(name) != 40 || slices.Contains(found[:i], name) {
			t.Errorf("%d: listed as %q", i, name)
		}
	}
	if len(found) != 4 || found[3] != "member__short" || !slices.Contains(again, found[0]) {
		t.Errorf("listed are %v, and beside others %v", found, again)
	}
	if found := listed(0, all...); !slices.Equal(found, []string{"member__" + long + "1", "member__" + long + "2",
		"member__" + long + "3", "member__short"}) {
		t.Errorf("by default listed are %v", found)
	}

	h := emptyFixture(t) // whose owner knows what the long one becomes
	own := strings.TrimPrefix(found[0], "member__")
	register(h, long+"1", own)
	h.open(func(c *mcpbus.Config) { c.MaxName = 40 })
	if names, _ := h.walk(); !slices.Equal(names, found[:1]) {
		t.Errorf("two tools are listed as %v", names)
	}
	h = emptyFixture(t)
	register(h, long+"1")
	h.open(func(c *mcpbus.Config) { c.MaxName = 40 })
	h.user("one", "u1", "tools:member/"+long+"1")
	h.user("wrong", "u1", "tools:member/"+own)
	h.wantFound("by its whole name in a scope", "one", found[0])
	if a := h.legacy("tools/list", "", as("wrong")...); len(a.names()) != 0 {
		t.Errorf("a scope of the short name opens %s", a.text)
	}
}

// A tool that is registered under the beginning of a long name must not be called in place of the other.
func TestShortNameIsNeverTheNameOfAnotherCapabilitysTool(t *testing.T) {
	const other = "abcdefghijklmnopqrstuvwxy" // what is left of the long one, but for its last character
	long := other + "_and-the-rest"
	h := emptyFixture(t)
	h.register(capability(long, "https://m.example.com"), rest("get", "getAll"))
	h.open(func(c *mcpbus.Config) { c.MaxName = 40 })
	listed, _ := h.walk()
	if len(listed) != 1 || strings.Contains(listed[0], "__") {
		t.Fatalf("listed are %v, which others could register", listed)
	}
	hash := listed[0][strings.LastIndex(listed[0], "_")+1:]
	h = emptyFixture(t)
	h.register(capability(long, "https://m.example.com"), rest("get", "getAll"))
	h.register(capability(other, "https://evil.example.com"), rest("get", hash))
	h.open(func(c *mcpbus.Config) { c.MaxName = 40 })
	if both, _ := h.walk(); len(both) != 2 || both[0] == both[1] || !slices.Contains(both, listed[0]) {
		t.Errorf("listed are %v", both)
	}
}

func TestSlashAtTheEndOfThePathIsTheSamePath(t *testing.T) {
	h := bundled(t)
	for path, names := range map[string]int{"/api/mcp/": 4, supportPath + "/": 2} {
		plain := h.at(strings.TrimSuffix(path, "/"), "tools", "tools/list", "")
		if a := h.at(path, "tools", "tools/list", ""); a.status != 200 || a.text != plain.text ||
			len(a.names()) != names {
			t.Errorf("%s: %d %s, want %s", path, a.status, a.text, plain.text)
		}
		a, without := h.at(path, "", "tools/list", ""), h.at(strings.TrimSuffix(path, "/"), "", "tools/list", "")
		if a.status != 401 || a.header.Get("WWW-Authenticate") != without.header.Get("WWW-Authenticate") {
			t.Errorf("%s without a token: %d %v, want %v", path, a.status, a.header, without.header)
		}
	}
	for _, path := range []string{"/", "/api/mcp//", "/api/mcp/b/", "/api/mcp/x/", supportPath + "//",
		"/api/mcp/b/support/x/"} {
		if a := h.at(path, "tools", "tools/list", ""); a.status != 404 {
			t.Errorf("%s: %d %s, want 404", path, a.status, a.text)
		}
	}
}
