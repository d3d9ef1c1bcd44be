package allowance

import (
	"context"
	"net/netip"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/limit"
)

// capacity bounds the keys of each window; beyond it, an unknown one is counted by a wider network.
const capacity = 100_000

// alone is the Counter of one process.
type alone struct {
	mu      sync.Mutex
	windows map[time.Duration]*limit.Limiter
}

// NewCounter returns a Counter of this process alone. Windows are written in programs, so there are few.
func NewCounter() Counter { return &alone{windows: map[time.Duration]*limit.Limiter{}} }

func (a *alone) Add(_ context.Context, name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	return a.of(window).Allow(client.String()+" "+name, most, time.Now()).RetryAfter
}

func (a *alone) Wait(_ context.Context, name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	return a.of(window).Wait(client.String()+" "+name, most, time.Now())
}

func (a *alone) of(window time.Duration) *limit.Limiter {
	a.mu.Lock()
	defer a.mu.Unlock()
	if l := a.windows[window]; l != nil {
		return l
	}
	l, err := limit.New(limit.Config{Window: window, MaxKeys: capacity, Client: clientOf})
	if err != nil {
		panic(err) // of a window that is written in this program
	}
	a.windows[window] = l
	return l
}

// clientOf reads the key of an event.
func clientOf(key string) (client netip.Prefix, name string) {
	text, name, _ := strings.Cut(key, " ")
	client, _ = netip.ParsePrefix(text) // the zero Prefix has none
	return client, name
}
