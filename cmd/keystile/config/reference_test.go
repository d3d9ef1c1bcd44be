package config

import (
	"strings"
	"testing"
)

func TestTheReferenceHasALineForEachKey(t *testing.T) {
	var out strings.Builder
	if err := Reference(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 2+len(keys) {
		t.Fatalf("%d lines for %d keys", len(lines), len(keys))
	}
	for i, k := range keys {
		line := lines[2+i]
		if k.kind == "" || !strings.HasPrefix(line, "| `"+k.name+"` | "+k.kind+" |") || !strings.Contains(line, k.help) || !strings.Contains(line, k.fallback) {
			t.Errorf("%s: %s", k.name, line)
		}
		if n := strings.Count(line, "|"); n != 6 {
			t.Errorf("%s has %d bars, want 6", k.name, n)
		}
	}
	if want := "| `lifetimes.code` | duration | `5m` | 8 | how long an authorization code is valid |"; !strings.Contains(out.String(), want) {
		t.Errorf("no line %q in\n%s", want, out.String())
	}
}
