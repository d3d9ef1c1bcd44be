package folder

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func backupOf(text string) func(io.Writer) error { return bytesOf([]byte(text)) }

func fine(string) error { return nil }

func TestRestoreKeepsTheOldDatabase(t *testing.T) {
	f := newFolder(t)
	os.WriteFile(f.Database(), []byte("old"), 0o600)
	kept, err := f.Restore(noon, backupOf("new"), fine)
	if want := f.Database() + ".before-restore-20261121T120000.000Z"; err != nil || kept != want {
		t.Fatalf("Restore() = %q, %v; want %q", kept, err, want)
	}
	wantText(t, kept, "old")
	wantText(t, f.Database(), "new")
	wantMode(t, f.Database(), 0o600)
	wantEntries(t, f, 2)
}

func TestRestoreIntoAnEmptyFolderKeepsNothing(t *testing.T) {
	f := newFolder(t)
	if kept, err := f.Restore(noon, backupOf("new"), fine); err != nil || kept != "" {
		t.Errorf("Restore() = %q, %v", kept, err)
	}
	wantText(t, f.Database(), "new")
	wantEntries(t, f, 1)
}

func TestRestoreThatFailsChangesNothing(t *testing.T) {
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		fill  func(io.Writer) error
		check func(string) error
	}{
		"no disk":      {func(w io.Writer) error { io.WriteString(w, "ne"); return broken }, fine},
		"a bad backup": {backupOf("new"), func(string) error { return broken }},
	} {
		f := newFolder(t)
		os.WriteFile(f.Database(), []byte("old"), 0o600)
		if _, err := f.Restore(noon, c.fill, c.check); !errors.Is(err, broken) {
			t.Errorf("%s: Restore() = %v", name, err)
		}
		wantText(t, f.Database(), "old")
		wantEntries(t, f, 1)
	}
}

func TestRestoreIsRefusedWhileAServerRuns(t *testing.T) {
	f := newFolder(t)
	os.WriteFile(f.Database(), []byte("old"), 0o600)
	held, err := os.Open(f.Database())
	if err != nil {
		t.Fatal(err)
	}
	defer held.Close()
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil { // as the store does
		t.Fatal(err)
	}
	if _, err := f.Restore(noon, backupOf("new"), fine); err == nil || !strings.Contains(err.Error(), "stop the server") {
		t.Errorf("Restore() = %v", err)
	}
	wantText(t, f.Database(), "old")
}

func TestRestoreMakesNoKeyForADatabaseFromElsewhere(t *testing.T) {
	f := newFolder(t)
	if _, _, err := f.KeptKeys(""); err == nil || !strings.Contains(err.Error(),
		"put the one that belongs to the database there") {
		t.Errorf("KeptKeys() = %v", err)
	}
	wantEntries(t, f, 0)
	key := storage.NewMasterKey()
	os.WriteFile(filepath.Join(f.Path(), masterKey), []byte(key.Text()), 0o600)
	if got, _, err := f.KeptKeys(""); err != nil || len(got) != 1 || got[0].Text() != key.Text() {
		t.Errorf("KeptKeys() = %v", err)
	}
}

func wantText(t *testing.T, path, want string) {
	t.Helper()
	if text, err := os.ReadFile(path); err != nil || string(text) != want {
		t.Errorf("%s holds %q, %v; want %q", path, text, err, want)
	}
}

func wantEntries(t *testing.T, f *Folder, want int) {
	t.Helper()
	if entries, err := os.ReadDir(f.Path()); err != nil || len(entries) != want {
		t.Errorf("the folder holds %v, %v; want %d files", entries, err, want)
	}
}

func TestRestoreReplacesWhatBelongsToTheOldDatabase(t *testing.T) {
	f := newFolder(t)
	os.WriteFile(f.Database(), []byte("old"), 0o600)
	os.WriteFile(f.Database()+"-wal", []byte("old log"), 0o600)
	kept, err := f.Restore(noon, backupOf("new"), fine, "-wal", "-shm")
	if err != nil {
		t.Fatal(err)
	}
	wantText(t, kept, "old")
	wantText(t, kept+"-wal", "old log")
	wantText(t, f.Database(), "new")
	wantEntries(t, f, 3) // the old log would be replayed over the new database
}

func bytesOf(content []byte) func(io.Writer) error {
	return func(w io.Writer) error {
		_, err := w.Write(content)
		return err
	}
}
