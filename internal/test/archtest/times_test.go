package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// dates are the files that may say when something was granted or ended. Everything else leaves the time out of a
// revocation, or takes that of Store.Later, because the nodes of a store have clocks of their own.
var dates = []string{
	"internal/token/ended.go", // reaches ahead of now
	"storage/transfer/",       // copies what was said
	"storage/postgres/",       // reads what was said
	"storage/driver/",         // joins it
	"storage/storagetest/",    // an adapter is told any time
	"storage/internal/", "storage/bolt/", "storage/memory/",
}

var ourOwn = regexp.MustCompile(`^(\.ci|examples|internal/test)/|_test\.go$`)

func TestTimesOfGrantsAndRevocationsComeFromTheStoresClock(t *testing.T) {
	out, err := exec.Command("git", "-C", root, "ls-files", "-z", "--", "*.go").Output()
	if err != nil {
		t.Skipf("this is no checkout of git: %v", err)
	}
	files := 0
	for name := range strings.SplitSeq(strings.TrimSuffix(string(out), "\x00"), "\x00") {
		may := slices.ContainsFunc(dates, func(d string) bool { return strings.HasPrefix(name, d) })
		if name == "" || may || ourOwn.MatchString(name) {
			continue
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, filepath.Join(root, name), nil, 0)
		if err != nil {
			continue // removed and not yet committed
		}
		files++
		for _, found := range datedIn(set, file) {
			t.Errorf("%s:%s", name, found)
		}
	}
	if files < 300 {
		t.Fatalf("only %d files are looked at", files)
	}
}

// datedIn returns where a file says a time of its own.
func datedIn(set *token.FileSet, file *ast.File) (found []string) {
	say := func(n ast.Node, what string) {
		found = append(found, fmt.Sprintf("%d: %s", set.Position(n.Pos()).Line, what))
	}
	later := map[string]bool{} // names that have been given the time of Later
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CompositeLit:
			if !named(n.Type, "Revocation") {
				break
			}
			for _, e := range n.Elts {
				if field, ok := e.(*ast.KeyValueExpr); ok && named(field.Key, "Before") {
					say(n, "leave Before out: the store dates a revocation")
				}
			}
		case *ast.AssignStmt:
			for i, left := range n.Lhs {
				if i >= len(n.Rhs) {
					break
				}
				if name, ok := left.(*ast.Ident); ok && calls(n.Rhs[i], "Later") {
					later[name.Name] = true
				}
				if named(left, "GrantedAt") && calls(n.Rhs[i], "Now") {
					say(n, "take the time of Store.Later for a grant")
				}
			}
		case *ast.KeyValueExpr:
			if named(n.Key, "GrantedAt") && calls(n.Value, "Now") {
				say(n, "take the time of Store.Later for a grant")
			}
		case *ast.CallExpr:
			if !named(n.Fun, "NewGrant") || len(n.Args) != 1 {
				break
			}
			if name, ok := n.Args[0].(*ast.Ident); (!ok || !later[name.Name]) && !calls(n.Args[0], "Later") {
				say(n, "take the time of Store.Later for a grant")
			}
		}
		return true
	})
	return found
}

// named reports whether an expression is a name, perhaps of a package or a value.
func named(e ast.Expr, name string) bool {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name == name
	case *ast.SelectorExpr:
		return e.Sel.Name == name
	}
	return false
}

// calls reports whether a function or method of a name is called within an expression.
func calls(e ast.Expr, name string) (found bool) {
	ast.Inspect(e, func(n ast.Node) bool {
		call, ok := n.(*ast.CallExpr)
		found = found || ok && named(call.Fun, name)
		return true
	})
	return found
}

func TestTimeOfOnesOwnIsFound(t *testing.T) {
	for text, want := range map[string]int{
		`x := driver.Revocation{Kind: "user", ID: "u", Before: time.Now().UTC()}`: 1,
		`x := driver.Revocation{Kind: "user", ID: "u"}`:                           0,
		`x := driver.Token{GrantedAt: time.Now()}`:                                1,
		`t.GrantedAt = time.Now().UTC()`:                                          1,
		`g := handle.NewGrant(time.Now())`:                                        1,
		`g := handle.NewGrant(now)`:                                               1,
		`g := handle.NewGrant(s.Later(now))`:                                      0,
		"granted := s.Later(now)\ng := handle.NewGrant(granted)":                  0,
	} {
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, "x.go", "package x\nfunc f() {\n"+text+"\n}", 0)
		if err != nil {
			t.Fatal(err)
		}
		if found := datedIn(set, file); len(found) != want {
			t.Errorf("in %q is found %q", text, found)
		}
	}
}
