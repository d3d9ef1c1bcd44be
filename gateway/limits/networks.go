package limits

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
)

// Anonymous requests over IPv6 are also counted against the networks that a household (a
// /56) and a site (a /48) have: there are 65,536 clients in a /48, and anybody can have one.
const (
	widestCounted = 48
	maxNetworks   = 1 << 16 // networks of each kind in a minute: 8 MB in all
)

// Keys of networks never meet those of addresses and applications.
const networkMark = "net "

func networkKey(p netip.Prefix) string { return networkMark + p.String() }

// HoldAddress counts a request of nobody who is known against its address, which may make per of
// them, and the networks around it that are counted. What any of them refuses counts for none.
// undo takes it back.
func HoldAddress(ctx context.Context, l Limiter, from netip.Addr, per int, now time.Time) (v Verdict, undo func()) {
	v, undo = l.Hold(ctx, addressKey(from), per, now)
	client := network.Of(from)
	if !v.OK || per == Unlimited || !client.Addr().Is6() {
		return v, undo
	}
	for p, factor, more := network.Widen(client); more && p.Bits() >= widestCounted; p, factor, more = network.Widen(p) {
		narrower := undo
		w, wider := l.Hold(ctx, networkKey(p), per*factor, now)
		if !w.OK {
			narrower()
			return Verdict{Limit: per, Reset: w.Reset, RetryAfter: w.RetryAfter}, func() {}
		}
		undo = func() { wider(); narrower() }
	}
	return v, undo
}

// holdNetwork answers for a networkKey. Where there are more networks than maxNetworks, those
// around them are counted.
func (l local) holdNetwork(key string, limit int, now time.Time) (Verdict, func()) {
	p, err := netip.ParsePrefix(key[len(networkMark):])
	if err != nil {
		return Verdict{Limit: limit, Reset: Window, RetryAfter: Window}, func() {}
	}
	inner := netip.PrefixFrom(p.Addr(), p.Bits()+8) // of the ladder too: /64 in /56 in /48
	_, factor, _ := network.Widen(inner)
	a := l.networks.Take(inner, strconv.Itoa(p.Bits()), limit/factor, now)
	if !a.OK {
		return Verdict{Limit: limit, Reset: a.Reset, RetryAfter: a.Reset}, func() {}
	}
	return Verdict{OK: true, Limit: limit, Remaining: a.Remaining, Reset: a.Reset}, func() { l.networks.Return(a.Receipt) }
}
