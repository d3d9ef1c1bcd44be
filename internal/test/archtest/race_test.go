package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// raceFile lists the packages that .ci/run tests under the race detector; it tests the others without.
const raceFile = ".ci/race.txt"

// A race needs two goroutines and what they share: a package that has neither a goroutine nor a channel nor a lock, in
// its tests neither, is tested under the detector by those that use it. With KEYSTILE_WRITE_RACE=1 the list is written
// anew.
func TestRaceDetectorWatchesEveryPackageThatIsConcurrent(t *testing.T) {
	var want []string
	for pkg, names := range goFiles(t) {
		if within(pkg, campaigns) {
			continue
		}
		for _, name := range names {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			if concurrent(f) {
				want = append(want, "./"+pkg)
				break
			}
		}
	}
	slices.Sort(want)
	text := strings.Join(want, "\n") + "\n"
	if os.Getenv("KEYSTILE_WRITE_RACE") != "" {
		if err := os.WriteFile(filepath.Join(root, raceFile), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(filepath.Join(root, raceFile))
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == text {
		return
	}
	listed := strings.Fields(string(got))
	for _, pkg := range want {
		if !slices.Contains(listed, pkg) {
			t.Errorf("%s is concurrent, and not listed in %s: KEYSTILE_WRITE_RACE=1 writes it anew", pkg, raceFile)
		}
	}
	for _, pkg := range listed {
		if !slices.Contains(want, pkg) {
			t.Errorf("%s is listed in %s, and not concurrent, or not there: KEYSTILE_WRITE_RACE=1 writes it anew", pkg, raceFile)
		}
	}
}

// concurrent reports whether a file starts goroutines, has channels or guards what is shared.
func concurrent(f *ast.File) (found bool) {
	for _, spec := range f.Imports {
		if path := strings.Trim(spec.Path.Value, `"`); path == "sync" || path == "sync/atomic" {
			return true
		}
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n.(type) {
		case *ast.GoStmt, *ast.ChanType, *ast.SelectStmt, *ast.SendStmt:
			found = true
		}
		return !found
	})
	return found
}

func TestConcurrentFileIsSeen(t *testing.T) {
	for text, want := range map[string]bool{
		`import "sync"`:                       true,
		`import "sync/atomic"`:                true,
		`import "strings"`:                    false,
		`func f() { go f() }`:                 true,
		`type t struct { c <-chan struct{} }`: true,
		`func f() { select {} }`:              true,
		`func f(s []int) { s[0]++ }`:          false,
	} {
		f, err := parser.ParseFile(token.NewFileSet(), "x.go", "package x\n"+text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		if got := concurrent(f); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}
