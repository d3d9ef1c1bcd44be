package counters

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/limit"
)

// NewCounter makes a Counter of one process. It is exact, and holds 100,000 clients for each window
// that it is asked about; where there are more, an unknown one is counted by its network. A window is a
// day at most.
func NewCounter() Counter { return new(counter) }

type counter struct {
	mu     sync.Mutex
	tables []table // by window
}

type table struct {
	window time.Duration
	events *limit.Limiter
}

// maxTables bounds the windows that are kept apart. Programs name theirs, and there are few.
const maxTables = 16

func (c *counter) Add(_ context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
	return c.table(window).Allow(counterKey(name, client), max(0, limit), time.Now()).RetryAfter
}

func (c *counter) Wait(_ context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
	return c.table(window).Wait(counterKey(name, client), max(0, limit), time.Now())
}

// table returns what counts for a window; once there are too many, for the next longer one.
func (c *counter) table(window time.Duration) *limit.Limiter {
	window = min(max(window, 1), 24*time.Hour)
	c.mu.Lock()
	defer c.mu.Unlock()
	at, found := slices.BinarySearchFunc(c.tables, window, func(t table, w time.Duration) int { return cmp.Compare(t.window, w) })
	if !found && len(c.tables) < maxTables {
		events, err := limit.New(limit.Config{Window: window, MaxKeys: maxAddresses, Client: ofCounter})
		if err != nil {
			panic(err) // of a Config that is written above
		}
		c.tables = slices.Insert(c.tables, at, table{window, events})
	}
	return c.tables[min(at, len(c.tables)-1)].events
}

// counterKey is a text that ofCounter reads.
func counterKey(name string, client netip.Prefix) string { return client.String() + "\n" + name }

func ofCounter(key string) (client netip.Prefix, name string) {
	text, name, _ := strings.Cut(key, "\n")
	client, _ = netip.ParsePrefix(text) // the zero Prefix has none
	return client, name
}
