package local

import (
	"cmp"
	"net/netip"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters/internal/limit"
)

const (
	capacity  = 100_000 // clients of each window, addresses that fail, and accounts
	maxTables = 16      // windows that are kept apart: programs name theirs, and there are few
)

// Counter counts events of clients, by name. It is exact, and holds 100,000 clients for each window
// that it is asked about; where there are more, an unknown one is counted by its network. A window is a
// day at most. Its zero value has counted nothing.
type Counter struct {
	mu     sync.Mutex
	tables []table // by window
}

type table struct {
	window time.Duration
	events *limit.Limiter
}

// Add counts an event unless most of them are in the window: then it returns how long to wait. undo
// takes it back.
func (c *Counter) Add(name string, client netip.Prefix, most int, window time.Duration) (wait time.Duration,
	undo func()) {
	events := c.of(window)
	v := events.Allow(keyOf(name, client), max(0, most), time.Now())
	return v.RetryAfter, func() { events.Cancel(v.Receipt) }
}

// Wait returns what Add would, and counts nothing.
func (c *Counter) Wait(name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	return c.of(window).Wait(keyOf(name, client), max(0, most), time.Now())
}

// of returns what counts for a window; once there are too many, for the next longer one.
func (c *Counter) of(window time.Duration) *limit.Limiter {
	window = min(max(window, 1), 24*time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	at, found := slices.BinarySearchFunc(c.tables, window, func(t table,
		w time.Duration) int {
		return cmp.Compare(t.window, w)
	})
	if !found && len(c.tables) < maxTables {
		events, err := limit.New(limit.Config{Window: window, MaxKeys: capacity, Client: clientOf})
		if err != nil {
			panic(err) // of a Config that is written above
		}
		c.tables = slices.Insert(c.tables, at, table{window, events})
	}
	return c.tables[min(at, len(c.tables)-1)].events
}

// keyOf is a text that clientOf reads.
func keyOf(name string, client netip.Prefix) string {
	a := client.Addr().As16()
	b := append(make([]byte, 0, 64), a[:]...)
	return string(append(append(b, byte(client.Bits()), byte(client.Addr().BitLen())), name...))
}

func clientOf(key string) (client netip.Prefix, name string) {
	a := netip.AddrFrom16([16]byte([]byte(key)))
	switch key[17] {
	case 0:
		return netip.Prefix{}, key
	case 32:
		a = a.Unmap()
	}
	return netip.PrefixFrom(a, int(key[16])), key[18:]
}
