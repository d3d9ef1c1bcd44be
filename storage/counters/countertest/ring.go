package countertest

import (
	"context"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/counters"
)

// ring hands calls to nodes in turn, as a balancer does. An attempt ends where it began.
type ring struct {
	nodes []counters.Set
	calls atomic.Uint64
}

func newRing(nodes ...counters.Set) *ring { return &ring{nodes: nodes} }

func (r *ring) next() int { return int(r.calls.Add(1) % uint64(len(r.nodes))) }

func (r *ring) Limiter() counters.Limiter {
	return &limiterRing{r, each(r, counters.Set.Limiter)}
}

func (r *ring) Counter() counters.Counter {
	return &counterRing{r, each(r, counters.Set.Counter)}
}

func (r *ring) Addresses(c counters.Lock) counters.Addresses {
	all := each(r, func(n counters.Set) counters.Addresses { return n.Addresses(c) })
	return &addressRing{ring: r, all: all, began: began[netip.Addr]{at: map[netip.Addr][]int{}}}
}

func (r *ring) Accounts() counters.Accounts {
	return &accountRing{ring: r, all: each(r, counters.Set.Accounts), began: began[[32]byte]{at: map[[32]byte][]int{}}}
}

func each[T any](r *ring, of func(counters.Set) T) (all []T) {
	for _, n := range r.nodes {
		all = append(all, of(n))
	}
	return all
}

type limiterRing struct {
	*ring
	all []counters.Limiter
}

func (r *limiterRing) Allow(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
	return r.all[r.next()].Allow(ctx, id, limit, now)
}

func (r *limiterRing) HoldAddress(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict,
	func()) {
	return r.all[r.next()].HoldAddress(ctx, from, per, now)
}

type counterRing struct {
	*ring
	all []counters.Counter
}

func (r *counterRing) Add(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	return r.all[r.next()].Add(ctx, name, client, limit, window)
}

func (r *counterRing) Wait(ctx context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	return r.all[r.next()].Wait(ctx, name, client, limit, window)
}

// began remembers at which nodes attempts have begun.
type began[K comparable] struct {
	mu sync.Mutex
	at map[K][]int
}

func (b *began[K]) note(key K, node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.at[key] = append(b.at[key], node)
}

func (b *began[K]) take(key K) (node int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	all := b.at[key]
	if len(all) == 0 {
		return 0
	}
	node, b.at[key] = all[0], all[1:]
	if len(b.at[key]) == 0 {
		delete(b.at, key)
	}
	return node
}

type addressRing struct {
	*ring
	all   []counters.Addresses
	began began[netip.Addr]
}

func (r *addressRing) Begin(ctx context.Context, ip netip.Addr) time.Duration {
	i := r.next()
	wait := r.all[i].Begin(ctx, ip)
	if wait == 0 {
		r.began.note(ip, i)
	}
	return wait
}

func (r *addressRing) End(ctx context.Context, ip netip.Addr, failed bool) {
	r.all[r.began.take(ip)].End(ctx, ip, failed)
}

func (r *addressRing) Clear(ctx context.Context, ip netip.Addr) bool {
	return r.all[r.next()].Clear(ctx, ip)
}

type accountRing struct {
	*ring
	all   []counters.Accounts
	began began[[32]byte]
}

func (r *accountRing) Begin(ctx context.Context, account [32]byte) time.Duration {
	i := r.next()
	wait := r.all[i].Begin(ctx, account)
	if wait == 0 {
		r.began.note(account, i)
	}
	return wait
}

func (r *accountRing) End(ctx context.Context, account [32]byte, failed bool) {
	r.all[r.began.take(account)].End(ctx, account, failed)
}

func (r *accountRing) FailKnown(ctx context.Context, account [32]byte) {
	r.all[r.next()].FailKnown(ctx, account)
}

func (r *accountRing) Wait(ctx context.Context, account [32]byte) (time.Duration, bool) {
	return r.all[r.next()].Wait(ctx, account)
}

func (r *accountRing) Clear(ctx context.Context, account [32]byte) bool {
	return r.all[r.next()].Clear(ctx, account)
}
