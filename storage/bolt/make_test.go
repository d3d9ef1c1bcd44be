package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.etcd.io/bbolt"
)

// A process that ends while the file is made leaves a folder that starts.
func TestFileHasItsNameOnlyWhenItIsWhole(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	var left []string
	looks := func() {
		copied := filepath.Join(t.TempDir(), fmt.Sprint(len(left)))
		if err := os.CopyFS(copied, os.DirFS(filepath.Dir(path))); err != nil {
			t.Error(err)
		}
		left = append(left, copied)
	}
	s, err := Open(path, Options{files: files{opened: looks}})
	if err != nil {
		t.Fatal(err)
	}
	s.Close()
	if len(left) == 0 {
		t.Fatal("nobody has looked")
	}
	for i, folder := range left {
		s, err := Open(filepath.Join(folder, "keystile.db"), Options{})
		if err != nil {
			t.Fatalf("Open(what moment %d leaves) = %v, want nil", i, err)
		}
		if err := s.Issue(t.Context(), numbered(1)); err != nil {
			t.Errorf("Issue(token) = %v, want nil", err)
		}
		s.Close()
		wantAlone(t, filepath.Join(folder, "keystile.db"))
	}
}

// wantAlone: there is nothing beside the file.
func wantAlone(t *testing.T, path string) {
	t.Helper()
	beside, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(beside) != 1 || beside[0].Name() != filepath.Base(path) {
		t.Errorf("the folder has %v (%v), want %s alone", beside, err, filepath.Base(path))
	}
}

func TestMakeByManyAtOnceOnAFreshFolderHasOneFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	var all sync.WaitGroup
	opened := make(chan *Store, 8)
	for range cap(opened) {
		all.Go(func() {
			s, err := Open(path, Options{Timeout: 300 * time.Millisecond})
			switch {
			case err == nil:
				opened <- s
			case !errors.Is(err, ErrInUse):
				t.Errorf("Open(beside others) = %v, want ErrInUse", err)
			}
		})
	}
	all.Wait()
	if len(opened) != 1 {
		t.Fatalf("%d have it open, want one", len(opened))
	}
	s := <-opened
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Close()); err != nil {
		t.Fatal(err)
	}
	wantToken(t, path, 1)
}

// A slower process must not take what another one has stored by then.
func TestFileThatSomebodyElseHasMadeMeanwhileStays(t *testing.T) {
	for name, cleared := range map[string]bool{"its draft is there": false, "its draft was cleared away": true} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keystile.db")
			link := func(draft, name string) error {
				s, err := Open(path, Options{})
				if err != nil {
					return err
				}
				if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Close()); err != nil {
					return err
				}
				if _, err := os.Stat(draft); !errors.Is(err, fs.ErrNotExist) {
					t.Errorf("Stat(a draft that has lost) = %v, want ErrNotExist", err)
				}
				if !cleared { // it was made a moment later
					write(t, draft, []byte("a draft"))
				}
				return os.Link(draft, name)
			}
			s, err := Open(path, Options{files: files{link: link}})
			if err != nil {
				t.Fatal(err)
			}
			s.Close()
			wantToken(t, path, 1)
			wantAlone(t, path)
		})
	}
}

func wantToken(t *testing.T, path string, n int) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Token(t.Context(), numbered(n).Key); err != nil {
		t.Errorf("Token(%d) = %v, want nil", n, err)
	}
}

func TestFileIsMadeWhereFilesHaveOneNameOnly(t *testing.T) {
	refused := func(draft, name string) error {
		return &os.LinkError{Op: "link", Old: draft, New: name, Err: syscall.EPERM}
	}
	s, err := Open(filepath.Join(t.TempDir(), "keystile.db"), Options{files: files{link: refused}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if err := s.Issue(t.Context(), numbered(1)); err != nil {
		t.Errorf("Issue(token) = %v, want nil", err)
	}
	wantAlone(t, s.db.Path())
}

func TestFileIsMadeBehindALinkThatLeadsNowhereYet(t *testing.T) {
	dir, behind := t.TempDir(), t.TempDir()
	path, target := filepath.Join(dir, "keystile.db"), filepath.Join(behind, "far.db")
	if err := errors.Join(os.Symlink(target, filepath.Join(behind, "near.db")), os.Symlink("folder/near.db", path),
		os.Symlink(behind, filepath.Join(dir, "folder"))); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), s.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Lstat(target); err != nil || !info.Mode().IsRegular() {
		t.Errorf("behind the links there is %v, %v, want the file", info, err)
	}
	wantToken(t, path, 1)
}

func TestFullDiskLeavesNothingOfAFileThatIsMade(t *testing.T) {
	for name, last := range map[string]int{"a draft": 1, "a file that has its name": 2} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keystile.db")
			filled := 0
			write := func(tx *bbolt.Tx) error {
				if filled++; filled == last {
					return &fs.PathError{Op: "write", Path: path, Err: syscall.ENOSPC}
				}
				return prepare(tx)
			}
			refused := func(string, string) error { return syscall.EPERM }
			_, err := Open(path, Options{files: files{link: refused, firstWrite: write}})
			wantError(t, err, path, "cannot be opened", "no space left")
			if beside, err := os.ReadDir(filepath.Dir(path)); err != nil || len(beside) > 0 || filled != last {
				t.Errorf("the folder has %v, %v after %d files, want nothing after %d", beside, err, filled, last)
			}
		})
	}
}

// Drafts of a start that was cut off go with the next one that writes, and with no other.
func TestDraftsThatWereLeftAreClearedAway(t *testing.T) {
	path := readable(t)
	for _, name := range []string{path + makingInfix + "1", path + draftSuffix, path + ".backup"} {
		write(t, name, []byte("left"))
	}
	readOnly(t, path).Close()
	if _, err := os.Stat(path + makingInfix + "1"); err != nil {
		t.Errorf("Stat(the draft, opened for reading) = %v, want nil", err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var left []string
	beside, err := os.ReadDir(filepath.Dir(path))
	for _, e := range beside {
		left = append(left, e.Name())
	}
	if want := []string{"keystile.db", "keystile.db.backup", "keystile.db.compacting"}; err != nil ||
		!slices.Equal(left, want) {
		t.Errorf("the folder has %q, %v, want %q", left, err, want)
	}
}
