package store_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/examples/store"
	"github.com/keystile/keystile/storage/driver"
)

func TestStepThatWasCutOffNeverHappened(t *testing.T) {
	dir := t.TempDir()
	file := written(t, dir)
	for cut := 1; cut < len(file)-bytes.IndexByte(file, '\n')-1; cut += 7 {
		keep(t, dir, file[:len(file)-cut])
		b := open(t, dir)
		if _, err := b.Get(t.Context(), "thing", "first"); err != nil {
			t.Fatalf("Get(first) = %v with %d bytes cut off, want nil", err, cut)
		}
		if _, err := b.Get(t.Context(), "thing", "last"); err != driver.ErrNotFound {
			t.Fatalf("Get(last) = %v with %d bytes cut off, want ErrNotFound", err, cut)
		}
		if _, err := b.Put(t.Context(), driver.Doc{Kind: "thing", ID: "last"}); err != nil {
			t.Fatal(err)
		}
		b.Close()
		open(t, dir).Close()
	}
}

func TestDamagedFileIsRefusedAndLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	file := written(t, dir)
	file[3] = 0
	keep(t, dir, file)
	if _, err := store.Open(filepath.Join(dir, "keystile.jsonl")); err == nil {
		t.Error("Open(damaged) = nil, want an error")
	}
	if now, _ := os.ReadFile(filepath.Join(dir, "keystile.jsonl")); !bytes.Equal(now, file) {
		t.Error("Open(damaged) changed the file")
	}
}

// written is a file of two steps.
func written(t *testing.T, dir string) []byte {
	b := open(t, dir)
	for _, id := range []string{"first", "last"} {
		if _, err := b.Put(t.Context(), driver.Doc{Kind: "thing", ID: id}); err != nil {
			t.Fatal(err)
		}
	}
	b.Close()
	file, err := os.ReadFile(filepath.Join(dir, "keystile.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return file
}

func keep(t *testing.T, dir string, file []byte) {
	if err := os.WriteFile(filepath.Join(dir, "keystile.jsonl"), file, 0o600); err != nil {
		t.Fatal(err)
	}
}
