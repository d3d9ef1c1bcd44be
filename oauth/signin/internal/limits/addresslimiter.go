package limits

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// The IPv6 networks that a household and a site have at least; each may do together no more than
// package network says.
const (
	householdBits = 56
	siteBits      = 48
)

// AddressLimiter limits an address and, of IPv6, the networks around it: there are 65,536
// addresses in a network that anybody can have.
type AddressLimiter struct {
	one, household, site *Limiter[netip.Prefix]

	shared counters.Counter // in their place; nil: this process counts alone
	name   string           // of what shared counts
}

// NewAddressLimiter makes an AddressLimiter of a limit of each address. It counts in this process,
// or by a shared counters.Counter under a name.
func NewAddressLimiter(limit int, per time.Duration, shared counters.Counter, name string) AddressLimiter {
	l := AddressLimiter{one: newLimiter(limit, per, byAddress), shared: shared, name: name}
	for p, factor, more := network.Widen(netip.PrefixFrom(netip.IPv6Unspecified(), 64)); more; p, factor, more = network.Widen(p) {
		switch p.Bits() {
		case householdBits:
			l.household = newLimiter(limit*factor, per, byAddress)
		case siteBits:
			l.site = newLimiter(limit*factor, per, byAddress)
		}
	}
	return l
}

// Take counts a request of a client. Where a network around it has had too many, it has
// counted for the client all the same.
func (l AddressLimiter) Take(ctx context.Context, client netip.Prefix) (wait time.Duration) {
	wait = l.count(ctx, l.one, client)
	for p := client; wait == 0; {
		p, _, _ = network.Widen(p)
		switch {
		case p.Bits() == householdBits && p.Addr().Is6():
			wait = l.count(ctx, l.household, p)
		case p.Bits() == siteBits && p.Addr().Is6():
			return l.count(ctx, l.site, p)
		default:
			return 0
		}
	}
	return wait
}

func (l AddressLimiter) count(ctx context.Context, rung *Limiter[netip.Prefix], p netip.Prefix) (wait time.Duration) {
	if l.shared != nil {
		return l.shared.Add(ctx, l.name, p, rung.limit, rung.per)
	}
	return rung.Take(p)
}
