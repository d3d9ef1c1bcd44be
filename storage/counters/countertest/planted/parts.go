package planted

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// parts are a Set of loose parts: a bug takes one out and puts a worse one in.
type parts struct {
	counters.Set // what it was taken apart of

	allow  func(ctx context.Context, id string, limit int, now time.Time) counters.Verdict
	hold   func(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func())
	locks  func(c counters.Lock) *locks
	delays *delays
	add    func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration
	wait   func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration
}

// locks are counters.Addresses of loose parts.
type locks struct {
	begin func(ctx context.Context, ip netip.Addr) time.Duration
	end   func(ctx context.Context, ip netip.Addr, failed bool)
	clear func(ctx context.Context, ip netip.Addr) bool
}

// delays are counters.Accounts of loose parts.
type delays struct {
	begin func(ctx context.Context, account [32]byte) time.Duration
	end   func(ctx context.Context, account [32]byte, failed bool)
	known func(ctx context.Context, account [32]byte)
	wait  func(ctx context.Context, account [32]byte) (time.Duration, bool)
	clear func(ctx context.Context, account [32]byte) bool
}

// apart takes a Set apart.
func apart(whole counters.Set) *parts {
	rates, accounts, counter := whole.Limiter(), whole.Accounts(), whole.Counter()
	return &parts{
		allow: rates.Allow, hold: rates.HoldAddress,
		locks: func(c counters.Lock) *locks {
			l := whole.Addresses(c)
			return &locks{l.Begin, l.End, l.Clear}
		},
		delays: &delays{accounts.Begin, accounts.End, accounts.FailKnown, accounts.Wait, accounts.Clear},
		add:    counter.Add, wait: counter.Wait, Set: whole,
	}
}

func (p *parts) Limiter() counters.Limiter                    { return limiter{p} }
func (p *parts) Addresses(c counters.Lock) counters.Addresses { return p.locks(c) }
func (p *parts) Accounts() counters.Accounts                  { return p.delays }
func (p *parts) Counter() counters.Counter                    { return counter{p} }

type limiter struct{ p *parts }

func (l limiter) Allow(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
	return l.p.allow(ctx, id, limit, now)
}

func (l limiter) HoldAddress(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
	return l.p.hold(ctx, from, per, now)
}

type counter struct{ p *parts }

func (c counter) Add(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	return c.p.add(ctx, name, client, limit, window)
}

func (c counter) Wait(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	return c.p.wait(ctx, name, client, limit, window)
}

func (l *locks) Begin(ctx context.Context, ip netip.Addr) time.Duration  { return l.begin(ctx, ip) }
func (l *locks) End(ctx context.Context, ip netip.Addr, failed bool)     { l.end(ctx, ip, failed) }
func (l *locks) Clear(ctx context.Context, ip netip.Addr) (cleared bool) { return l.clear(ctx, ip) }

func (d *delays) Begin(ctx context.Context, account [32]byte) time.Duration {
	return d.begin(ctx, account)
}

func (d *delays) End(ctx context.Context, account [32]byte, failed bool) {
	d.end(ctx, account, failed)
}

func (d *delays) FailKnown(ctx context.Context, account [32]byte) { d.known(ctx, account) }

func (d *delays) Wait(ctx context.Context, account [32]byte) (time.Duration, bool) {
	return d.wait(ctx, account)
}

func (d *delays) Clear(ctx context.Context, account [32]byte) bool { return d.clear(ctx, account) }
