package token

import (
	"strings"
	"testing"
)

func TestEntryThatEndsInASlashStandsForTheNamesBelowIt(t *testing.T) {
	list := []string{"https://id.example/api/mcp", "https://id.example/api/mcp/b/"}
	for audience, want := range map[string]bool{
		"https://id.example/api/mcp": true, "https://id.example/api/mcp/b/x": true,
		"https://id.example/api/mcp/b/A-z_9":                      true,
		"https://id.example/api/mcp/b/" + strings.Repeat("x", 48): true,
		"": false, "https://id.example": false, "https://id.example/api/mcp/": false, "https://id.example/api/mcp/b": false,
		"https://id.example/api/mcp/b/":    false,
		"https://id.example/api/mcp/b/x/y": false, "https://id.example/api/mcp/b/..": false,
		"https://id.example/api/mcp/b/x?y": false,
		"https://id.example/api/mcp/b/x y": false, "https://id.example/api/mcp/b/%78": false,
		"https://id.example/api/mcp/b/x\"": false,
		"https://evil.example/api/mcp/b/x": false, "https://id.example/api/mcp/b/" + strings.Repeat("x", 49): false,
	} {
		if got := IsOneOf(audience, list); got != want {
			t.Errorf("%q: %t", audience, got)
		}
	}
	if IsOneOf("", nil) || IsOneOf("x", nil) {
		t.Error("something is on an empty list")
	}
}
