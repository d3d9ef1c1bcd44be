package command

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
)

// The thread of the test gives up the right to write, which root has wherever it looks.
func TestFolderThatIsReadOnlyIsReadAndCopied(t *testing.T) {
	data, out := t.TempDir(), t.TempDir()
	start(t, data).stop()
	const nobody = 65534
	entries, err := os.ReadDir(data)
	fatal(t, err)
	for _, e := range entries {
		if path := filepath.Join(data, e.Name()); os.Getuid() == 0 && e.Type().IsRegular() {
			fatal(t, os.Chown(path, nobody, nobody))
		}
	}
	fatal(t, os.Chmod(filepath.Join(data, "keystile.db"), 0o400))
	if os.Getuid() == 0 {
		fatal(t, errors.Join(os.Chown(data, nobody, nobody), os.Chown(out, nobody, nobody)))
		for dir := filepath.Dir(data); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			fatal(t, os.Chmod(dir, 0o755))
		}
		for dir := filepath.Dir(out); dir != os.TempDir() && dir != "/"; dir = filepath.Dir(dir) {
			fatal(t, os.Chmod(dir, 0o755))
		}
	}
	fatal(t, os.Chmod(data, 0o500))
	t.Cleanup(func() { os.Chmod(data, 0o700) })
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if os.Getuid() == 0 {
		fatal(t, syscall.Setfsuid(nobody))
		defer syscall.Setfsuid(0)
	}
	if err := os.WriteFile(filepath.Join(data, "x"), nil, 0o600); !errors.Is(err, fs.ErrPermission) {
		t.Fatalf("writing there = %v, want that it is not permitted", err)
	}
	verified(t, data)
	if code, _, errs := command(t, "", "audit", "export", "--out", filepath.Join(out, "trail.jsonl"), "--data",
		data); code != 0 {
		t.Errorf("export = %d %s", code, errs)
	}
	must(t, "backup", filepath.Join(out, "b.db"), "--data", data)
	if code, _, errs := command(t, "", "audit", "prune", "--keep", "1ms", "--data", data); code != 1 {
		t.Errorf("prune = %d %s, want a failure", code, errs)
	}
}
