package archtest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// sums bounds what a host pays that imports one package: the lines of its go.sum.
var sums = map[string]int{
	"gateway": 50, "mcpbus": 40, "registry": 40, "legacy": 12, "gateway/remote": 12,
}

// `go mod tidy` adds what the tests of imported packages import, so a test that needs another room stands in
// internal/test/service.
//
// Its modules have to be in the module cache: KEYSTILE_FETCH=1 fetches it, as .ci/run does.
func TestImporterPaysForWhatItImports(t *testing.T) {
	tree, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	goFiles(t) // a result that was kept is of the tree as it was read here
	version, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(version), "\ngo ")
	language, _, _ := strings.Cut(rest, "\n")
	cache := strings.TrimSpace(string(run(t, "go", "env", "GOMODCACHE")))
	for pkg, most := range sums {
		t.Run(pkg, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			files := map[string]string{
				"go.mod": fmt.Sprintf("module host\n\ngo %s\n\nrequire %s v0.0.0\n\nreplace %[2]s => %[3]s\n", language, module,
					tree),
				"main.go": fmt.Sprintf("package main\n\nimport _ %q\n\nfunc main() {}\n", module+"/"+pkg),
			}
			for name, text := range files {
				if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			tidy := exec.CommandContext(t.Context(), "go", "mod", "tidy")
			tidy.Dir, tidy.Env = dir, append(os.Environ(), "GOFLAGS=-mod=mod", "GOWORK=off")
			if os.Getenv("KEYSTILE_FETCH") == "" {
				tidy.Env = append(tidy.Env, "GOPROXY=file://"+filepath.ToSlash(cache)+"/cache/download", "GOSUMDB=off")
			}
			out, err := tidy.CombinedOutput()
			missing := bytes.Contains(out, []byte("file://")) || bytes.Contains(out, []byte("cannot find module"))
			if err != nil && missing && os.Getenv("KEYSTILE_FETCH") == "" {
				t.Skipf("the module cache lacks what a host needs, and KEYSTILE_FETCH=1 fetches it: %s", out)
			} else if err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			text, err := os.ReadFile(filepath.Join(dir, "go.sum"))
			if err != nil {
				t.Fatal(err)
			}
			n := bytes.Count(text, []byte("\n"))
			if t.Logf("%d lines", n); n > most || n == 0 {
				t.Errorf("the go.sum of a host has %d lines, want at most %d: which test brings in the others?\n%s", n, most, text)
			}
		})
	}
}

func run(t *testing.T, name string, args ...string) []byte {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), name, args...).Output()
	if err != nil {
		t.Fatalf("%s %q: %v", name, args, err)
	}
	return out
}
