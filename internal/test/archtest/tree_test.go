package archtest

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// campaigns is a module of its own, and under the same laws.
const campaigns = "internal/test/campaigns"

// goFiles returns the Go files of the module, and of campaigns, by package, both relative to the root.
func goFiles(t *testing.T) map[string][]string {
	t.Helper()
	files := map[string][]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && rel != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata" ||
			d.Name() == "node_modules"):
			return fs.SkipDir
		case d.IsDir() && rel != "." && filepath.ToSlash(rel) != campaigns && nested(path): // a module of its own
			return fs.SkipDir
		case strings.HasSuffix(rel, ".go"):
			pkg := filepath.ToSlash(filepath.Dir(rel))
			files[pkg] = append(files[pkg], rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func nested(dir string) bool {
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}
