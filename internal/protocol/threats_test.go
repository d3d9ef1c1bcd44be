package protocol

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	quoted = regexp.MustCompile("`([^`\\s]+)`")
	named  = regexp.MustCompile(`^([a-z0-9_/.-]+)\.(Test\w+)$`)
	source = regexp.MustCompile(`^[a-z0-9_/.-]+\.(?:go|txt)$`)
)

// unproven says what is wrong with the statements of a document: rows of tables and items of lists
// that name no proof, and proofs that are not there. exists reports whether a test (its folder and name) or a
// file (and "") is.
func unproven(text string, exists func(path, test string) bool) (found []finding, proofs int) {
	rows := strings.Split(text, "\n")
	for i, row := range rows {
		statement := strings.HasPrefix(row, "- ") || strings.HasPrefix(row, "| ") &&
			!strings.HasPrefix(rows[min(i+1, len(rows)-1)], "|---")
		proven := false
		for _, m := range quoted.FindAllStringSubmatch(row, -1) {
			path, test := m[1], ""
			if n := named.FindStringSubmatch(m[1]); n != nil {
				path, test = n[1], n[2]
			} else if !source.MatchString(m[1]) {
				continue
			}
			proven = true
			proofs++
			if !exists(path, test) {
				found = append(found, finding{"threats.md", i + 1, fmt.Sprintf("there is no %s", m[1])})
			}
		}
		if statement && !proven {
			found = append(found, finding{"threats.md", i + 1, "this names neither a test nor code: " + row})
		}
	}
	return found, proofs
}

// exists looks into the tree.
func exists(t *testing.T) func(path, test string) bool {
	have := map[string]string{} // the tests of a folder, all their text
	return func(path, test string) bool {
		if test == "" {
			_, err := os.Stat(filepath.Join(root, path))
			return err == nil
		}
		text, known := have[path]
		if !known {
			files, err := filepath.Glob(filepath.Join(root, path, "*_test.go"))
			if err != nil {
				t.Fatal(err)
			}
			for _, file := range files {
				part, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				text += string(part)
			}
			have[path] = text
		}
		return strings.Contains(text, "\nfunc "+test+"(t *testing.T)")
	}
}

func TestStatementOfTheThreatModelHasItsProof(t *testing.T) {
	found, proofs := unproven(read(t, "threats.md"), exists(t))
	for _, f := range found {
		t.Errorf("%s: mend the statement, or name what proves it now", f)
	}
	if proofs < 100 {
		t.Errorf("only %d proofs are found", proofs)
	}
}

func TestStatementWithoutItsProofIsFound(t *testing.T) {
	for text, want := range map[string]string{
		"| Who | Proof |\n|---|---|\n| a | nothing |": "this names neither a test nor code",
		"- It holds.": "this names neither a test nor code",

		"- It holds: `storage.TestNobodyWroteThis`.": "there is no storage.TestNobodyWroteThis",
		"- It holds: `oauth.TestASealedTextOpens`.":  "there is no oauth.TestASealedTextOpens",
		"- It holds: `storage/nothing.go`.":          "there is no storage/nothing.go",

		"- It holds: `storage/secret.TestSecretsCompare`, `keystile.go`.":             "",
		"| Who | Proof |\n|---|---|\n| a `b` | `storage/secret.TestSecretsCompare` |": "",
		"Words prove nothing, and need not.":                                          "",
	} {
		found, _ := unproven(text, exists(t))
		if want == "" && len(found) > 0 || want != "" && (len(found) != 1 || !strings.Contains(found[0].why, want)) {
			t.Errorf("%q: %v, want %q", text, found, want)
		}
	}
}
