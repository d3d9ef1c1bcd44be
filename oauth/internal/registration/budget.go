package registration

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/limit"
	"github.com/keystile/keystile/internal/network"
)

// How many applications register themselves, from one address and in all.
const (
	perHour = 30
	perDay  = 100
	inAll   = 2000 // a day
)

const (
	day      = 24 * time.Hour
	capacity = 100_000 // networks of each window; beyond it, unknown ones are counted by a wider one
)

// Counter counts events by client for several processes together.
type Counter interface {
	// Add counts an event of a client, or of a network, under a name, unless limit of them
	// are in the window that ends now: then it returns how long to wait.
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

// Budget bounds how many applications register themselves. Make it with NewBudget.
type Budget struct{ counter Counter }

// NewBudget returns a Budget of which nothing is used. A nil shared Counter: this process counts alone.
func NewBudget(shared Counter) *Budget {
	if shared == nil {
		shared = newAlone()
	}
	return &Budget{shared}
}

// names of what is counted. Each network has one of each, and everybody one together.
const (
	nameHour = "register an hour"
	nameDay  = "register a day"
	nameAll  = "register in all"
)

// Take counts a registration from an address; how long to wait if it is one too many. The narrowest
// network comes first and everybody last, so that who is refused uses up nothing of others.
func (b *Budget) Take(ctx context.Context, from netip.Addr) (wait time.Duration) {
	at, factor := network.Of(from), 1
	for more := true; more; at, factor, more = network.Widen(at) {
		if wait = b.counter.Add(ctx, nameHour, at, factor*perHour, time.Hour); wait > 0 {
			return wait
		}
		if wait = b.counter.Add(ctx, nameDay, at, factor*perDay, day); wait > 0 {
			return wait
		}
	}
	return b.counter.Add(ctx, nameAll, netip.Prefix{}, inAll, day)
}

// alone is the Counter of one process.
type alone struct{ hour, day *limit.Limiter }

func newAlone() *alone { return &alone{table(time.Hour), table(day)} }

func table(window time.Duration) *limit.Limiter {
	l, err := limit.New(limit.Config{Window: window, MaxKeys: capacity, Client: clientOf})
	if err != nil {
		panic(err) // of a Config that is written above
	}
	return l
}

func (a *alone) Add(_ context.Context, name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	events := a.day
	if window == time.Hour {
		events = a.hour
	}
	return events.Allow(client.String()+" "+name, most, time.Now()).RetryAfter
}

// clientOf reads the key of an event.
func clientOf(key string) (client netip.Prefix, name string) {
	text, name, _ := strings.Cut(key, " ")
	client, _ = netip.ParsePrefix(text) // the zero Prefix has none
	return client, name
}
