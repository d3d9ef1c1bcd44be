package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// powers are the files that may ask what a value can do beside what its type says, and why.
var powers = map[string]string{
	"storage/driver/as.go":                     "optional interfaces of storage/driver",
	"storage/transfer/copy.go":                 "an adapter that can be copied from",
	"cmd/keystile/command/storage.go":          "optional interfaces of storage/driver, as operators see them",
	"internal/record/forward/forward.go":       "records of the package itself",
	"gateway/answer.go":                        "the layers of a ResponseWriter",
	"internal/reply/write.go":                  "a value that writes its own JSON, as of encoding/json",
	"internal/reqctx/reqctx.go":                "what the gateway has put into its own context",
	"internal/router/router.go":                "handlers of rooms beside plain ones",
	"internal/connections/conn.go":             "connections of net",
	"internal/connections/listener.go":         "connections of net",
	"internal/connections/limits.go":           "connections of net",
	"internal/plainhttp/conn.go":               "connections of net",
	"gateway/internal/streams/stream.go":       "connections of net",
	"gateway/internal/tunnel/tunnel.go":        "connections of net",
	"gateway/internal/ledger/mapping_linux.go": "panics of the runtime",
}

// sources calls each with every Go file of the product, or of its tests too.
func sources(t *testing.T, tests bool, each func(path string, file *ast.File)) {
	t.Helper()
	set := token.NewFileSet()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		name = filepath.ToSlash(name)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || name == ".git" || name == ".ci" || name == "internal/test" ||
			name == "storage/storagetest" || name == "examples"):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, ".go") || !tests && strings.HasSuffix(name, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(set, path, nil, 0)
		if err == nil {
			each(name, file)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A power that is found at run time is switched off by a misspelt method, and go doc does not show it. So it is a
// field of a Config.
func TestPowersAreNotFoundByTypeAssertions(t *testing.T) {
	interfaces := map[string]bool{} // by package and name
	sources(t, false, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok {
				continue
			}
			for _, s := range g.Specs {
				if named, ok := s.(*ast.TypeSpec); ok {
					if _, is := named.Type.(*ast.InterfaceType); is {
						interfaces[filepath.ToSlash(filepath.Dir(path))+"."+named.Name.Name] = true
					}
				}
			}
		}
	})
	used := map[string]bool{}
	sources(t, false, func(path string, file *ast.File) {
		imports := map[string]string{}
		for _, i := range file.Imports {
			full, _ := strconv.Unquote(i.Path.Value)
			name := full[strings.LastIndex(full, "/")+1:]
			if i.Name != nil {
				name = i.Name.Name
			}
			imports[name] = strings.TrimPrefix(full, module+"/")
		}
		check := func(asked ast.Expr) {
			is := false
			switch x := asked.(type) {
			case *ast.InterfaceType:
				is = len(x.Methods.List) > 0
			case *ast.Ident:
				is = interfaces[filepath.ToSlash(filepath.Dir(path))+"."+x.Name]
			case *ast.SelectorExpr:
				if pkg, ok := x.X.(*ast.Ident); ok {
					is = interfaces[imports[pkg.Name]+"."+x.Sel.Name]
				}
			}
			if is && powers[path] == "" {
				t.Errorf("%s asks at run time whether a value is more than its type says: make it a field, or a method of the type",
					path)
			}
			used[path] = used[path] || is
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.TypeAssertExpr:
				check(n.Type)
			case *ast.TypeSwitchStmt:
				for _, c := range n.Body.List {
					for _, asked := range c.(*ast.CaseClause).List {
						check(asked)
					}
				}
			}
			return true
		})
	})
	for path := range powers {
		if !used[path] {
			t.Errorf("%s asks for nothing any more: take it off the list", path)
		}
	}
}

// function reports whether the i-th variable of a declaration may be a function, as far as its text tells.
func function(v *ast.ValueSpec, i int) bool {
	if _, is := v.Type.(*ast.FuncType); is {
		return true
	}
	if v.Type != nil || i >= len(v.Values) {
		return false
	}
	switch v.Values[i].(type) {
	case *ast.FuncLit, *ast.Ident, *ast.SelectorExpr:
		return true
	}
	return false
}

// A function that a test sets is one that a race, or a test that forgets to set it back, sets for everybody.
func TestFunctionsOfPackagesAreNotSetLater(t *testing.T) {
	type pkg struct {
		vars map[string]bool
		set  map[string]string // name to file
	}
	all := map[string]*pkg{}
	of := func(path string, file *ast.File) *pkg {
		dir := filepath.ToSlash(filepath.Dir(path)) + " " + file.Name.Name
		if all[dir] == nil {
			all[dir] = &pkg{map[string]bool{}, map[string]string{}}
		}
		return all[dir]
	}
	sources(t, true, func(path string, file *ast.File) {
		p, top := of(path, file), map[*ast.ValueSpec]bool{}
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.VAR {
				for _, s := range g.Specs {
					v := s.(*ast.ValueSpec)
					top[v] = true
					for i, name := range v.Names {
						p.vars[name.Name] = p.vars[name.Name] || !strings.HasSuffix(path, "_test.go") && function(v, i)
					}
				}
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			a, ok := n.(*ast.AssignStmt)
			if !ok || a.Tok == token.DEFINE {
				return true
			}
			for _, left := range a.Lhs {
				id, ok := left.(*ast.Ident)
				if !ok {
					continue
				}
				if id.Obj != nil { // declared in this file: at its top, or in a function
					if spec, ok := id.Obj.Decl.(*ast.ValueSpec); !ok || !top[spec] {
						continue
					}
				}
				p.set[id.Name] = path
			}
			return true
		})
	})
	for dir, p := range all {
		for name, path := range p.set {
			if p.vars[name] {
				t.Errorf("%s: %s sets %s, a function of the package: make it a field or a parameter", dir, path, name)
			}
		}
	}
}
