package main

import (
	"errors"
	"fmt"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/packages"
)

// api is what a module exports.
type api struct {
	module string
	public []string                  // the import paths of the packages that hosts can import, in order
	all    map[string]*types.Package // these and all they depend on
}

// load reads the API of a module from its sources, with some of them replaced.
func load(root string, overlay map[string][]byte, patterns ...string) (*api, error) {
	loaded, err := packages.Load(&packages.Config{
		Dir: root, Overlay: overlay,
		Mode: packages.NeedName | packages.NeedTypes | packages.NeedImports | packages.NeedDeps | packages.NeedModule,
	}, patterns...)
	if err != nil {
		return nil, err
	}
	a := &api{all: map[string]*types.Package{}}
	packages.Visit(loaded, nil, func(p *packages.Package) {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
		a.all[p.PkgPath] = p.Types
	})
	if err != nil {
		return nil, err
	}
	for _, p := range loaded {
		if p.Module == nil || p.Name == "main" {
			continue
		}
		a.module = p.Module.Path
		parts := strings.Split(strings.TrimPrefix(p.PkgPath, a.module), "/")
		if !slices.Contains(parts, "internal") && !slices.Contains(parts, "examples") {
			a.public = append(a.public, p.PkgPath)
		}
	}
	if len(a.public) == 0 {
		return nil, fmt.Errorf("no package in %s can be imported", root)
	}
	slices.Sort(a.public)
	return a, nil
}

// own reports whether a package is of the module.
func (a *api) own(p *types.Package) bool {
	return p != nil && (p.Path() == a.module || strings.HasPrefix(p.Path(), a.module+"/"))
}

// short is the path of a package in the module.
func (a *api) short(path string) string {
	if path == a.module {
		return path[strings.LastIndexByte(path, '/')+1:]
	}
	return strings.TrimPrefix(path, a.module+"/")
}
