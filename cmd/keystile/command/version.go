package command

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/storage"
)

// version names the release, and is set by its build (.ci/release). Other builds have the version
// that the go command gave the module.
var version string

// build holds what the program says of itself.
type build struct {
	Version  string            `json:"version"`
	Commit   string            `json:"commit,omitempty"` // "": it was not built in a checkout, or not told
	Time     string            `json:"commit_time,omitempty"`
	Modified bool              `json:"modified,omitempty"` // the checkout had changes that are in no commit
	Go       string            `json:"go"`
	Platform string            `json:"platform"`
	Features []storage.Feature `json:"features,omitempty"` // that a store may have
	Modules  []module          `json:"modules,omitempty"`
}

type module struct {
	Path    string `json:"path"`
	Version string `json:"version"`
	Sum     string `json:"sum,omitempty"`
}

func showVersion(_ context.Context, call cli.Call) error {
	info, _ := debug.ReadBuildInfo()
	b := describe(info)
	if !call.On(withModules.Name) {
		b.Modules = nil
	}
	if call.On(asJSON.Name) {
		b.Features = storage.KnownFeatures()
		return json.NewEncoder(call.Stdout).Encode(b)
	}
	return b.print(call.Stdout)
}

// describe reads what the go command left in the program; nil: nothing is known.
func describe(info *debug.BuildInfo) build {
	b := build{Version: versionOf(), Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if info == nil {
		return b
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = s.Value
		case "vcs.time":
			b.Time = s.Value
		case "vcs.modified":
			b.Modified = s.Value == "true"
		}
	}
	for _, m := range info.Deps {
		if m.Replace != nil {
			m = m.Replace
		}
		b.Modules = append(b.Modules, module{m.Path, m.Version, m.Sum})
	}
	return b
}

func (b build) print(w io.Writer) error {
	parts := []string{"keystile " + b.Version}
	if b.Commit != "" {
		commit := "commit " + b.Commit[:min(12, len(b.Commit))]
		if b.Modified {
			commit += " with changes"
		}
		parts = append(parts, commit)
	}
	var text strings.Builder
	fmt.Fprintln(&text, strings.Join(append(parts, b.Go, b.Platform), ", "))
	for _, m := range b.Modules {
		fmt.Fprintf(&text, "  %s %s\n", m.Path, m.Version)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

func versionOf() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok {
		return cmp.Or(info.Main.Version, "(devel)")
	}
	return "unknown"
}
