package counters

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters/internal/local"
)

// New returns the Set of this process. Several services of one process that are given one value count together.
func New() Set {
	return &alone{rates: NewLimiter(), accounts: NewAccounts(), counter: NewCounter(), locks: map[Lock]Addresses{}}
}

type alone struct {
	rates    Limiter
	accounts Accounts
	counter  Counter

	mu    sync.Mutex
	locks map[Lock]Addresses
}

func (a *alone) Limiter() Limiter   { return a.rates }
func (a *alone) Accounts() Accounts { return a.accounts }
func (a *alone) Counter() Counter   { return a.counter }

func (a *alone) Describe() (kind, version, at string) { return "", "", "" }
func (a *alone) Reached() (now bool, since time.Time) { return true, time.Time{} }

// Addresses returns the same for the same Lock.
func (a *alone) Addresses(l Lock) Addresses {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.locks[l] == nil {
		a.locks[l] = NewAddresses(l)
	}
	return a.locks[l]
}

// NewAddresses returns Addresses that this process counts.
func NewAddresses(l Lock) Addresses {
	l = l.Complete()
	return addresses{local.NewGuard(l.Failures, l.Within, l.For), l.Failures}
}

type addresses struct {
	guard *local.Guard
	most  int
}

func (a addresses) Begin(_ context.Context, ip netip.Addr) time.Duration {
	return a.guard.Begin(network.Of(ip), a.most, false)
}

func (a addresses) End(_ context.Context, ip netip.Addr, failed bool) {
	a.guard.End(network.Of(ip), failed, a.most)
}

func (a addresses) Clear(_ context.Context, ip netip.Addr) bool {
	had, _ := a.guard.Clear(network.Of(ip))
	return had
}

// NewAccounts returns Accounts that this process counts.
func NewAccounts() Accounts { return accounts{local.NewDelays()} }

type accounts struct{ delays *local.Delays }

func (a accounts) Begin(_ context.Context, account [32]byte) time.Duration {
	return a.delays.Begin(account, local.DelayAfter)
}

func (a accounts) End(_ context.Context, account [32]byte, failed bool) {
	a.delays.End(account, failed, local.DelayAfter)
}

func (a accounts) FailKnown(_ context.Context, account [32]byte) {
	a.delays.FailKnown(account, local.DelayAfter)
}

func (a accounts) Wait(_ context.Context, account [32]byte) (wait time.Duration, known bool) {
	return a.delays.Wait(account), true
}

func (a accounts) Clear(_ context.Context, account [32]byte) bool { return a.delays.Clear(account) }

// NewCounter returns a Counter of this process. It is exact, and holds 100,000 clients for each window
// that it is asked about; where there are more, an unknown one is counted by its network. A window is a
// day at most.
func NewCounter() Counter { return counter{new(local.Counter)} }

type counter struct{ events *local.Counter }

func (c counter) Add(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	wait, _ := c.events.Add(name, client, limit, window)
	return wait
}

func (c counter) Wait(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	return c.events.Wait(name, client, limit, window)
}
