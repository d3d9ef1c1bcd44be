package bolt

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/driver"
)

func TestSecondOpenFailsInTime(t *testing.T) {
	for _, c := range []struct{ timeout, most time.Duration }{
		{0, 2 * time.Second}, {5 * time.Second, 5 * time.Second}, {-1, 0},
	} {
		t.Run(fmt.Sprint(c.timeout), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStore(t)
				start := time.Now()
				_, err := Open(s.db.Path(), Options{Timeout: c.timeout})
				if took := time.Since(start); took > c.most {
					t.Errorf("Open(in use) took %v, want at most %v", took, c.most)
				}
				wantError(t, err, s.db.Path(), "is in use by another process; stop it, or choose another data folder")
				if err := s.Issue(t.Context(), numbered(1)); err != nil {
					t.Errorf("Issue(beside the failed Open) = %v, want nil", err)
				}
			})
		})
	}
}

func TestOpenMakesAPrivateFile(t *testing.T) {
	s := newStore(t)
	info, err := os.Stat(s.db.Path())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the new file has mode %v (%v), want 0600", info.Mode(), err)
	}
}

func TestUnfitFilesAreRefusedAndLeftAlone(t *testing.T) {
	good, pageSize := goodFile(t), os.Getpagesize()
	noise := make([]byte, 1<<20)
	rand.Read(noise)
	for name, c := range map[string]struct {
		file []byte
		want string
	}{
		"empty":                 {nil, "it is empty"},
		"one byte":              {[]byte{0}, "invalid database"},
		"text":                  {bytes.Repeat([]byte("users:\n- alice\n"), 7), "invalid database"},
		"long text":             {bytes.Repeat([]byte("users:\n- alice\n"), 700), "invalid database"},
		"noise":                 {noise, "invalid database"},
		"zeros":                 {make([]byte, 1<<20), "invalid database"},
		"noise at the head":     {append(noise[:2*pageSize:2*pageSize], good[2*pageSize:]...), "invalid database"},
		"zeros behind it":       {append(good[:2*pageSize:2*pageSize], make([]byte, len(good))...), "damaged"},
		"noise behind it":       {append(good[:2*pageSize:2*pageSize], noise...), "damaged"},
		"half of it":            {good[:len(good)/2], "it is cut off"},
		"its head":              {good[:2*pageSize], "it is cut off"},
		"one page":              {good[:pageSize], "file size too small"},
		"no list of free pages": {without(good, 48), "invalid freelist page"},
		"no list of buckets":    {without(good, 32), "damaged"},
		"other program":         {boltFile(t, "meta"), "it belongs to another program"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keystile.db")
			write(t, path, c.file)
			_, err := Open(path, Options{Timeout: -1})
			wantError(t, err, path, c.want, "left as it is", "put a backup in its place")
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, c.file) {
				t.Errorf("the file was changed (%v)", err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			write(t, path, good)
			s, err := Open(path, Options{Timeout: -1})
			if err != nil {
				t.Fatalf("Open(backup in its place) = %v, want nil", err)
			}
			s.Close()
		})
	}
}

func TestPathsThatCannotBeOpened(t *testing.T) {
	folder := t.TempDir()
	file := filepath.Join(folder, "file")
	write(t, file, []byte("text"))
	_, err := Open(folder, Options{})
	wantError(t, err, folder, "it is a folder")
	_, err = Open(filepath.Join(folder, "no", "keystile.db"), Options{})
	wantError(t, err, "the folder is not there; make it")
	_, err = Open(filepath.Join(file, "keystile.db"), Options{})
	wantError(t, err, "cannot be opened")
	// Root may write anywhere, so this one is made up.
	err = explain(file, &fs.PathError{Op: "open", Path: file, Err: syscall.EACCES})
	wantError(t, err, "this process may not read and write there", "permission denied")
}

func TestFileOfAProcessThatDiedInItsFirstMoment(t *testing.T) {
	path := filepath.Join(t.TempDir(), "keystile.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil || db.Close() != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatalf("Open(no buckets yet) = %v, want nil", err)
	}
	defer s.Close()
	if err := s.Issue(t.Context(), numbered(1)); err != nil {
		t.Errorf("Issue(token) = %v, want nil", err)
	}
}

// goodFile is a file with a few hundred pages in use.
func goodFile(t *testing.T) []byte {
	t.Helper()
	s := newStore(t)
	for i := range 20 {
		d := driver.Doc{Kind: "thing", ID: fmt.Sprint(i), Index: []string{"all"}, Data: make([]byte, 40_000)}
		if _, err := s.Put(t.Context(), d); err != nil {
			t.Fatal(err)
		}
	}
	var file bytes.Buffer
	if _, err := s.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	return file.Bytes()
}

// without damages a page that the head of a bbolt file names at an offset.
func without(file []byte, offset int) []byte {
	page := int(binary.NativeEndian.Uint64(file[offset:])) * os.Getpagesize()
	file = bytes.Clone(file)
	copy(file[page:], bytes.Repeat([]byte("damaged "), os.Getpagesize()/8))
	return file
}

// boltFile makes a file of bbolt with one bucket, of format 99.
func boltFile(t *testing.T, name string) []byte {
	t.Helper()
	path := filepath.Join(t.TempDir(), "other.db")
	db, err := bbolt.Open(path, 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bbolt.Tx) error {
		b, err := tx.CreateBucket([]byte(name))
		return errors.Join(err, b.Put([]byte("format"), []byte("99")))
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	file, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func write(t *testing.T, path string, file []byte) {
	t.Helper()
	if err := os.WriteFile(path, file, 0o600); err != nil {
		t.Fatal(err)
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("Open = nil, want an error that says %q", parts)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("Open = %v, want it to say %q", err, part)
		}
	}
}
