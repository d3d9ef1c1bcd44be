package protocol

import (
	"strings"
	"testing"
)

// A test prevents only what it can find.
func TestBadCitationsAreFound(t *testing.T) {
	h := documents(t)
	for _, c := range []struct{ file, text, want string }{
		{"a.go", "// This is protocol 4.99.", "a.go:1: protocol.md has no section 4.99"},
		{"a.go", "package a\n\n// as protocol 4.7, 5, 12 has it", "a.go:3: protocol.md has no section 12"},
		{"a.go", "// from protocol 4.1-4.15", "a.go:1: protocol.md has no section 4.15"},
		{"a.go", "// Protocol 4.8, rule 7 says", "a.go:1: protocol 4.8 has no rule 7"},
		{"a.go", "// (protocol 4.9, rule 1)", "a.go:1: protocol 4.9 has no rule 1"},
		{"keys.go", `	{name: "x", protocol: "3.4", help: ""},`, "keys.go:1: protocol.md has no section 3.4"},
		{"a.go", "x := 1 // Decision 999: so", "a.go:1: decisions.md has no entry 999"},
		{"a.go", "// decisions 54 and 0x1F are one, decisions 54 and 856", "a.go:1: decisions.md has no entry 856"},
		{"a.go", "// whether decision 54 and 56 hold", "a.go:1: write decision 54, and decisions 54 and 56"},
		{"a.go", "// see decisions 54.", "a.go:1: write decision 54, and decisions 54 and 56"},
		{"a.go", "// it is broken between lines (decision\n// 412)", "decisions.md has no entry 412"},
		{"a.md", "Broken, as in protocol\n4.32, it is found.", "protocol.md has no section 4.32"},
		{"a.sh", "# protocol 2.0 of ours", "a.sh:1: protocol.md has no section 2.0"},
	} {
		found, _ := h.check(c.file, c.text)
		if !mentioned(found, c.want) {
			t.Errorf("%q: %v, want %s", c.text, found, c.want)
		}
	}
}

func TestOldCitationsAreFound(t *testing.T) {
	for _, text := range []string{
		"// token is POST /oauth/token (spec 4.2).", "// Spec 8: a rate.", "x // spec 7, 8", "// (spec\n// 4.10)",
		"// the specification 4.8", "// Section 4.7 of the specification", "// the specification, section 4.7, has it",
		"// cookieName is the specification's (4.8), which", "// Zero values are the specification's (8).",
		"// the specification says (4.9)",
		"// 4.10's table", "// those of section 8", "// see sections 4.7 and 5",
		"// Entry 6 of the decisions.", "// (entries 53 and 54)", "rows: entry-36", "// (entry\n// 56 of the decisions)",
		"// DECISIONS 12", "// see DECISIONS.md", "// DESIGN 3", "// DESIGN.md", "// notes/storage.md",
		"// spec/specification.md",
	} {
		if found := outdated("a.go", text); len(found) == 0 {
			t.Errorf("%q is not found", text)
		}
	}
	if found := outdated("a.go", "package a\n\n// a\n// (spec 4.2)\n"); len(found) != 1 || found[0].line != 4 {
		t.Errorf("found %v, want one in line 4", found)
	}
}

func TestCitationCheckLeavesOtherTextsAlone(t *testing.T) {
	h := documents(t)
	for _, text := range []string{
		"// token is POST /oauth/token (protocol 4.2).", "// Protocol 4.7, 5, 8.", "// Protocol 4.1-4.6",
		"// (protocol 5, RFC 6750 3.1)",
		"// (protocol 4.8, rule 2)", "// (protocol 4.8, rule 4, is about nested)", "// protocol 3.1, errcode 40163",
		"// (decision 54)", "// Decisions 21, 29 and 52: nothing",
		"// (protocol 4.9, decision 42)", "// RFC 6749, section 4.1", "// (RFC 6454, section 6.2)",
		"// section 5.2 of RFC 6749", "// RFC 9110 15.5.6",
		"// OpenID Connect Core 1.0, section 3", "// OpenAPI 3.1's rules", "// the OpenAPI specification 3.1",
		"// the MCP spec 2025-11-25", "// MCP protocol 2025-06-18", "// MCP specification 2025-06-18",
		"// WebSocket protocol 8080", "// every entry 0x1F id", "// one decision", "// 3 entries",
		"for _, spec := range specs[1:] {", "// JSON Schema 2020-12 4.2.3",
	} {
		if found, _ := h.check("a.go", text); len(found) > 0 {
			t.Errorf("%q: %v", text, found)
		}
		if found := outdated("a.go", text); len(found) > 0 {
			t.Errorf("%q is said to be old: %v", text, found)
		}
	}
	if _, cited := h.check("a.go", "// protocol 4.7, 5\n//\n// and decisions 54 and 56; protocol: \"8\""); cited != 5 {
		t.Errorf("%d citations, want 5", cited)
	}
}

func TestBadRowsAreFound(t *testing.T) {
	h := documents(t)
	for _, row := range []string{"4.8/rule-7", "4.99/x", "46/shapes", "decision-999", "decision-999/x", "en" + "try-36",
		"x", "4.8"} {
		if h.row(row) == "" {
			t.Errorf("row %s passes", row)
		}
	}
	for _, row := range []string{"4.8/rule-6", "4.10/login", "8/per-ip", "decision-36", "decision-46/shapes"} {
		if why := h.row(row); why != "" {
			t.Errorf("row %s: %s", row, why)
		}
	}
}

func mentioned(found []finding, want string) bool {
	for _, f := range found {
		if strings.HasSuffix(f.String(), want) {
			return true
		}
	}
	return false
}
