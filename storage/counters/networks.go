package counters

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// Anonymous requests over IPv6 are also counted against the networks that a household (a
// /56) and a site (a /48) have: there are 65,536 clients in a /48, and anybody can have one.
const maxNetworks = 1 << 16 // networks of each kind in a minute: 8 MB in all

// crowds are the networks that are counted: each is the next wider one around inner bits.
var crowds = [2]struct {
	inner int    // bits
	kind  string // tells them apart where both are counted by the same network around them
}{{64, "56"}, {56, "48"}}

// HoldAddress implements Limiter.
func (l rates) HoldAddress(_ context.Context, from netip.Addr, per int, now time.Time) (v Verdict, undo func()) {
	client := network.Of(from)
	first := l.addresses.AllowClient(client, per, now)
	counted, receipt := l.addresses, first.Receipt // what undo keeps is made for each anonymous request
	v, undo = verdict(first), func() { counted.Cancel(receipt) }
	if !v.OK || per == Unlimited || !client.Addr().Is6() {
		return v, undo
	}
	var held [len(crowds)]network.Receipt
	for i, c := range crowds {
		inner, _ := client.Addr().Prefix(c.inner)
		a := l.networks.Take(inner, c.kind, per, now)
		if !a.OK {
			l.release(held[:i])
			undo()
			return Verdict{Limit: per, Reset: a.Reset, RetryAfter: a.Reset}, func() {}
		}
		held[i] = a.Receipt
	}
	return v, func() { l.release(held[:]); counted.Cancel(receipt) }
}

func (l rates) release(held []network.Receipt) {
	for _, r := range held {
		l.networks.Return(r)
	}
}
