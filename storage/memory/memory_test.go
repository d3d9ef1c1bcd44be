package memory_test

import (
	"testing"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
	"github.com/keystile/keystile/storage/storagetest"
)

func TestContract(t *testing.T) {
	storagetest.Run(t, func(*testing.T) driver.Backend { return memory.New() })
}

func TestTransfer(t *testing.T) {
	storagetest.RunTransfer(t, func(*testing.T) driver.Backend { return memory.New() })
}

func BenchmarkContract(b *testing.B) {
	storagetest.Bench(b, func(*testing.B) driver.Backend { return memory.New() })
}
