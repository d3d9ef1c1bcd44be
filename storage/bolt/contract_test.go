package bolt_test

import (
	"path/filepath"
	"sync"
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

func TestContractHoldsWithATokenLog(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	opts := bolt.Options{TokenLog: true}
	storagetest.Run(t, func(t *testing.T) driver.Backend { return openWith(t, t.TempDir(), opts) })
	storagetest.RunTransfer(t, func(t *testing.T) driver.Backend { return openWith(t, t.TempDir(), opts) })
}

// Lives with a log and without one take turns too.
func TestReopenWithATokenLog(t *testing.T) {
	storagetest.RunDurable(t, func(t *testing.T, dir string) driver.Backend {
		return openWith(t, dir, bolt.Options{TokenLog: true})
	})
	var lives sync.Map // how often each folder was opened; a folder is opened by one goroutine
	storagetest.RunDurable(t, func(t *testing.T, dir string) driver.Backend {
		before, _ := lives.LoadOrStore(dir, new(int))
		*before.(*int)++
		return openWith(t, dir, bolt.Options{TokenLog: *before.(*int)%2 == 0})
	})
}

func BenchmarkContract(b *testing.B) {
	storagetest.Bench(b, func(b *testing.B) driver.Backend { return open(b, b.TempDir()) })
}

func open(t testing.TB, dir string) driver.Backend { return openWith(t, dir, bolt.Options{}) }

func openWith(t testing.TB, dir string, opts bolt.Options) driver.Backend {
	s, err := bolt.Open(filepath.Join(dir, "keystile.db"), opts)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestTransfer(t *testing.T) {
	storagetest.RunTransfer(t, func(t *testing.T) driver.Backend { return open(t, t.TempDir()) })
}
