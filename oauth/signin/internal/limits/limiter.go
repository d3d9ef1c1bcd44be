package limits

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// limiterCapacity bounds what a Limiter remembers: some 10 MB.
const limiterCapacity = 100_000

// Limiter admits so many requests of one key in a time, counted from the first of them: what
// is no guess and costs little needs no more exact rate. It is in memory. A key that it has no
// room for is counted by the networks around it, or if it is in none by itself.
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

// Take counts a request. 0 is yes; else it is how long to wait, and nothing was counted.
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

// of finds or makes the count of a key; nil if there is no room for one.
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

// What a household and a site have at least of IPv6, and may therefore do together no more
// than package network says.
const (
	householdBits = 56
	siteBits      = 48
)

// AddressLimiter limits an address and, of IPv6, the networks around it: there are 65,536
// addresses in a network that anybody can have.
type AddressLimiter struct{ one, household, site *Limiter[netip.Prefix] }

// NewAddressLimiter makes a Ladder of a limit of each address.
func NewAddressLimiter(limit int, per time.Duration) AddressLimiter {
	l := AddressLimiter{newLimiter(limit, per, byAddress), nil, nil}
	for p, factor, more := network.Widen(netip.PrefixFrom(netip.IPv6Unspecified(), 64)); more; p, factor, more = network.Widen(p) {
		switch p.Bits() {
		case householdBits:
			l.household = newLimiter(limit*factor, per, byAddress)
		case siteBits:
			l.site = newLimiter(limit*factor, per, byAddress)
		}
	}
	return l
}

// Take counts a request of a client. Where a network around it has had too many, it has
// counted for the client all the same.
func (l AddressLimiter) Take(client netip.Prefix) (wait time.Duration) {
	wait = l.one.Take(client)
	for p := client; wait == 0; {
		p, _, _ = network.Widen(p)
		switch {
		case p.Bits() == householdBits && p.Addr().Is6():
			wait = l.household.Take(p)
		case p.Bits() == siteBits && p.Addr().Is6():
			return l.site.Take(p)
		default:
			return 0
		}
	}
	return wait
}
