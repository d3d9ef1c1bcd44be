package limit

import (
	"fmt"
	"sync"
	"testing"
	"time"
)

// plain is the limiter that one writes first: a map of times under one lock.
type plain struct {
	mu     sync.Mutex
	window time.Duration
	keys   map[string][]time.Time
}

func (p *plain) allow(key string, limit int, at time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	times := p.keys[key]
	for len(times) > 0 && !times[0].After(at.Add(-p.window)) {
		times = times[1:]
	}
	if len(times) >= limit {
		p.keys[key] = times
		return false
	}
	p.keys[key] = append(times, at)
	return true
}

// The floor, a lookup in a map, and the plain limiter stand beside, so that one run gives
// the ratios. Every key asks as often as its limit allows, or less often.
func BenchmarkAllow(b *testing.B) {
	for _, c := range []struct{ keys, each int }{{1_000, 60}, {1_000_000, 1}, {1_000_000, 6}} {
		keys := make([]string, c.keys)
		for i := range keys {
			keys[i] = address(i)
		}
		step := time.Minute / time.Duration(c.keys*c.each)
		name := fmt.Sprintf("%d keys, %d a minute each, ", c.keys, c.each)
		floor := make(map[string]int64, c.keys)
		for _, key := range keys {
			floor[key] = 1
		}
		var sum int64
		bench(b, name+"map lookup", keys, 1, step, func(key string, _ time.Time) { sum += floor[key] })
		floor = nil
		l := open(b, Config{})
		bench(b, name+"Limiter", keys, c.each, step, func(key string, at time.Time) { l.Allow(key, 60, at) })
		l = nil
		p := &plain{window: time.Minute, keys: map[string][]time.Time{}}
		bench(b, name+"plain map and lock", keys, c.each, step, func(key string, at time.Time) { p.allow(key, 60, at) })
	}
}

// bench asks for keys in an order that caches do not foresee, some rounds before the time
// counts, and says what they take on the heap then.
func bench(b *testing.B, name string, keys []string, rounds int, step time.Duration,
	allow func(key string, at time.Time)) {
	before, warm := heap(), false
	at, i := start, 0
	next := func() {
		i = (i + 618_033) % len(keys)
		at = at.Add(step)
		allow(keys[i], at)
	}
	b.Run(name, func(b *testing.B) {
		if !warm {
			for range rounds * len(keys) {
				next()
			}
			warm = true
		}
		b.ReportAllocs()
		each := float64(heap()-before) / float64(len(keys))
		for b.Loop() {
			next()
		}
		if each >= 1 {
			b.ReportMetric(each, "bytes/key")
		}
	})
}

func BenchmarkAllowParallel(b *testing.B) {
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = address(i)
	}
	parallel := func(name string, allow func(key string)) {
		b.Run(name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for i := 0; pb.Next(); i = (i + 1) % len(keys) {
					allow(keys[i])
				}
			})
		})
	}
	l := open(b, Config{})
	parallel("Limiter", func(key string) { l.Allow(key, 60, start) })
	p := &plain{window: time.Minute, keys: map[string][]time.Time{}}
	parallel("plain map and lock", func(key string) { p.allow(key, 60, start) })
}

func BenchmarkAllowAndCancel(b *testing.B) {
	l := open(b, Config{})
	spend(b, l, "a", 30, 60, start)
	b.ReportAllocs()
	for b.Loop() {
		l.Cancel(l.Allow("a", 60, start).Receipt)
	}
}

// BenchmarkAllowInAFullTable measures the cost of a flood of addresses.
func BenchmarkAllowInAFullTable(b *testing.B) {
	l := open(b, Config{MaxKeys: 100_000, Client: clientOf})
	fill(b, l, 100_000, start)
	keys := make([]string, 100_000)
	for i := range keys {
		keys[i] = address(i)
	}
	bench(b, "refused", keys, 2, 0, func(key string, _ time.Time) { l.Allow(key, 60, start) })
}

// BenchmarkNewKey measures the cost of each address of a flood: its entry, and its part of the
// sweeping and growing.
func BenchmarkNewKey(b *testing.B) {
	l := open(b, Config{})
	at, i := start, 0
	b.ReportAllocs()
	for b.Loop() {
		if at = at.Add(100 * time.Microsecond); i < 1<<24 {
			i++
		}
		l.Allow(address(i), 60, at)
	}
}
