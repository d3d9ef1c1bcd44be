package allowance

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
)

// Rate admits so many events in any window of time.
type Rate struct {
	N      int
	Window time.Duration
}

// Kind says how much of one kind of event is admitted.
type Kind struct {
	Name    string // of the counts
	Each    []Rate // of one address; the networks around it have a multiple, which all who are in them share
	Common  Rate   // of all networks together
	Reserve Rate   // of one address, once what is shared is used up; the networks around it have a multiple
}

// Wait returns how long an address has to wait until Take admits an event of each of the kinds, 0 if it would
// now. It counts nothing.
func Wait(ctx context.Context, c counters.Counter, from netip.Addr, kinds ...Kind) (wait time.Duration) {
	for _, k := range kinds {
		own, shared, beyond := k.counts(from)
		open := shared.Wait(ctx, c)
		if open > 0 {
			open = min(open, beyond.Wait(ctx, c))
		}
		wait = max(wait, own.Wait(ctx, c), open)
	}
	return wait
}

// Take counts an event of each of the kinds for an address, or returns how long to wait.
func Take(ctx context.Context, c counters.Counter, from netip.Addr, kinds ...Kind) (wait time.Duration) {
	if wait = Wait(ctx, c, from, kinds...); wait > 0 {
		return wait
	}
	for _, k := range kinds {
		own, shared, beyond := k.counts(from)
		if wait = own.add(ctx, c); wait > 0 {
			return wait
		}
		if shared.Take(ctx, c) == 0 {
			continue
		}
		if wait = beyond.add(ctx, c); wait > 0 {
			return wait
		}
	}
	return 0
}

// Counts are those that an event goes to together, the one of the narrowest network first, so that what is refused
// has used up nothing of a wider one's.
type Counts []Count

// Count is of the events of a network, or, under the zero Prefix, of all.
type Count struct {
	Name  string
	Of    netip.Prefix
	Limit Rate
}

// Wait returns how long to wait until all of them admit an event. It counts nothing.
func (all Counts) Wait(ctx context.Context, c counters.Counter) (wait time.Duration) {
	for _, n := range all {
		wait = max(wait, c.Wait(ctx, n.Name, n.Of, n.Limit.N, n.Limit.Window))
	}
	return wait
}

// Take adds an event to each of them, or returns how long to wait.
func (all Counts) Take(ctx context.Context, c counters.Counter) (wait time.Duration) {
	if wait = all.Wait(ctx, c); wait > 0 {
		return wait
	}
	return all.add(ctx, c)
}

// add adds to one after the other, until one refuses.
func (all Counts) add(ctx context.Context, c counters.Counter) (wait time.Duration) {
	for _, n := range all {
		if wait = c.Add(ctx, n.Name, n.Of, n.Limit.N, n.Limit.Window); wait > 0 {
			return wait
		}
	}
	return 0
}

// The reserves of the widest network around an address and of the next one, as multiples of the address's own.
const (
	widestReserve = 256
	nextReserve   = 4
)

// counts returns those of an address: what it alone fills, what it shares with others, and its reserve.
func (k Kind) counts(from netip.Addr) (own, shared, beyond Counts) {
	at, factor := network.Of(from), 1
	for more := true; more; at, factor, more = network.Widen(at) {
		for _, each := range k.Each {
			n := Count{k.Name + " in " + each.Window.String(), at, Rate{factor * each.N, each.Window}}
			if factor == 1 {
				own = append(own, n)
			} else {
				shared = append(shared, n)
			}
		}
		beyond = append(beyond, Count{k.Name + " beyond", at, k.Reserve})
	}
	last := len(beyond) - 1
	beyond[last].Limit.N *= widestReserve
	if last > 0 {
		beyond[last-1].Limit.N *= nextReserve
	}
	return own, append(shared, Count{k.Name + " in all", netip.Prefix{}, k.Common}), beyond
}
