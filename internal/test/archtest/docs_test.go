package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The doc comment of a package is its reference: what it is for and how it is used, and then, under
// # Choices, what was chosen and why. It is in doc.go, where everybody looks.
func TestEveryPublicPackageExplainsItself(t *testing.T) {
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
	use, choices, chosen := strings.Cut(comment, "\n// # Choices\n")
	switch {
	case !found || !strings.HasPrefix(text, "// Package "+name+" "):
		return "it does not begin with Package " + name + ", or is of another package"
	case !chosen || strings.Count(choices, "\n") < 1:
		return "it has no # Choices"
	case strings.Count(use, "\n") < 2:
		return "it does not say how the package is used"
	}
	return ""
}

func TestAPackageThatDoesNotExplainItselfIsFound(t *testing.T) {
	const whole = "// Package a does b.\n//\n// So it is used.\n//\n// # Choices\n//\n// This, because of that.\npackage a\n"
	for text, want := range map[string]bool{
		whole: true,
		strings.Replace(whole, "# Choices", "", 1):                       false,
		strings.Replace(whole, "//\n// This, because of that.\n", "", 1): false,
		strings.Replace(whole, "Package a", "A", 1):                      false,
		strings.Replace(whole, "package a", "package b", 1):              false,
		strings.Replace(whole, "//\n// So it is used.\n//\n", "//\n", 1): false,
		"package a\n": false,
	} {
		if got := unexplained(text, "a") == ""; got != want {
			t.Errorf("%q: %t, want %t", text, got, want)
		}
	}
}
