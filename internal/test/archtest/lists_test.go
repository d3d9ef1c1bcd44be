package archtest

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// listsFile names the tests that .ci/run leaves to .ci/nightly, or to its steps without the race detector.
const listsFile = ".ci/lists"

// A pattern that fits no test leaves nothing out, and the test that it meant costs minutes again.
func TestPatternsOfCIFitTests(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, listsFile))
	if err != nil {
		t.Fatal(err)
	}
	tests := strings.Join(testNames(t), "\n")
	looked := 0
	for _, pattern := range regexp.MustCompile(`(?m)^\w+\+?='\|?(.*Test.*)'$`).FindAllStringSubmatch(string(text), -1) {
		for _, one := range alternatives(pattern[1]) {
			looked++
			if !regexp.MustCompile("(?m)" + one).MatchString(tests) {
				t.Errorf("%s has %s, and no test is called so", listsFile, one)
			}
		}
	}
	if looked < 25 {
		t.Errorf("only %d patterns are found", looked)
	}
}

// alternatives takes a pattern such as ^A(B|C)$|^D$ apart: ^AB$, ^AC$, ^D$.
func alternatives(pattern string) (all []string) {
	group := regexp.MustCompile(`^([^(|]*)\(([^)]*)\)([^|]*)(\||$)|^([^(|]+)(\||$)`)
	for pattern != "" {
		m := group.FindStringSubmatch(pattern)
		if m == nil {
			return append(all, pattern)
		}
		pattern = pattern[len(m[0]):]
		if m[5] != "" {
			all = append(all, m[5])
			continue
		}
		for choice := range strings.SplitSeq(m[2], "|") {
			all = append(all, m[1]+choice+m[3])
		}
	}
	return all
}

// testNames are those of the module, of campaigns and of .ci/release.
func testNames(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, ".ci/release", "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, of := range goFiles(t) {
		for _, name := range of {
			files = append(files, filepath.Join(root, name))
		}
	}
	named := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range named.FindAllStringSubmatch(string(text), -1) {
			names = append(names, m[1])
		}
	}
	return names
}
