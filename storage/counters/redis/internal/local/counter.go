package local

import (
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/limit"
)

const (
	capacity   = 100_000 // clients of each window
	maxWindows = 16
)

// Counter counts events of clients, by name.
type Counter struct {
	mu      sync.Mutex
	windows map[time.Duration]*limit.Limiter
}

// NewCounter makes a Counter.
func NewCounter() *Counter { return &Counter{windows: map[time.Duration]*limit.Limiter{}} }

// Add counts an event unless limit of them are in the window: then it returns how long to wait. undo
// takes it back.
func (c *Counter) Add(name string, client netip.Prefix, most int, window time.Duration) (wait time.Duration, undo func()) {
	l := c.of(window)
	v := l.Allow(keyOf(name, client), most, time.Now())
	return v.RetryAfter, func() { l.Cancel(v.Receipt) }
}

// Wait returns what Add would, and counts nothing.
func (c *Counter) Wait(name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	return c.of(window).Wait(keyOf(name, client), most, time.Now())
}

// of returns the counts of a window. Windows are written in programs, so there are few; one too many is
// counted by another's.
func (c *Counter) of(window time.Duration) *limit.Limiter {
	c.mu.Lock()
	defer c.mu.Unlock()
	if l := c.windows[window]; l != nil {
		return l
	}
	if len(c.windows) >= maxWindows {
		for _, l := range c.windows {
			return l
		}
	}
	l, err := limit.New(limit.Config{Window: window, MaxKeys: capacity, Client: clientOf})
	if err != nil {
		l, _ = limit.New(limit.Config{Window: 24 * time.Hour, MaxKeys: capacity, Client: clientOf})
	}
	c.windows[window] = l
	return l
}

func keyOf(name string, client netip.Prefix) string {
	a := client.Addr().As16()
	b := append(make([]byte, 0, 64), a[:]...)
	return string(append(append(b, byte(client.Bits()), byte(client.Addr().BitLen())), name...))
}

func clientOf(key string) (client netip.Prefix, kind string) {
	a := netip.AddrFrom16([16]byte([]byte(key)))
	switch key[17] {
	case 0:
		return netip.Prefix{}, key
	case 32:
		a = a.Unmap()
	}
	return netip.PrefixFrom(a, int(key[16])), key[18:]
}
