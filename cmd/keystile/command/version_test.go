package command

import (
	"runtime"
	"runtime/debug"
	"slices"
	"strings"
	"testing"
)

func TestVersionSaysWhatTheProgramIsMadeOf(t *testing.T) {
	info := &debug.BuildInfo{Deps: []*debug.Module{
		{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"},
		{Path: "example.com/b", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/fork", Version: "v1.0.1",
			Sum: "h1:b"}},
	}}
	b := describe(info)
	if want := []module{{"example.com/a", "v1.0.0", "h1:a"},
		{"example.com/fork", "v1.0.1", "h1:b"}}; !slices.Equal(b.Modules, want) {
		t.Errorf("modules %v, want %v", b.Modules, want)
	}
	var text strings.Builder
	if err := b.print(&text); err != nil || !strings.HasSuffix(text.String(),
		"\n  example.com/a v1.0.0\n  example.com/fork v1.0.1\n") {
		t.Errorf("%s, %v", &text, err)
	}
	if said := must(t, "version"); said["go"] != runtime.Version() || said["version"] != versionOf() ||
		said["features"] == nil {
		t.Errorf("--json: %v", said)
	}
}

func TestVersionNamesTheCommit(t *testing.T) {
	info := &debug.BuildInfo{Settings: []debug.BuildSetting{
		{Key: "vcs.revision", Value: "0123456789abcdef0123456789abcdef01234567"},
		{Key: "vcs.time", Value: "2026-11-25T12:00:00Z"}, {Key: "vcs.modified", Value: "true"},
	}}
	b := describe(info)
	var text strings.Builder
	if err := b.print(&text); err != nil || !strings.Contains(text.String(), ", commit 0123456789ab with changes, go") ||
		b.Time != "2026-11-25T12:00:00Z" {
		t.Errorf("%s, %+v", &text, b)
	}
}
