//go:build unix

package folder

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/storage"
)

// The mask of a list of access shows as the right of a group, and the key is still nobody else's.
func TestCredentialOfTheServiceManagerIsAKeyFile(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/")
	key := storage.NewMasterKey()
	for _, c := range []struct {
		path string
		mode fs.FileMode
		ok   bool
	}{
		{filepath.Join(dir, "master.key"), 0o440, true},
		{filepath.Join(dir, "world.key"), 0o444, false},
		{filepath.Join(dir, "writable.key"), 0o460, false},
		{filepath.Join(t.TempDir(), "elsewhere.key"), 0o440, false},
	} {
		if err := os.WriteFile(c.path, lines([]storage.MasterKey{key}), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(c.path, c.mode); err != nil {
			t.Fatal(err)
		}
		if got, err := ReadKey(c.path); (err == nil) != c.ok || c.ok && got.ID() != key.ID() {
			t.Errorf("%s (%04o): %v", filepath.Base(c.path), c.mode, err)
		}
	}
}
