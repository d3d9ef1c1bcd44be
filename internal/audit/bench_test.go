package audit

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Note beside what it cannot beat. The queue is emptied as a flush empties it, without
// the encoding, which is the writer's.
func BenchmarkNote(b *testing.B) {
	e := numbered(1)
	idle := func() *Trail {
		return &Trail{limit: queueSize, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
	}
	renew := func(t *Trail, i int) {
		if i%20_000 == 0 {
			t.mu.Lock()
			t.waiting.reset()
			t.held = 0
			t.mu.Unlock()
		}
	}
	b.Run("one goroutine", func(b *testing.B) {
		t := idle()
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			renew(t, i)
			t.Note(e)
		}
		b.ReportMetric(float64(t.stats.Lost), "lost")
	})
	b.Run("all cores", func(b *testing.B) {
		t := idle()
		var n atomic.Int64
		b.ReportAllocs()
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				renew(t, int(n.Add(1)))
				t.Note(e)
			}
		})
		b.ReportMetric(float64(t.stats.Lost), "lost")
	})
	b.Run("atomic add", func(b *testing.B) {
		var n atomic.Int64
		for b.Loop() {
			n.Add(1)
		}
	})
	b.Run("channel send", func(b *testing.B) {
		c, done := make(chan Event, 4096), make(chan int)
		go func() {
			n := 0
			for range c {
				n++
			}
			done <- n
		}()
		for b.Loop() {
			c <- e
		}
		close(c)
		<-done
	})
}

// The writer's work for an event: cut, tidy, encode, hash.
func BenchmarkSeal(b *testing.B) {
	e := numbered(1)
	f := flusher{chain: newChain(digest{})}
	b.ReportAllocs()
	for b.Loop() {
		f.taken.reset()
		for range 1000 {
			f.taken.add(&e, nil)
		}
		f.taken.next, f.taken.rest, f.batch = 0, string(f.taken.text), f.batch[:0]
		f.fill()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/1000, "ns/event")
}

func BenchmarkVerify(b *testing.B) {
	s := &fakeStore{}
	trail := opened(b, s)
	for i := range 10_000 {
		trail.Note(numbered(i))
	}
	closed(b, trail)
	for b.Loop() {
		if r, err := Verify(context.Background(), s); err != nil || r.Err() != nil {
			b.Fatal(r.Err(), err)
		}
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(len(s.records)), "ns/record")
}

// A node that notes as fast as a writer can store into memory.
func BenchmarkTrail(b *testing.B) {
	trail := opened(b, sink{}, func(c *Config) { c.flushEvery = 10 * time.Millisecond })
	e := numbered(1)
	for b.Loop() {
		for trail.Stats().Waiting > 20_000 {
			time.Sleep(time.Millisecond)
		}
		trail.Note(e)
	}
	closed(b, trail)
	b.ReportMetric(float64(trail.Stats().Lost), "lost")
}

type sink struct{}

func (sink) Append(context.Context, ...driver.Record) error { return nil }
func (sink) Records(context.Context, uint64, int) ([]driver.Record, error) {
	return nil, nil
}
