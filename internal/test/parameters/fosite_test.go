package parameters

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// inside is the module that the engine of the provider is built on. Its texts speak of its own settings, and quote what
// was sent in characters that an answer may not hold.
const inside = "github.com/ory/fosite"

// quoted matches where one of its texts names something else, or may be written in another way.
var quoted = regexp.MustCompile("%\\w|['\"`\\\\]")

// itsTexts returns the sentences in the sources of that module, cut where they quote something.
var itsTexts = sync.OnceValues(func() (texts []string, err error) {
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", inside).Output()
	if err != nil {
		return nil, err
	}
	root := strings.TrimSpace(string(dir))
	for _, below := range []string{".", "handler"} {
		err = filepath.WalkDir(filepath.Join(root, below), func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && below == "." && path != root:
				return fs.SkipDir
			case d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go"):
				return nil
			}
			found, err := sentences(path)
			texts = append(texts, found...)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return texts, nil
})

// sentences returns the pieces of a source file's texts that nobody else writes by chance.
func sentences(path string) (found []string, err error) {
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	if err != nil {
		return nil, err
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if lit, ok := n.(*ast.BasicLit); ok && lit.Kind == token.STRING {
			text, _ := strconv.Unquote(lit.Value)
			for _, piece := range quoted.Split(text, -1) {
				if len(piece) >= 20 && strings.Contains(strings.TrimSpace(piece), " ") {
					found = append(found, piece)
				}
			}
		}
		return true
	})
	return found, nil
}

// The judge of the other tests knows the texts that it looks for.
func TestTextsOfTheEngineAreFound(t *testing.T) {
	texts, err := itsTexts()
	must(t, err)
	for _, want := range []string{
		"includes a parameter more than once", "is not allowed to request scope ",
		"has not been whitelisted by the OAuth 2.0 Client.", "The PKCE code challenge did not match the code verifier.",
		"is not supported by the authorization server",
	} {
		known := false
		for _, text := range texts {
			known = known || strings.Contains(text, want)
		}
		if !known {
			t.Errorf("%q is not among the %d texts", want, len(texts))
		}
	}
}
