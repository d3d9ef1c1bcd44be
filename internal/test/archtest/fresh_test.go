package archtest

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

// freshness says who may use what of the question whether a session is fresh, beside stepup.Fresh, Proved and ProvedBy
// themselves. A proof that no session has begun with yet has a time and nothing more; everything else asks for the
// factors too.
var freshness = map[string][]string{
	"Fresh with a literal": {"oauth/signin/internal/session"},
	"RecentAt":             {"oauth/signin/internal/factor", "oauth/signin/internal/flow"},
	"MaxAge":               {"oauth/signin/internal/consent", "oauth/signin/internal/kept"},
}

// Nobody asks for the time of a sign-in where they should ask for what it has proved (decision 91).
func TestFreshnessIsNeverJudgedByTheTimeOfSignInAlone(t *testing.T) {
	seen, fresh := map[string]bool{}, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") && path != root):
			return filepath.SkipDir
		case !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
			return nil
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		pkg, err := filepath.Rel(root, filepath.Dir(path))
		for _, use := range usesOfFreshness(file) {
			if use == "Fresh" {
				fresh++
			} else if seen[use] = true; !slices.Contains(freshness[use], filepath.ToSlash(pkg)) {
				t.Errorf("%s uses %s: ask stepup.Fresh with stepup.Proved or ProvedBy", path, use)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(freshness) || fresh < 3 {
		t.Errorf("found %v and %d questions: the test looks in the wrong place", seen, fresh)
	}
}

func usesOfFreshness(file *ast.File) (uses []string) {
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if s, ok := n.Fun.(*ast.SelectorExpr); ok && isIdent(s.X, "stepup") && s.Sel.Name == "Fresh" {
				uses = append(uses, "Fresh")
				if len(n.Args) == 3 && (isIdent(n.Args[1], "true") || isIdent(n.Args[1], "false")) {
					uses = append(uses, "Fresh with a literal")
				}
			} else if ok && s.Sel.Name == "RecentAt" {
				uses = append(uses, "RecentAt")
			}
		case *ast.SelectorExpr:
			if isIdent(n.X, "stepup") && n.Sel.Name == "MaxAge" {
				uses = append(uses, "MaxAge")
			}
		}
		return true
	})
	return uses
}

func isIdent(e ast.Expr, name string) bool {
	id, ok := e.(*ast.Ident)
	return ok && id.Name == name
}
