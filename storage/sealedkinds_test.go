package storage_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"testing"
)

// A kind with sealed fields that Reseal does not know of would be lost with the old key, and
// so would a document without an index entry, which no List returns.
func TestEveryKindWithSealedFieldsIsResealed(t *testing.T) {
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var sealed, known, listed []string
	look := func(n ast.Node) bool {
		spec, is := n.(*ast.ValueSpec)
		if !is || len(spec.Values) != 1 {
			return true
		}
		list, is := spec.Values[0].(*ast.CompositeLit)
		if !is {
			return true
		}
		for _, e := range list.Elts {
			if at, is := e.(*ast.SelectorExpr); is && spec.Names[0].Name == "sealedKinds" {
				known = append(known, at.X.(*ast.Ident).Name)
			}
			if pair, is := e.(*ast.KeyValueExpr); is && fmt.Sprint(pair.Key) == "secrets" {
				sealed = append(sealed, spec.Names[0].Name)
			}
			if pair, is := e.(*ast.KeyValueExpr); is && fmt.Sprint(pair.Key) == "index" {
				listed = append(listed, spec.Names[0].Name)
			}
		}
		return true
	}
	for _, name := range names {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, look)
	}
	slices.Sort(sealed)
	slices.Sort(known)
	if len(sealed) < 4 || !slices.Equal(sealed, known) {
		t.Errorf("kinds with secrets: %q, resealed: %q; name the missing one in sealedKinds", sealed, known)
	}
	for _, kind := range sealed {
		if !slices.Contains(listed, kind) {
			t.Errorf("%s has secrets and no index entries: Reseal cannot find them; give each document one", kind)
		}
	}
}
