package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// listed is what go list says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Module          *struct{ Main bool }
}

// typed are packages whose types are known, by their paths.
type typed map[string]*types.Package

func (t typed) Import(path string) (*types.Package, error) {
	if p := t[path]; p != nil {
		return p, nil
	}
	return nil, fmt.Errorf("%s was not listed", path)
}

// renamed imports for a package that calls others by another path than the go command does.
type renamed struct {
	typed
	names map[string]string
}

func (r renamed) Import(path string) (*types.Package, error) {
	if to := r.names[path]; to != "" {
		path = to
	}
	return r.typed.Import(path)
}

// typeErrors checks the types of packages and of all that they import as a system has them: what a
// compiler for it would say, in a thirtieth of the time. It returns how many packages of the project there are.
func typeErrors(t *testing.T, target string, packages ...string) (int, error) {
	t.Helper()
	system, arch, _ := strings.Cut(target, "/")
	env := append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOFLAGS=")
	out, err := run(t.Context(), root, env, "go",
		append([]string{"list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Module"}, packages...)...)
	if err != nil {
		return 0, err
	}
	known, own := typed{"unsafe": types.Unsafe}, 0
	var errs []error
	for d := json.NewDecoder(strings.NewReader(out)); d.More(); { // each is behind those that it imports
		var p listed
		if err := d.Decode(&p); err != nil {
			return own, err
		}
		if p.ImportPath == "unsafe" {
			continue
		}
		mine := p.Module != nil && p.Module.Main
		if mine {
			own++
		}
		conf := types.Config{IgnoreFuncBodies: !mine, Importer: renamed{known, p.ImportMap},
			Sizes: types.SizesFor("gc", arch), Error: func(err error) {
				if mine {
					errs = append(errs, err)
				}
			}}
		files, fset := []*ast.File{}, token.NewFileSet()
		for _, name := range p.GoFiles {
			f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
			if err != nil {
				return own, err
			}
			files = append(files, f)
		}
		known[p.ImportPath], _ = conf.Check(p.ImportPath, fset, files, nil) // Error has heard of it
	}
	return own, errors.Join(errs...)
}

// ofTests matches what is only for tests, some of which know the system they run on.
const ofTests = "/internal/test/"

func TestSystemHasWhatTheProjectCalls(t *testing.T) {
	out, err := run(t.Context(), root, nil, "go", "list", "./...")
	if err != nil {
		t.Fatal(err)
	}
	packages := slices.DeleteFunc(strings.Fields(out), func(path string) bool { return strings.Contains(path, ofTests) })
	for _, target := range []string{
		"darwin/arm64", "linux/arm64",
		"windows/amd64", // no program is made for it, but libraries are imported anywhere
		"linux/arm",     // where int is small
	} {
		t.Run(target, func(t *testing.T) {
			own, err := typeErrors(t, target, packages...)
			if err != nil || own < 100 {
				t.Errorf("of %d packages: %v", own, err)
			}
		})
	}
}
