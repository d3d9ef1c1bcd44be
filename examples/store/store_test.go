package store_test

import (
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/examples/store"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestContract(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	storagetest.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}

func TestReopen(t *testing.T) { storagetest.RunDurable(t, open) }

func open(t *testing.T, dir string) driver.Backend {
	s, err := store.Open(filepath.Join(dir, "keystile.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return s
}
