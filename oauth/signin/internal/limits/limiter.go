package limits

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// limiterCapacity bounds what a Limiter remembers: some 10 MB.
const limiterCapacity = 100_000

// Limiter limits the requests of each key in a time, counted from the first of them: cheap
// requests that guess nothing need no more exact rate. It is in memory. Keys beyond its capacity
// are counted by the networks around them, or one by one if they have none.
type Limiter[K comparable] struct {
	limit, capacity int
	per             time.Duration
	beyond          func(K) (client netip.Prefix, kind string) // as package network counts it

	mu       sync.Mutex
	known    map[K]*window
	networks *network.Counts
	swept    time.Time
}

// window counts the requests of one key.
type window struct {
	began time.Time
	n     int
}

func newLimiter[K comparable](limit int, per time.Duration, beyond func(K) (netip.Prefix, string)) *Limiter[K] {
	return &Limiter[K]{
		limit: limit, per: per, capacity: limiterCapacity, beyond: beyond,
		known: map[K]*window{}, networks: network.NewCounts(per, limiterCapacity/4),
	}
}

func byAddress(client netip.Prefix) (netip.Prefix, string) { return client, "" }

func byCode(id string) (netip.Prefix, string) { return netip.Prefix{}, id }

// Take counts a request and returns 0, or returns how long to wait and counts nothing.
func (p *Limiter[K]) Take(key K) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	m := p.of(key, now)
	if m == nil {
		return p.countBeyond(key, now)
	}
	if now.Sub(m.began) >= p.per {
		*m = window{began: now}
	}
	if m.n >= p.limit {
		return p.per - now.Sub(m.began)
	}
	m.n++
	return 0
}

func (p *Limiter[K]) countBeyond(key K, now time.Time) (wait time.Duration) {
	client, kind := p.beyond(key)
	a := p.networks.Take(client, kind, p.limit, now)
	if a.OK {
		return 0
	}
	return a.Reset
}

// of finds or makes the count of a key; nil beyond the capacity.
func (p *Limiter[K]) of(key K, now time.Time) *window {
	if m, ok := p.known[key]; ok {
		return m
	}
	if now.Sub(p.swept) >= p.per {
		p.swept = now
		for key, m := range p.known {
			if now.Sub(m.began) >= p.per {
				delete(p.known, key)
			}
		}
	}
	if len(p.known) >= p.capacity {
		return nil
	}
	m := &window{began: now}
	p.known[key] = m
	return m
}
