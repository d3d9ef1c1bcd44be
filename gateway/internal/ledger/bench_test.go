package ledger

import (
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// BenchmarkCharge beside what it cannot be faster than: without a journal an atomic add, with one
// that is mapped a bare copy of as many bytes, with one that is written a bare write(2) of them.
func BenchmarkCharge(b *testing.B) {
	const app, product = "app_0123456789abcdef", "ai"
	charge := func(l *Ledger) func() error {
		return func() error { return l.ChargeDetailed(app, product, Detail{Took: 12 * time.Millisecond}, noon, false) }
	}
	record := appendRecord(nil, &entry{app, cell{product: product, hour: 1}, amount{calls: 1}, 4})
	bare, err := os.OpenFile(filepath.Join(b.TempDir(), "bare"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		b.Fatal(err)
	}
	defer bare.Close()
	var counter atomic.Int64
	var memory [4 << 10]byte
	written := openedOn(b, Config{Store: newStore(), Path: b.TempDir()}, createFile)
	for _, c := range []struct {
		name string
		do   func() error
	}{
		{"atomic add", func() error { counter.Add(1); return nil }},
		{"memory", charge(opened(b, Config{Store: newStore(), FlushEvery: time.Second}))},
		{"bare copy", func() error { copy(memory[int(counter.Add(1))&1023:], record); return nil }},
		{"journal, mapped", charge(opened(b, Config{Store: newStore(), Path: b.TempDir()}))},
		{"bare write", func() error { _, err := bare.Write(record); return err }},
		{"journal, written", charge(written)},
	} {
		b.Run(c.name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := c.do(); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(c.name+", parallel", func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if err := c.do(); err != nil {
						b.Error(err)
					}
				}
			})
		})
	}
}

func BenchmarkReplay(b *testing.B) {
	var data []byte
	for range 10_000 {
		data = appendRecord(data, &entry{"app_0123456789abcdef", cell{product: "ai", hour: 1}, amount{calls: 1}, 0})
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		to := newBatch(driver.Batch{})
		if _, err := replay(data, func(e entry) { to.add(&e, nil) }); err != nil {
			b.Fatal(err)
		}
	}
}
