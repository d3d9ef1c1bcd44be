package bolt

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// readable is the path of a file that holds a token, a document and three records, the first
// of which was pruned.
func readable(t *testing.T) string {
	t.Helper()
	s := newStore(t)
	_, put := s.Put(t.Context(), driver.Doc{Kind: "thing", ID: "a", Index: []string{"all"}, ExpiresAt: time.Unix(1, 0)})
	records := []driver.Record{{Data: []byte("a")}, {Data: []byte("b")}, {Data: []byte("c")}}
	if err := errors.Join(s.Issue(t.Context(), numbered(1)), put, s.Append(t.Context(), records...)); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Prune(t.Context(), 1, 9); err != nil {
		t.Fatal(err)
	}
	path := s.db.Path()
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

func readOnly(t *testing.T, path string) *Store {
	t.Helper()
	s, err := OpenReadOnly(path, Options{Timeout: -1})
	if err != nil {
		t.Fatalf("OpenReadOnly() = %v, want nil", err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestReadOnlyReadsAndChangesNothing(t *testing.T) {
	path := readable(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s, beside := readOnly(t, path), readOnly(t, path)
	for _, s := range []*Store{s, beside} {
		if _, err := s.Token(t.Context(), numbered(1).Key); err != nil {
			t.Errorf("Token() = %v, want nil", err)
		}
		page, err := s.Records(t.Context(), 0, 9)
		last, failed := s.Appended(t.Context())
		if err != nil || failed != nil || len(page) != 2 || page[0].Seq != 2 || last != 3 {
			t.Errorf("Records() = %v, %v and Appended() = %d, %v; want Seq 2 and 3, and 3", page, err, last, failed)
		}
	}
	if _, err := Open(path, Options{Timeout: -1}); err == nil {
		t.Error("Open() to write beside a reader = nil, want that it is in use")
	}
	var copied bytes.Buffer
	if n, err := s.WriteTo(&copied); err != nil || n != int64(copied.Len()) || n == 0 {
		t.Errorf("WriteTo() = %d, %v with %d bytes", n, err, copied.Len())
	}
	for _, s := range []*Store{s, beside} {
		if err := s.Close(); err != nil {
			t.Errorf("Close() = %v, want nil", err)
		}
	}
	if _, err := s.Records(t.Context(), 0, 9); !errors.Is(err, errClosed) {
		t.Errorf("Records() behind Close = %v, want %v", err, errClosed)
	}
	if _, err := s.WriteTo(io.Discard); !errors.Is(err, errClosed) {
		t.Errorf("WriteTo() behind Close = %v, want %v", err, errClosed)
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(after, before) {
		t.Errorf("the file was changed (%v)", err)
	}
	if files, err := os.ReadDir(filepath.Dir(path)); err != nil || len(files) != 1 {
		t.Errorf("beside the file are others: %v, %v", files, err)
	}
}

func TestReadOnlyRefusesEveryWrite(t *testing.T) {
	s := readOnly(t, readable(t))
	ctx := t.Context()
	_, put := s.Put(ctx, driver.Doc{Kind: "thing", ID: "b"})
	_, sweep := s.Sweep(ctx, time.Unix(2, 0), 9)
	_, prune := s.Prune(ctx, 9, 9)
	for call, err := range map[string]error{
		"Issue":    s.Issue(ctx, numbered(2)),
		"Exchange": s.Exchange(ctx, numbered(1).Key, time.Unix(1, 0)),
		"Revoke":   s.Revoke(ctx, driver.Revocation{Kind: driver.RevokeGrant, ID: "g"}),
		"Count":    s.Count(ctx, driver.Batch{Node: "n", Seq: 1}, []driver.Count{{AppID: "a", Product: "p", Calls: 1}}),
		"Append":   s.Append(ctx, driver.Record{}),
		"Put":      put, "Sweep": sweep, "Prune": prune,
	} {
		if !errors.Is(err, ErrReadOnly) {
			t.Errorf("%s() = %v, want %v", call, err, ErrReadOnly)
		}
	}
}

func TestReadOnlyMakesNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "none.db")
	if _, err := OpenReadOnly(path, Options{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenReadOnly(nothing) = %v, want %v", err, os.ErrNotExist)
	}
	if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it was made: %v", err)
	}
	s := newStore(t)
	if _, err := OpenReadOnly(s.db.Path(), Options{Timeout: -1}); err == nil {
		t.Error("OpenReadOnly(in use) = nil, want an error")
	}
}
