package console

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"github.com/keystile/keystile/gateway/console/internal/ui"
)

// tellers are the packages whose errors a page of the console shows, below the module.
var tellers = []string{"gateway/console/internal", "gateway/internal/adminapi", "internal/admin",
	"internal/consoleauth", "storage/apps", "storage/people", "storage/groups", "oauth/signin/users",
	"oauth/signin/passwords"}

// unshown are the texts of these that say nothing by themselves.
var unshown = []string{"%w"}

// TestEveryErrorOfAPageIsToldInChinese reads the source for what pages can say is wrong: the texts of failures, and
// those of errors that wrap storage.ErrInvalid.
func TestEveryErrorOfAPageIsToldInChinese(t *testing.T) {
	all := errorsIn(t, tellers)
	if len(all) < 100 {
		t.Fatalf("only %d texts are found: the test looks in the wrong place", len(all))
	}
	says := ui.Problems(allTexts())
	for _, text := range all {
		if slices.Contains(unshown, text) {
			continue
		}
		sample := verb.ReplaceAllStringFunc(text, func(v string) string {
			return map[string]string{"%q": `"值"`, "%d": "7"}[v] + map[bool]string{true: "值"}[v != "%q" && v != "%d"]
		})
		told := says(sample)
		chinese := strings.ContainsFunc(told, func(r rune) bool { return unicode.Is(unicode.Han, r) && r != '值' })
		if !chinese || english.MatchString(commands.ReplaceAllString(told, "")) {
			t.Errorf("%q is told as %q", text, told)
		}
	}
}

var (
	english  = regexp.MustCompile(`[a-z]+ [a-z]+ [a-z]+`)
	commands = regexp.MustCompile(`keystile [a-z A-Z]+|sign in`)
)

var verb = regexp.MustCompile(`%(?:\.\d+)?[a-z]`)

// errorsIn returns the texts of errors in packages, with a verb for each value.
func errorsIn(t *testing.T, dirs []string) (all []string) {
	for _, dir := range dirs {
		err := filepath.WalkDir("../../"+dir, func(path string, d fs.DirEntry, err error) error {
			if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(path, "/importacts/") { // its errors are told by a command alone
				return err
			}
			text, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			plain := strings.Contains(path, "storage/apps") || strings.HasSuffix(path, "passwords/check.go")
			file, err := parser.ParseFile(token.NewFileSet(), path, text, 0)
			if err == nil {
				ast.Inspect(file, func(n ast.Node) bool {
					if told, ok := toldBy(n, plain); ok {
						all = append(all, told)
					}
					return true
				})
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// toldBy returns what a failure or an invalid record says; plain: and every other error.
func toldBy(n ast.Node, plain bool) (string, bool) {
	switch n := n.(type) {
	case *ast.KeyValueExpr:
		if key, ok := n.Key.(*ast.Ident); ok && key.Name == "Msg" {
			return wordsOf(n.Value)
		}
	case *ast.CallExpr:
		name := ""
		switch f := n.Fun.(type) {
		case *ast.SelectorExpr:
			name = f.Sel.Name
		case *ast.Ident:
			name = f.Name
		}
		if len(n.Args) == 0 {
			return "", false
		}
		text, ok := wordsOf(n.Args[0])
		switch {
		case name == "Saying", name == "complain":
			return text, ok
		case name == "Errorf" && strings.HasPrefix(text, "%w: "):
			text = strings.TrimPrefix(text, "%w: ")
			return text, ok && len(n.Args) > 1 && strings.Contains(nameOf(n.Args[1]), "ErrInvalid")
		case plain && (name == "New" && nameOf(n.Fun.(*ast.SelectorExpr).X) == "errors" || name == "Errorf"):
			return text, ok
		}
	}
	return "", false
}

func nameOf(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

// wordsOf returns the text of an expression that has literals, with %s for what is computed.
func wordsOf(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		x, hasX := wordsOf(e.X)
		y, hasY := wordsOf(e.Y)
		return x + y, hasX || hasY
	case *ast.CallExpr:
		if nameOf(e.Fun) == "Sprintf" {
			return wordsOf(e.Args[0])
		}
	}
	return "%s", false
}

// allTexts are the translations of all parts.
func allTexts() ui.Texts {
	all := ui.FrameTexts()
	for _, part := range allParts() {
		for english, chinese := range part.Texts {
			all[english] = chinese
		}
	}
	return all
}
