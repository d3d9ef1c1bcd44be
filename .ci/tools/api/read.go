package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// readDown reads what writeDown wrote. Dependencies are taken from the API of today: a host gets them as
// well.
func readDown(folder string, now *api) (*api, error) {
	r := &reading{api: &api{module: now.module, all: map[string]*types.Package{}}, now: now, files: map[string]*ast.File{},
		set: token.NewFileSet()}
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		return r.parse(path)
	})
	if err != nil {
		return nil, err
	}
	for path := range r.files {
		if _, err := r.Import(path); err != nil {
			return nil, err
		}
		if !slices.Contains(strings.Split(path, "/"), "internal") {
			r.api.public = append(r.api.public, path)
		}
	}
	slices.Sort(r.api.public)
	return r.api, nil
}

type reading struct {
	api   *api
	now   *api
	files map[string]*ast.File // by the path of their package
	set   *token.FileSet
}

// parse reads a file, whose first line says which package it is.
func (r *reading) parse(path string) error {
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	file, err := parser.ParseFile(r.set, path, text, parser.SkipObjectResolution)
	if err != nil {
		return err
	}
	line, _, _ := strings.Cut(string(text), "\n")
	_, quoted, _ := strings.Cut(line, " // import ")
	of, err := strconv.Unquote(quoted)
	if err != nil {
		return fmt.Errorf("%s does not begin with the package and its import path", path)
	}
	r.files[of] = file
	return nil
}

// Import is of types.Importer.
func (r *reading) Import(path string) (*types.Package, error) {
	if p := r.api.all[path]; p != nil {
		return p, nil
	}
	file := r.files[path]
	if file == nil {
		p := r.now.all[path]
		if path == "unsafe" {
			p = types.Unsafe
		}
		if p == nil {
			return nil, fmt.Errorf("it is made of %s, which the module no longer depends on", path)
		}
		return p, nil
	}
	check := types.Config{Importer: r, IgnoreFuncBodies: true}
	p, err := check.Check(path, r.set, []*ast.File{file}, nil)
	r.api.all[path] = p
	return p, err
}
