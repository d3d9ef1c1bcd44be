package clientdoc

import (
	"context"
	"net/netip"
	"strings"
	"time"

	"github.com/keystile/keystile/internal/limit"
	"github.com/keystile/keystile/internal/network"
)

// What may be fetched and kept on behalf of those whom nobody knows.
const (
	perRequester = 10   // fetches a minute for one client of ours
	inAll        = 100  // fetches a minute
	newADay      = 1000 // documents that were not known before, a day, for each listed host and for all others together
)

// Counter counts what several processes have to count together; see oauth.Counter.
type Counter interface {
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}

// Budget bounds what is fetched and kept. Make it with NewBudget.
type Budget struct {
	shared      Counter
	minute, day *limit.Limiter // in its place
}

// NewBudget returns a Budget that nothing was taken from. It counts in this process, or by a shared Counter.
func NewBudget(shared Counter) *Budget {
	b := &Budget{shared: shared}
	if shared == nil {
		b.minute, b.day = table(time.Minute, 100_000), table(24*time.Hour, 1000)
	}
	return b
}

func table(window time.Duration, keys int) *limit.Limiter {
	l, err := limit.New(limit.Config{Window: window, MaxKeys: keys, Client: func(key string) (netip.Prefix, string) {
		text, name, _ := strings.Cut(key, "\n")
		of, _ := netip.ParsePrefix(text)
		return of, name
	}})
	if err != nil {
		panic(err) // of a Config that is written above
	}
	return l
}

// Fetch takes one fetch for a requester, and returns how long to wait if there is none left.
func (b *Budget) Fetch(ctx context.Context, requester netip.Addr) (wait time.Duration) {
	if wait := b.add(ctx, "client documents", network.Of(requester), perRequester, time.Minute); wait > 0 {
		return wait
	}
	return b.add(ctx, "client documents in all", everybody, inAll, time.Minute)
}

// New takes one document that is not known yet, of a listed host or, "", of any other.
func (b *Budget) New(ctx context.Context, listed string) (wait time.Duration) {
	return b.add(ctx, "new client documents "+listed, everybody, newADay, 24*time.Hour)
}

// everybody is the client of what is counted for all together: the zero Prefix is none.
var everybody = netip.PrefixFrom(netip.IPv6Unspecified(), 128)

func (b *Budget) add(ctx context.Context, name string, client netip.Prefix, most int, window time.Duration) time.Duration {
	if b.shared != nil {
		return b.shared.Add(ctx, name, client, most, window)
	}
	l := b.minute
	if window > time.Minute {
		l = b.day
	}
	return l.Allow(client.String()+"\n"+name, most, time.Now()).RetryAfter
}
