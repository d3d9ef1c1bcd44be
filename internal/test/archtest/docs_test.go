package archtest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// longestDoc bounds the lines of a doc.go before its package clause: reasons stand with the types and functions
// that they explain, where they are changed with the code.
const longestDoc = 60

// The doc comment of a package says what it is for and how it is used. It is in doc.go, where everybody looks.
func TestPublicPackagesExplainThemselves(t *testing.T) {
	public, _ := publicPackages(t)
	looked := 0
	for _, path := range public {
		if path == module {
			continue // the map of all others
		}
		looked++
		folder := strings.TrimPrefix(path, module+"/")
		text, err := os.ReadFile(filepath.Join(root, folder, "doc.go"))
		if err != nil {
			t.Errorf("%s: %v", folder, err)
			continue
		}
		if why := unexplained(string(text), filepath.Base(folder)); why != "" {
			t.Errorf("%s/doc.go: %s", folder, why)
		}
	}
	if looked < 30 {
		t.Fatalf("only %d packages are looked at", looked)
	}
}

// unexplained says what a doc.go lacks, "" if nothing.
func unexplained(text, name string) string {
	comment, _, found := strings.Cut(text, "\npackage "+name+"\n")
	switch lines := strings.Count(comment, "\n") + 1; {
	case !found || !strings.HasPrefix(text, "// Package "+name+" "):
		return "it does not begin with Package " + name + ", or is of another package"
	case lines < 3:
		return "it does not say how the package is used"
	case lines > longestDoc:
		return fmt.Sprintf("it has %d lines before the package clause, more than %d", lines, longestDoc)
	}
	return ""
}

func TestUnexplainedPackageIsFound(t *testing.T) {
	const whole = "// Package a does b.\n//\n// So it is used.\npackage a\n"
	for text, want := range map[string]bool{
		whole: true,
		strings.Replace(whole, "Package a", "A", 1):                                      false,
		strings.Replace(whole, "package a", "package b", 1):                              false,
		strings.Replace(whole, "//\n// So it is used.\n", "", 1):                         false,
		strings.Replace(whole, "//\n", strings.Repeat("// And so on.\n", longestDoc), 1): false,
		"package a\n": false,
	} {
		if got := unexplained(text, "a") == ""; got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
