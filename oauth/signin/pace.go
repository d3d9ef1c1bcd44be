package signin

import (
	"net/netip"
	"sync"
	"time"
)

// paceRoom bounds what a pace remembers: some 10 MB.
const paceRoom = 100_000

// pace admits so many requests of one key in a time, counted from the first of them: what
// is no guess and costs little needs no more exact rate. It is in memory. Keys that it
// has no room for share one count.
type pace[K comparable] struct {
	limit, room int
	per         time.Duration

	mu    sync.Mutex
	known map[K]*paced
	rest  paced
	swept time.Time
}

type paced struct {
	began time.Time
	n     int
}

func newPace[K comparable](limit int, per time.Duration) *pace[K] {
	return &pace[K]{limit: limit, per: per, room: paceRoom, known: map[K]*paced{}}
}

// count counts a request. 0 is yes; else it is how long to wait, and nothing was counted.
func (p *pace[K]) count(key K) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	m := p.of(key, now)
	if now.Sub(m.began) >= p.per {
		*m = paced{began: now}
	}
	if m.n >= p.limit {
		return p.per - now.Sub(m.began)
	}
	m.n++
	return 0
}

func (p *pace[K]) of(key K, now time.Time) *paced {
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
	if len(p.known) >= p.room {
		return &p.rest
	}
	m := &paced{began: now}
	p.known[key] = m
	return m
}

// rates are those of this room beside the lock.
type rates struct {
	codes, polls, spared *pace[netip.Addr] // of an address: tickets begun, polls, mails and new users
	ofCode               *pace[string]     // of one code
}

func newRates() rates {
	return rates{
		newPace[netip.Addr](codesOfAddress, time.Minute), newPace[netip.Addr](pollsOfAddress, time.Minute),
		newPace[netip.Addr](spareOfAddress, spareTime), newPace[string](pollsOfCode, time.Minute),
	}
}
