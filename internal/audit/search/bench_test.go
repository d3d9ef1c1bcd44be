package search

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/bolt"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// counting counts the calls of a store.
type counting struct {
	*office
	calls int
}

func (c *counting) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	c.calls++
	return c.office.Records(ctx, after, n)
}

func (c *counting) Appended(ctx context.Context) (uint64, error) {
	c.calls++
	return c.office.Appended(ctx)
}

func (c *counting) Pick(ctx context.Context, seqs ...uint64) ([]driver.Record, error) {
	c.calls++
	return c.office.Pick(ctx, seqs...)
}

func (c *counting) TrailIndex(ctx context.Context, span driver.Span, n int) ([]driver.Doc, string, error) {
	c.calls++
	return c.office.TrailIndex(ctx, span, n)
}

// BenchmarkIndex indexes records that wait in memory, a group of segments after the other. Its floor hashes
// what is indexed.
//
//	go test -run '^$' -bench Index -benchtime 100000x ./internal/audit/search
func BenchmarkIndex(b *testing.B) {
	records := make([]driver.Record, 0, groupSize*segmentSize)
	o := newOffice(b, memory.New())
	for i := range cap(records) {
		records = append(records, driver.Record{Seq: uint64(i + 1), Data: recordOf(b, audit.AsKept(o.draw(i)))})
	}
	b.Run("sha256", func(b *testing.B) {
		for i := 0; b.Loop(); i++ {
			sha256.Sum256(records[i%len(records)].Data)
		}
	})
	b.Run("index", func(b *testing.B) {
		b.ReportAllocs()
		for done := 0; done < b.N; done += len(records) {
			b.StopTimer()
			o := newOffice(b, memory.New())
			x := &Indexer{Store: o, Log: quiet}
			some := records[:min(len(records), max(b.N-done, segmentSize))]
			for page := range slices.Chunk(some, driver.Page) {
				if err := o.Append(b.Context(), page...); err != nil {
					b.Fatal(err)
				}
			}
			b.StartTimer()
			for busy := true; busy; {
				var err error
				if busy, err = x.Turn(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
		}
	})
}

// BenchmarkFind searches a trail of KEYSTILE_BENCH_RECORDS records, a million if that is not set. Its
// floor is one page of Records.
func BenchmarkFind(b *testing.B) {
	if testing.Short() {
		b.Skip("a million records take a minute")
	}
	size := 1_000_000
	if text := os.Getenv("KEYSTILE_BENCH_RECORDS"); text != "" {
		var err error
		if size, err = strconv.Atoi(text); err != nil {
			b.Fatal(err)
		}
	}
	for name, open := range map[string]func(b *testing.B) driver.Backend{
		"memory": func(*testing.B) driver.Backend { return memory.New() },
		"bolt": func(b *testing.B) driver.Backend {
			s, err := bolt.Open(filepath.Join(b.TempDir(), "store.db"), bolt.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return s
		},
	} {
		b.Run(name, func(b *testing.B) { benchFind(b, newOffice(b, open(b)), size) })
	}
}

func benchFind(b *testing.B, o *office, size int) {
	for written := 0; written < size; written += 20_000 {
		o.grow(b, 20_000)
	}
	start := time.Now()
	x := &Indexer{Store: o, Log: quiet}
	for busy := true; busy; {
		var err error
		if busy, err = x.Turn(b.Context()); err != nil {
			b.Fatal(err)
		}
	}
	b.Logf("%d records were indexed in %v", size, time.Since(start))
	old := o.all[len(o.all)/10]
	for old.RequestID == "" || old.User == "" {
		old = o.all[old.Seq]
	}
	b.Run("floor", func(b *testing.B) {
		for b.Loop() {
			if _, err := o.Records(b.Context(), old.Seq, driver.Page); err != nil {
				b.Fatal(err)
			}
		}
	})
	for name, q := range map[string]event.Query{
		"request": {RequestID: old.RequestID}, "nothing": {RequestID: "nobody has this"}, "user": {User: old.User},
		"user and kind": {User: old.User, Kind: old.Kind},
		"app":           {App: old.App}, "kind": {Kind: old.Kind}, "kind long ago": {Kind: old.Kind, To: old.At},
		"time alone":            {From: old.At.Add(-time.Hour), To: old.At},
		"40 apps long ago":      {Apps: appsOf(o.all[:40]), Status: "5xx", To: old.At},
		"user, kind and status": {User: old.User, Kind: old.Kind, Status: "5xx"},
		"user and time":         {User: old.User, To: old.At}, "address": {IP: old.IP},
		"app and kind and time": {App: old.App, Kind: old.Kind, To: old.At},
		"40 apps":               {Apps: appsOf(o.all[:40]), Status: "5xx"},
	} {
		b.Run(name, func(b *testing.B) {
			store := &counting{office: o}
			n := 0
			for b.Loop() {
				page, err := Find(b.Context(), store, q)
				if err != nil {
					b.Fatal(err)
				}
				n = len(page.Entries)
			}
			b.ReportMetric(float64(store.calls)/float64(b.N), "calls/op")
			b.ReportMetric(float64(n), "found")
		})
	}
}

func appsOf(all []event.Entry) (apps []string) {
	for _, e := range all {
		apps = append(apps, e.App)
	}
	return apps
}
