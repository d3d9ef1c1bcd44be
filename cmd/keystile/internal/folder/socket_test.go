package folder

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestStaleSocketMakesRoom(t *testing.T) {
	f := newFolder(t)
	l, err := f.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	l.(*net.UnixListener).SetUnlinkOnClose(false) // as a killed server leaves it
	l.Close()
	if l, err = f.Listen(t.Context()); err != nil {
		t.Fatal(err)
	}
	l.Close()
}

func TestLongPathHasItsSocketInAPrivateFolder(t *testing.T) {
	temp := shortTemp(t)
	f, err := Open(filepath.Join(t.TempDir(), strings.Repeat("long", 25)))
	if err != nil {
		t.Fatal(err)
	}
	path, err := f.Socket()
	if err != nil || filepath.Dir(filepath.Dir(path)) != temp || len(path) > maxSocket {
		t.Fatalf("Socket() = %q, %v", path, err)
	}
	l, err := f.Listen(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	wantMode(t, filepath.Dir(path), 0o700)
	wantMode(t, path, 0o600)
	if other, _ := (&Folder{path: f.path + "x"}).Socket(); other == path {
		t.Error("two folders share a socket")
	}
	os.Chmod(filepath.Dir(path), 0o755)
	if _, err := f.Socket(); err == nil {
		t.Error("a folder that others can look into was taken")
	}
}

func TestSocketFolderThatLeadsElsewhereIsRefused(t *testing.T) {
	shortTemp(t)
	elsewhere := t.TempDir()
	os.Chmod(elsewhere, 0o700)
	f := &Folder{path: "/" + strings.Repeat("x", 100)}
	path, _ := f.Socket()
	os.Remove(filepath.Dir(path))
	if err := os.Symlink(elsewhere, filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Socket(); err == nil {
		t.Error("a symbolic link was taken for a private folder")
	}
}

// shortTemp is a temp folder of the test's own whose path leaves room for a socket's.
func shortTemp(t *testing.T) string {
	t.Helper()
	temp, err := os.MkdirTemp("", "ks")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(temp) })
	t.Setenv("TMPDIR", temp)
	return temp
}
