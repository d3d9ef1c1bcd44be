package storagetest_test

import (
	"flag"
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestNodesOfOneStoreKeepTheContract(t *testing.T) {
	storagetest.Run(t, func(*testing.T) driver.Backend {
		store := memory.New()
		return storagetest.Nodes(store, store, store)
	})
}

func TestMeasurementRuns(t *testing.T) {
	if testing.Short() {
		t.Skip("it stocks a store for each of 17 measurements")
	}
	if err := flag.Set("test.benchtime", "70x"); err != nil {
		t.Fatal(err)
	}
	failed := true
	testing.Benchmark(func(b *testing.B) {
		storagetest.Bench(b, func(*testing.B) driver.Backend { return memory.New() })
		failed = b.Failed()
	})
	if failed {
		t.Error("a measurement has failed: go test -bench . ./storage/memory tells which")
	}
}
