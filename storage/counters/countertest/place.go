package countertest

import (
	"context"
	"net/netip"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// place has what one promise is tried on: a Service, and two of its nodes, which are asked in turn.
type place struct {
	testing.TB
	Service
	open    func() Service
	nodes   *ring
	limiter counters.Limiter
}

// fresh goes on at an empty Service.
func (p *place) fresh() {
	p.Service = p.open()
	p.nodes = newRing(p.Node(), p.Node())
	p.limiter = p.nodes.Limiter()
}

func (p *place) now() time.Time {
	if p.Clock == nil {
		return time.Now()
	}
	return p.Clock.Now()
}

// wait lets time pass, in whole milliseconds.
func (p *place) wait(d time.Duration) {
	p.Helper()
	if d < 0 {
		p.Fatalf("time cannot pass by %v", d)
	}
	if d = (d + time.Millisecond - 1).Truncate(time.Millisecond); d > 0 {
		p.Clock.Advance(d)
	}
}

// waiter waits for moments after its beginning.
func (p *place) waiter() (until func(after time.Duration)) {
	start := p.now()
	return func(after time.Duration) {
		p.Helper()
		p.wait(after - p.now().Sub(start))
	}
}

func (p *place) allow(id string, limit int) counters.Verdict {
	return p.limiter.Allow(context.Background(), id, limit, p.now())
}

func (p *place) hold(from netip.Addr, per int) (counters.Verdict, func()) {
	p.Helper()
	v, undo := p.limiter.HoldAddress(context.Background(), from, per, p.now())
	if undo == nil {
		p.Fatalf("HoldAddress(%v, %d) = %+v without a way to take it back", from, per, v)
	}
	return v, undo
}

// allowed counts how many of n requests of an application are admitted.
func (p *place) allowed(id string, limit, n int) (admitted int) {
	for range n {
		if p.allow(id, limit).OK {
			admitted++
		}
	}
	return admitted
}

// held counts how many of n requests of an address are admitted.
func (p *place) held(from netip.Addr, per, n int) (admitted int) {
	for range n {
		if v, _ := p.hold(from, per); v.OK {
			admitted++
		}
	}
	return admitted
}

// want ends the test unless so many were admitted.
func (p *place) want(what string, got, want int) {
	p.Helper()
	if got != want {
		p.Fatalf("%s: %d are let through, want %d", what, got, want)
	}
}

// verdict ends the test unless an answer is as wanted; times may be wrong by the Grain.
func (p *place) verdict(what string, got, want counters.Verdict) {
	p.Helper()
	near := want
	near.Reset, near.RetryAfter = p.near(got.Reset, want.Reset), p.near(got.RetryAfter, want.RetryAfter)
	if got != near {
		p.Fatalf("%s = %+v, want %+v", what, got, want)
	}
}

// near returns a time if it is the wanted one or at most the Grain away, else the wanted one.
func (p *place) near(got, want time.Duration) time.Duration {
	if want > 0 && got > 0 && got >= want-p.Grain && got <= want+p.Grain {
		return got
	}
	return want
}

// waits ends the test unless an answer is to wait so long.
func (p *place) waits(what string, got, want time.Duration) {
	p.Helper()
	if got != p.near(got, want) {
		p.Fatalf("%s: told to wait %v, want %v", what, got, want)
	}
}

// justBefore returns how long before a moment an answer must still be that of the time before it.
func (p *place) justBefore() time.Duration { return p.Grain + time.Millisecond }

const window = counters.Window

var (
	address  = netip.MustParseAddr("192.0.2.1")
	neighbor = netip.MustParseAddr("192.0.2.2")
)
