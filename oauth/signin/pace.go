package signin

import (
	"sync"
	"time"
)

// paceRoom bounds what a pace remembers: some 10 MB.
const paceRoom = 100_000

// pace admits so many requests of one key a minute, counted from the first of them: what
// costs little and is asked often needs no more exact rate. It is in memory. Keys that it
// has no room for share one count.
type pace[K comparable] struct {
	limit, room int

	mu    sync.Mutex
	known map[K]*minute
	rest  minute
	swept time.Time
}

type minute struct {
	began time.Time
	n     int
}

func newPace[K comparable](limit int) *pace[K] {
	return &pace[K]{limit: limit, room: paceRoom, known: map[K]*minute{}}
}

// count counts a request. 0 is yes; else it is how long to wait, and nothing was counted.
func (p *pace[K]) count(key K) (wait time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	m := p.of(key, now)
	if now.Sub(m.began) >= time.Minute {
		*m = minute{began: now}
	}
	if m.n >= p.limit {
		return time.Minute - now.Sub(m.began)
	}
	m.n++
	return 0
}

func (p *pace[K]) of(key K, now time.Time) *minute {
	if m, ok := p.known[key]; ok {
		return m
	}
	if now.Sub(p.swept) >= time.Minute {
		p.swept = now
		for key, m := range p.known {
			if now.Sub(m.began) >= time.Minute {
				delete(p.known, key)
			}
		}
	}
	if len(p.known) >= p.room {
		return &p.rest
	}
	m := &minute{began: now}
	p.known[key] = m
	return m
}
