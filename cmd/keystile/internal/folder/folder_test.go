package folder

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/keystile/keystile/internal/wholefile"
	"github.com/keystile/keystile/storage"
)

func TestFolderFilesArePrivateWhateverTheUmask(t *testing.T) {
	defer syscall.Umask(syscall.Umask(0)) // no test of this package runs in parallel
	for _, mask := range []int{0, 0o077, 0o277, 0o777} {
		syscall.Umask(0o022)
		path := filepath.Join(t.TempDir(), "a", "b")
		syscall.Umask(mask)
		f, err := Open(path)
		if err != nil || !f.Made() || f.Warning() != "" {
			t.Fatalf("umask %04o: Open() = %+v, %v, warning %q", mask, f, err, f.Warning())
		}
		if _, _, err := f.MasterKeys(""); err != nil {
			t.Fatal(err)
		}
		l, err := f.Listen(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if err := wholefile.Write(f.FirstRun(), []byte("{}")); err != nil {
			t.Fatal(err)
		}
		wantMode(t, path, 0o700)
		for _, name := range []string{masterKey, firstRun, socket} {
			wantMode(t, filepath.Join(path, name), 0o600)
		}
		l.Close()
	}
}

func TestOpenFolderIsWarnedAboutAndLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	os.Chmod(dir, 0o750)
	f, err := Open(dir)
	if err != nil || f.Made() || !strings.Contains(f.Warning(), "chmod 700 "+f.Path()) {
		t.Fatalf("Open() = %+v, %v, warning %q", f, err, f.Warning())
	}
	wantMode(t, dir, 0o750)
}

func TestFileIsNoFolder(t *testing.T) {
	path := filepath.Join(t.TempDir(), "file")
	os.WriteFile(path, nil, 0o600)
	if _, err := Open(path); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("Open(a file) = %v", err)
	}
}

func TestFolderIsNotMadeByLooking(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none")
	if f, err := Find(path); err == nil || !strings.Contains(err.Error(), path) ||
		!strings.Contains(err.Error(), "keystile serve --data "+path) {
		t.Errorf("Find() = %v, %v", f, err)
	}
	if _, err := os.Stat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	os.WriteFile(path, nil, 0o600)
	if _, err := Find(path); err == nil || !strings.Contains(err.Error(), "--data") {
		t.Errorf("Find(a file) = %v", err)
	}
	made := newFolder(t)
	if f, err := Find(made.Path()); err != nil || f.Path() != made.Path() {
		t.Errorf("Find() = %v, %v; want %s", f, err, made.Path())
	}
}

func TestMasterKeyIsMadeOnceAndKept(t *testing.T) {
	f := newFolder(t)
	first, path, err := f.MasterKeys("")
	if err != nil || path != filepath.Join(f.Path(), masterKey) {
		t.Fatalf("MasterKeys() = %q, %v", path, err)
	}
	if again, _, err := f.MasterKeys(""); err != nil || again[0].Text() != first[0].Text() {
		t.Errorf("MasterKeys() again = %v, the same %t", err, again[0].Text() == first[0].Text())
	}
}

func TestMasterKeyOfManyFirstStartsIsMadeOnce(t *testing.T) {
	f := newFolder(t)
	keys := make([]string, 16)
	var starts sync.WaitGroup
	for i := range keys {
		starts.Go(func() {
			key, _, err := f.MasterKeys("")
			if err != nil {
				t.Error(err)
			}
			keys[i] = key[0].Text()
		})
	}
	starts.Wait()
	for _, k := range keys {
		if k != keys[0] {
			t.Fatal("two starts go on with two keys")
		}
	}
	if left, _ := filepath.Glob(filepath.Join(f.Path(), ".*")); len(left) > 0 {
		t.Errorf("temporary files are left: %q", left)
	}
}

func TestDatabaseWithoutItsKeyNeverGetsANewOne(t *testing.T) {
	f := newFolder(t)
	os.WriteFile(f.Database(), []byte("x"), 0o600)
	if _, _, err := f.MasterKeys(""); err == nil || !strings.Contains(err.Error(), "put the file back") {
		t.Errorf("MasterKeys() = %v", err)
	}
	if _, err := os.Stat(filepath.Join(f.Path(), masterKey)); !errors.Is(err, fs.ErrNotExist) {
		t.Error("a key was made")
	}
}

func TestKeyFileIsReadOnlyIfItIsPrivateAndRight(t *testing.T) {
	f, good := newFolder(t), storage.NewMasterKey()
	for _, c := range []struct {
		name, text string
		mode       fs.FileMode
		want       string
	}{
		{"private", good.Text() + "\n", 0o600, ""},
		{"read-only", good.Text(), 0o400, ""},
		{"open to the group", good.Text(), 0o640, "chmod 600 "},
		{"open to all", good.Text(), 0o604, "chmod 600 "},
		{"empty", "", 0o600, "does not hold a master key"},
		{"cut off", good.Text()[:20], 0o600, "does not hold a master key"},
	} {
		path := filepath.Join(t.TempDir(), "k")
		os.WriteFile(path, []byte(c.text), 0o600)
		os.Chmod(path, c.mode)
		key, from, err := f.MasterKeys(path)
		switch {
		case c.want == "" && (err != nil || key[0].Text() != good.Text() || from != path):
			t.Errorf("%s: %v", c.name, err)
		case c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%s: %v, want %q", c.name, err, c.want)
		case err != nil && c.text != "" && strings.Contains(err.Error(), c.text[:20]):
			t.Errorf("%s: the message shows the key", c.name)
		}
	}
	if _, _, err := f.MasterKeys(filepath.Join(t.TempDir(), "none")); err == nil ||
		!strings.Contains(err.Error(), "openssl rand") {
		t.Errorf("a missing key file: %v", err)
	}
}

func TestKeyFileHoldsTheKeyThatSealsAndThoseThatOpen(t *testing.T) {
	f, fresh, old := newFolder(t), storage.NewMasterKey(), storage.NewMasterKey()
	path := filepath.Join(f.Path(), masterKey)
	os.WriteFile(path, []byte(old.Text()+"=\n\n"), 0o600) // as openssl writes it, and a blank line
	if err := f.WriteKeys("", fresh, old); err != nil {
		t.Fatal(err)
	}
	keys, from, err := f.KeptKeys("")
	if err != nil || from != path || len(keys) != 2 || keys[0].ID() != fresh.ID() || keys[1].ID() != old.ID() {
		t.Errorf("KeptKeys() = %d keys of %s, %v", len(keys), from, err)
	}
	wantMode(t, path, 0o600)
	retired, err := f.RetireKey("", old)
	if err != nil || retired != path+".retired-"+old.ID() {
		t.Errorf("RetireKey() = %s, %v", retired, err)
	}
	wantMode(t, retired, 0o600)
	if key, err := ReadKey(retired); err != nil || key.ID() != old.ID() {
		t.Errorf("ReadKey() = %s, %v", key.ID(), err)
	}
	if _, err := ReadKey(path); err == nil || !strings.Contains(err.Error(), "holds 2 keys") {
		t.Errorf("ReadKey() of two = %v", err)
	}
	for name, text := range map[string]string{"a bad second line": fresh.Text() + "\n" + old.Text()[1:],
		"too long": strings.Repeat(old.Text()+"\n", 100), "blank": "\n \n"} {
		os.WriteFile(path, []byte(text), 0o600)
		if _, _, err := f.KeptKeys(""); err == nil || !strings.Contains(err.Error(), "does not hold a master key") ||
			strings.Contains(err.Error(), old.Text()[1:20]) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestKeyFileBehindALinkIsReplacedAndTheLinkStays(t *testing.T) {
	f, key := newFolder(t), storage.NewMasterKey()
	file, link := filepath.Join(t.TempDir(), "k"), filepath.Join(t.TempDir(), "link")
	os.WriteFile(file, []byte(storage.NewMasterKey().Text()), 0o600)
	if err := os.Symlink(file, link); err != nil {
		t.Fatal(err)
	}
	if err := f.WriteKeys(link, key); err != nil {
		t.Fatal(err)
	}
	if got, err := ReadKey(file); err != nil || got.ID() != key.ID() {
		t.Errorf("behind the link is key %s, %v; want %s", got.ID(), err, key.ID())
	}
}

func TestLinkToTheFolderIsTheFolder(t *testing.T) {
	f := newFolder(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.Path(), link); err != nil {
		t.Fatal(err)
	}
	if g, err := Open(link); err != nil || g.Path() != f.Path() {
		t.Errorf("Open(link) = %v, %v; want the folder it leads to", g, err)
	}
}

func newFolder(t *testing.T) *Folder {
	t.Helper()
	f, err := Open(filepath.Join(t.TempDir(), "data"))
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func wantMode(t *testing.T, path string, want fs.FileMode) {
	t.Helper()
	info, err := os.Lstat(path)
	if err != nil || info.Mode().Perm() != want {
		t.Errorf("%s has mode %v, want %v (%v)", path, info.Mode().Perm(), want, err)
	}
}
