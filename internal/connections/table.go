package connections

import (
	"net/netip"
	"sync"
)

// table counts the connections that are open, by address.
type table struct {
	mu    sync.Mutex
	total int
	of    map[netip.Addr]int // never 0
}

type verdict int

const (
	admitted verdict = iota
	tooManyOfAddress
	tooManyInAll
)

// take counts one more connection. The zero Addr stands for no client: it counts towards the total
// only. A client that holds more than a quarter of what is free gets no more of it, so that clients
// with few connections find something left.
func (t *table) take(from netip.Addr, perAddress, total int) verdict {
	t.mu.Lock()
	defer t.mu.Unlock()
	if from.IsValid() && t.of[from] >= perAddress {
		return tooManyOfAddress
	}
	if free := total - t.total; total > 0 && (free <= 0 || t.of[from] > free/4) {
		return tooManyInAll
	}
	if from.IsValid() {
		t.of[from]++
	}
	t.total++
	return admitted
}

func (t *table) give(from netip.Addr) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.total--
	if !from.IsValid() {
		return
	}
	if t.of[from]--; t.of[from] == 0 {
		delete(t.of, from)
	}
}

func (t *table) size() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.total
}
