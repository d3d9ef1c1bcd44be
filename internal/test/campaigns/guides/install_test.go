package guides

import (
	"archive/zip"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const (
	module = "github.com/keystile/keystile"
	fresh  = "v0.0.1" // a version that no proxy has
)

// The README's go install works for somebody who has no clone: the module holds all that its program is made of, and
// its go.mod replaces nothing. The dependencies are read from this machine's cache.
func TestProgramIsInstalledFromItsModuleAlone(t *testing.T) {
	if testing.Short() {
		t.Skip("unpacks all dependencies")
	}
	proxy := t.TempDir()
	serve(t, proxy)
	cache, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	install := exec.CommandContext(t.Context(), "go", "install", "-n", module+"/cmd/keystile@latest")
	install.Dir = t.TempDir()
	install.Env = append(os.Environ(), "GOFLAGS=-modcacherw", "GOSUMDB=off", "GOWORK=off", "GOMODCACHE="+t.TempDir(),
		"GOPROXY=file://"+proxy+",file://"+filepath.Join(strings.TrimSpace(string(cache)), "cache/download"))
	said, err := install.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	if !strings.Contains(string(said), module+"@"+fresh) {
		t.Errorf("it is built of something else:\n%s", said)
	}
}

// serve makes a folder a module proxy that has one version, of what git knows of this clone.
func serve(t *testing.T, proxy string) {
	t.Helper()
	list := exec.CommandContext(t.Context(), "git", "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	list.Dir = root
	names, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	files := strings.Split(strings.TrimRight(string(names), "\x00"), "\x00")
	var nested []string
	for _, name := range files {
		if folder, is := strings.CutSuffix(name, "/go.mod"); is {
			nested = append(nested, folder+"/")
		}
	}
	folder := filepath.Join(proxy, module, "@v")
	if err := os.MkdirAll(folder, 0o755); err != nil {
		t.Fatal(err)
	}
	archive, err := os.Create(filepath.Join(folder, fresh+".zip"))
	if err != nil {
		t.Fatal(err)
	}
	defer archive.Close()
	w := zip.NewWriter(archive)
	for _, name := range files {
		if within(name, nested) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if os.IsNotExist(err) {
			continue // removed, and not committed yet
		}
		to, failed := w.Create(module + "@" + fresh + "/" + name)
		if err == nil {
			err = failed
		}
		if err == nil {
			_, err = to.Write(data)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	mod, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err == nil {
		err = w.Close()
	}
	for name, data := range map[string]string{"list": fresh + "\n", fresh + ".mod": string(mod),
		fresh + ".info": fmt.Sprintf(`{"Version":%q,"Time":"2026-01-01T00:00:00Z"}`, fresh)} {
		if err == nil {
			err = os.WriteFile(filepath.Join(folder, name), []byte(data), 0o644)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// within reports whether a file belongs to a nested module, which is none of this one's.
func within(name string, nested []string) bool {
	for _, folder := range nested {
		if strings.HasPrefix(name, folder) {
			return true
		}
	}
	return false
}
