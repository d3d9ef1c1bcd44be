package cookies

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var all = []string{Session, Browser, Known, Trusted, Kept, Way, Language, Demo, DemoResult}

func TestCookieOfOursIsKnownHoweverItIsWritten(t *testing.T) {
	for _, name := range append(slices.Clone(all), "keystile_of_a_later_version") {
		for _, pair := range []string{
			name, name + "=", name + "=x", name + "=x; Path=/; HttpOnly", name + ";Path=/", " " + name + " = x",
			"\t" + name + "=x", "=" + name + "=x", " = " + name + "=x",
			"==" + name, "\x00" + name + "=x", name + "\x7f=x", "\xff=" + name + "=x", "\u00a0" + name + "\u2028=x", `"` + name + `"=x`, name[:3] + "\x01" + name[3:] + "=x",
			"__Host-" + name + "=x", "__Secure-" + name + "=x", "__Http-" + name, "__Host-Http-" + name,
			"=__host-" + name + "=x",
		} {
			for _, spelling := range []string{pair, strings.ToUpper(pair)} {
				if !Ours(spelling) {
					t.Errorf("%q is somebody else's", spelling)
				}
			}
		}
	}
	for _, pair := range []string{"", "=", ";", "own=1", "own=" + Session, "own=1; " + Session + "=x", "open_sso_tokens=1",
		"keystile=1", "keystone_known=1", "__Host-own=1", "session=x; Domain=" + Known} {
		if Ours(pair) {
			t.Errorf("%q is taken for ours", pair)
		}
	}
}

// A cookie whose name is written elsewhere is one that services may set.
func TestCookieThatIsSetIsNamedHere(t *testing.T) {
	packages, cookies := productFiles(t), 0
	for dir, files := range packages {
		named := map[string]bool{} // constants that have a name from here
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if c, is := n.(*ast.ValueSpec); is && len(c.Values) == 1 && isHere(c.Values[0]) {
					named[c.Names[0].Name] = true
				}
				return true
			})
		}
		good := func(e ast.Expr) bool {
			id, is := e.(*ast.Ident)
			return is && named[id.Name] || isHere(e)
		}
		for _, f := range files {
			for _, d := range f.Decls {
				for _, name := range namesOfCookies(d) {
					cookies++
					if good(name) {
						continue
					}
					calls := callsWith(d, name, files)
					if len(calls) == 0 || slices.ContainsFunc(calls, func(e ast.Expr) bool { return !good(e) }) {
						t.Errorf("%s sets a cookie whose name is no constant of this package", dir)
					}
				}
			}
		}
	}
	if cookies < 6 {
		t.Errorf("%d places set cookies: the test looks in the wrong place", cookies)
	}
}

// productFiles returns what is shipped, by folder.
func productFiles(t *testing.T) map[string][]*ast.File {
	t.Helper()
	files := map[string][]*ast.File{}
	err := filepath.WalkDir("../..", func(path string, d fs.DirEntry, err error) error {
		switch name := d.Name(); {
		case err != nil:
			return err
		case d.IsDir() && (name == "test" || name == "examples" || name == "testdata" || strings.HasPrefix(name, ".") &&
			name != ".." && name != "../.."):
			return fs.SkipDir
		case strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go"):
			f, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
			files[filepath.Dir(path)] = append(files[filepath.Dir(path)], f)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// isHere reports an expression such as cookies.Known, or one that begins with it.
func isHere(e ast.Expr) bool {
	if sum, is := e.(*ast.BinaryExpr); is && sum.Op == token.ADD {
		return isHere(sum.X)
	}
	s, is := e.(*ast.SelectorExpr)
	if !is {
		return false
	}
	id, is := s.X.(*ast.Ident)
	return is && id.Name == "cookies"
}

// namesOfCookies returns the names in the literals of http.Cookie that a declaration has.
func namesOfCookies(d ast.Decl) (names []ast.Expr) {
	ast.Inspect(d, func(n ast.Node) bool {
		literal, is := n.(*ast.CompositeLit)
		if !is {
			return true
		}
		if s, is := literal.Type.(*ast.SelectorExpr); is && s.Sel.Name == "Cookie" {
			for _, e := range literal.Elts {
				if pair := e.(*ast.KeyValueExpr); pair.Key.(*ast.Ident).Name == "Name" {
					names = append(names, pair.Value)
				}
			}
		}
		return true
	})
	return names
}

// callsWith returns with what a function is called for its first parameter, if that is the name.
func callsWith(d ast.Decl, name ast.Expr, files []*ast.File) (with []ast.Expr) {
	f, is := d.(*ast.FuncDecl)
	id, named := name.(*ast.Ident)
	if !is || !named || len(f.Type.Params.List) == 0 || f.Type.Params.List[0].Names[0].Name != id.Name {
		return nil
	}
	for _, file := range files {
		ast.Inspect(file, func(n ast.Node) bool {
			call, is := n.(*ast.CallExpr)
			if !is || len(call.Args) == 0 {
				return true
			}
			if s, is := call.Fun.(*ast.SelectorExpr); is && s.Sel.Name == f.Name.Name {
				with = append(with, call.Args[0])
			}
			return true
		})
	}
	return with
}
