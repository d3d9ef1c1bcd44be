package bolt_test

import (
	"path/filepath"
	"testing"

	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestContract(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	storagetest.Run(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}

func TestReopen(t *testing.T) {
	storagetest.RunDurable(t, func(t *testing.T, dir string) driver.Backend { return open(t, dir) })
}

func BenchmarkContract(b *testing.B) {
	storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, b.TempDir()) })
}

func open(t testing.TB, dir string) driver.Backend {
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTransfer(t *testing.T) {
	storagetest.RunTransfer(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}
