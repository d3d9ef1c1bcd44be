package limits

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// Limiter admits so many events of a key in a time.
type Limiter struct {
	counter counters.Counter
	name    string // begins the names of what counter counts
	limit   int
	per     time.Duration
}

func newLimiter(limit int, per time.Duration, name string) Limiter {
	return Limiter{counters.NewCounter(), name, limit, per}
}

// Take counts an event and returns 0, or returns how long to wait and counts nothing.
func (l Limiter) Take(ctx context.Context, key string) (wait time.Duration) {
	return l.counter.Add(ctx, l.name+" "+key, netip.Prefix{}, l.limit, l.per)
}

// TakeOf is Take for a client.
func (l Limiter) TakeOf(ctx context.Context, client netip.Prefix) (wait time.Duration) {
	return l.counter.Add(ctx, l.name, client, l.limit, l.per)
}

// AddressLimiter limits an address and, of IPv6, the household's /56 and the site's /48 around it: there are 65,536
// addresses in a network that anybody can have.
type AddressLimiter struct{ one, household, site Limiter }

// NewAddressLimiter makes an AddressLimiter of a limit of each address. It counts in this process,
// or by a shared counters.Counter under a name.
func NewAddressLimiter(limit int, per time.Duration, shared counters.Counter, name string) (l AddressLimiter) {
	of := func(bits int) Limiter {
		factor := 1
		for p := netip.PrefixFrom(netip.IPv6Unspecified(), 64); p.Bits() > bits; {
			p, factor, _ = network.Widen(p)
		}
		rung := newLimiter(limit*factor, per, name)
		if shared != nil {
			rung.counter = shared
		}
		return rung
	}
	return AddressLimiter{one: of(64), household: of(56), site: of(48)}
}

// Take counts an event of a client. Where a network around it has had too many, it has
// counted for the client all the same.
func (l AddressLimiter) Take(ctx context.Context, client netip.Prefix) (wait time.Duration) {
	wait = l.one.TakeOf(ctx, client)
	for _, around := range []struct {
		Limiter
		bits int
	}{{l.household, 56}, {l.site, 48}} {
		if wait > 0 || !client.Addr().Is6() {
			break
		}
		p, _ := client.Addr().Prefix(around.bits)
		wait = around.TakeOf(ctx, p)
	}
	return wait
}
