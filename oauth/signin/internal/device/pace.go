package device

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/storage/counters"
)

const (
	// Interval is the least time between two polls of a device (RFC 8628 3.2).
	Interval = 5 * time.Second
	// slower is added to it at each poll that comes too soon (RFC 8628 3.5).
	slower = 5 * time.Second
	// slowest bounds it: a device that waits so long meets its user's answer within the life of its code.
	slowest = time.Minute
	// paceCapacity bounds the devices that are remembered: some 15 MB.
	paceCapacity = 100_000
)

// pace remembers when each device has polled last, and how long it has to wait. It is in memory: a poll
// writes nothing to the store. Several processes that share a counters.Counter keep a device to the first
// interval together; what it has grown to is known to each from the polls that it saw too early. Devices
// beyond its capacity keep to Rates.PollsOfCode alone.
type pace struct {
	mu    sync.Mutex
	known map[string]*pollInterval
	swept time.Time
}

// pollInterval holds the interval of one device.
type pollInterval struct {
	last     time.Time
	interval time.Duration
}

// take counts a poll, and reports whether it came no sooner than it may.
func (p *pace) take(ctx context.Context, shared counters.Counter, id string, at time.Time) bool {
	early := shared != nil && shared.Add(ctx, "device "+id, netip.Prefix{}, 1, Interval) > 0
	return p.takeHere(id, at, early)
}

// takeHere is take in this process. It may be known already that a poll came early, after one that
// another process has seen.
func (p *pace) takeHere(id string, at time.Time, early bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	k, ok := p.known[id]
	if !ok {
		if k = p.add(id, at); k == nil {
			return !early
		}
	} else if at.Sub(k.last) < k.interval && !at.Before(k.last) { // a clock that was set back slows nobody down
		early = true
	}
	k.last = at
	if early {
		k.interval = min(k.interval+slower, slowest)
	}
	return !early
}

// add begins to remember a device; nil if there are too many.
func (p *pace) add(id string, at time.Time) *pollInterval {
	if p.known == nil {
		p.known = map[string]*pollInterval{}
	}
	if len(p.known) >= paceCapacity || at.Sub(p.swept) >= limits.DeviceLife {
		p.sweep(at)
	}
	if len(p.known) >= paceCapacity {
		return nil
	}
	k := &pollInterval{interval: Interval}
	p.known[id] = k
	return k
}

// sweep forgets devices whose codes have ended; at most once a second, since it walks over all.
func (p *pace) sweep(at time.Time) {
	if at.Sub(p.swept) < time.Second && !at.Before(p.swept) {
		return
	}
	p.swept = at
	for id, k := range p.known {
		if at.Sub(k.last) >= limits.DeviceLife {
			delete(p.known, id)
		}
	}
}
