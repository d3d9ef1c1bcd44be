package archtest

import (
	"go/ast"
	"go/token"
	"slices"
	"testing"
)

// Every command pays for what package variables compile: some fifty expressions were a tenth of "keystile version".
func TestNothingIsCompiledBeforeItIsUsed(t *testing.T) {
	compiled := map[string][]string{"regexp": {"Compile", "MustCompile"}, "template": {"Must", "ParseFS"},
		"crc32": {"MakeTable"}}
	calls := 0
	sources(t, false, func(path string, file *ast.File) {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); !ok || g.Tok != token.VAR {
				continue
			}
			ast.Inspect(d, func(n ast.Node) bool {
				if _, ok := n.(*ast.FuncLit); ok {
					return false // it is called later
				}
				call, ok := n.(*ast.CallExpr)
				if !ok {
					return true
				}
				calls++
				if f, ok := call.Fun.(*ast.SelectorExpr); ok {
					if pkg, ok := f.X.(*ast.Ident); ok && slices.Contains(compiled[pkg.Name], f.Sel.Name) {
						t.Errorf("%s compiles by %s.%s when the program starts: use internal/pattern, page.Lazily or "+
							"sync.OnceValue", path, pkg.Name, f.Sel.Name)
					}
				}
				return true
			})
		}
	})
	if calls < 100 {
		t.Errorf("%d calls of package variables were looked at: the test looks at the wrong thing", calls)
	}
}
