package main

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"debug/elf"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
)

const root = "../.."

// made is what two builds of the commit that is checked out have written, in two places.
type made struct {
	source
	tmp    string // of the first build
	out    [2]string
	binary string
}

var (
	work     string
	release2 = sync.OnceValues(makeTwice)
)

func TestMain(m *testing.M) {
	var err error
	if work, err = os.MkdirTemp("", "keystile-release-test-"); err != nil {
		panic(err)
	}
	os.Chmod(work, 0o755) // users that are not root look into it
	code := m.Run()
	os.RemoveAll(work)
	os.Exit(code)
}

func makeTwice() (m made, err error) {
	ctx, target := context.Background(), "linux/amd64"
	if hostTarget() != target {
		target = "linux/arm64"
	}
	for i, dir := range []string{"one", "a longer way to another"} {
		if i == 1 { // who builds elsewhere has other habits
			old := syscall.Umask(0o007)
			defer syscall.Umask(old)
		}
		m.tmp = filepath.Join(work, dir)
		m.out[i] = filepath.Join(m.tmp, "dist")
		if err := os.MkdirAll(m.out[i], 0o755); err != nil {
			return m, err
		}
		if m.source, err = clone(ctx, root, filepath.Join(m.tmp, "source")); err != nil {
			return m, err
		}
		if err := m.source.make(ctx, m.tmp, m.out[i], []string{target}); err != nil {
			return m, err
		}
	}
	m.binary = filepath.Join(m.tmp, "host")
	return m, nil
}

func theRelease(t *testing.T) made {
	t.Helper()
	if _, err := exec.LookPath("dpkg-deb"); err != nil {
		t.Skip("dpkg-deb is not installed")
	}
	m, err := release2()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// the returns the one file of a build that ends so.
func (m made) the(t *testing.T, end string) string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(m.out[0], "*"+end))
	if err != nil || len(found) != 1 {
		t.Fatalf("*%s: %q, %v", end, found, err)
	}
	return found[0]
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestBuildsOfACommitAreTheSameBytes(t *testing.T) {
	m := theRelease(t)
	one, two := readFile(t, filepath.Join(m.out[0], "SHA256SUMS")), readFile(t, filepath.Join(m.out[1], "SHA256SUMS"))
	if n := bytes.Count(one, []byte("\n")); n != 4 { // tar.gz, deb, image, bill
		t.Errorf("%d files:\n%s", n, one)
	}
	if !bytes.Equal(one, two) {
		t.Errorf("they differ:\n%s\n%s", one, two)
	}
	if out, err := run(t.Context(), m.out[0], nil, "sha256sum", "-c", "SHA256SUMS"); err != nil {
		t.Errorf("%v: %s", err, out)
	}
	program, err := elf.Open(m.binary)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	if libraries, err := program.ImportedLibraries(); err != nil || len(libraries) > 0 ||
		program.Section(".interp") != nil {
		t.Errorf("it is not static: %q, %v", libraries, err)
	}
	if bytes.Contains(readFile(t, m.binary), []byte(work)) {
		t.Error("it holds the path it was built at")
	}
}

// unpacked reads a tar.gz.
func unpacked(t *testing.T, data []byte) (headers []*tar.Header, files map[string][]byte) {
	t.Helper()
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files = map[string][]byte{}
	for r := tar.NewReader(z); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return headers, files
		}
		if err == nil {
			files[h.Name], err = io.ReadAll(r)
		}
		if err != nil {
			t.Fatal(err)
		}
		headers = append(headers, h)
	}
}

func TestBillAndTheLicencesNameAllThatIsLinked(t *testing.T) {
	m := theRelease(t)
	out, err := run(t.Context(), "", nil, m.binary, "version", "--modules", "--json")
	if err != nil {
		t.Fatal(err)
	}
	var said struct {
		Version, Commit string
		Modules         []struct{ Path, Version string }
	}
	if err := json.Unmarshal([]byte(out), &said); err != nil || said.Version != "v"+m.version || said.Commit != m.commit ||
		len(said.Modules) < 50 {
		t.Errorf("it says of itself: %s, %v; want %s of %s", out, err, m.version, m.commit)
	}
	var document bom
	bill := readFile(t, m.the(t, ".cdx.json"))
	if err := json.Unmarshal(bill, &document); err != nil || document.Format != "CycloneDX" ||
		document.SpecVersion != "1.6" || document.Metadata.Component.Version != m.version {
		t.Fatalf("%v: %.300s", err, bill)
	}
	var listed, want []string
	licensed := map[string]bool{}
	for _, c := range document.Components {
		listed = append(listed, c.Name+"@"+c.Version)
		licensed[c.Name] = len(c.Licences) > 0 && c.PURL == "pkg:golang/"+c.Name+"@"+c.Version
	}
	_, files := unpacked(t, readFile(t, m.the(t, ".tar.gz")))
	name := strings.TrimSuffix(filepath.Base(m.the(t, ".tar.gz")), ".tar.gz")
	texts := string(files[name+"/LICENCES.txt"])
	for _, module := range said.Modules {
		want = append(want, module.Path+"@"+module.Version)
		if !licensed[module.Path] {
			t.Errorf("the bill has no licence of %s", module.Path)
		}
		if !strings.Contains(texts, "\n"+module.Path+" "+module.Version+"\n") {
			t.Errorf("LICENCES.txt has no text for %s", module.Path)
		}
	}
	want = append(want, listed[len(listed)-1])
	if !strings.HasPrefix(want[len(want)-1], "stdlib@1.") || !slices.Equal(listed, want) {
		t.Errorf("the bill lists %q, the program %q", listed, want)
	}
	if !bytes.Equal(files[name+"/sbom.cdx.json"], bill) {
		t.Error("the archive has another bill")
	}
}

func TestArchiveHasWhatAnInstallationNeeds(t *testing.T) {
	m := theRelease(t)
	headers, files := unpacked(t, readFile(t, m.the(t, ".tar.gz")))
	dir := fmt.Sprintf("keystile_%s_linux_", m.version)
	for _, h := range headers {
		if !h.ModTime.Equal(m.at) || h.Uid != 0 || h.Gid != 0 || h.Uname != "" || !strings.HasPrefix(h.Name, dir) {
			t.Errorf("%s is of %v, user %d %q", h.Name, h.ModTime, h.Uid, h.Uname)
		}
	}
	dir = headers[0].Name
	for _, name := range []string{"LICENSE", "INSTALL.md", "README.md", "CHANGELOG.md", "man/keystile.1",
		"man/keystile-serve.1", "completions/keystile.bash", "completions/_keystile", "completions/keystile.fish",
		"systemd/keystile.service", "systemd/keystile.socket", "etc/keystile.yaml"} {
		if len(files[dir+name]) == 0 {
			t.Errorf("%s is not there", name)
		}
	}
	if !bytes.Equal(files[dir+"keystile"], readFile(t, m.binary)) {
		t.Error("the program is another one")
	}
}
