package counters

import (
	"context"
	"net/netip"
	"sync"
	"time"
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

// NewAddresses returns Addresses that one process counts.
func NewAddresses(l Lock) Addresses { return addresses{newGuard(l)} }

type addresses struct{ guard *guard }

func (a addresses) Begin(_ context.Context, ip netip.Addr) time.Duration  { return a.guard.Begin(ip) }
func (a addresses) End(_ context.Context, ip netip.Addr, failed bool)     { a.guard.End(ip, failed) }
func (a addresses) Clear(_ context.Context, ip netip.Addr) (cleared bool) { return a.guard.Clear(ip) }

// NewAccounts returns Accounts that one process counts.
func NewAccounts() Accounts { return newDelays() }
