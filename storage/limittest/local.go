package limittest

import (
	"sync"

	"github.com/keystile/keystile/gateway/limits"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

// Local returns Counters of this process, made of what a service counts by that has none. Several
// services of one process that are given one value count together.
func Local() Counters {
	rates, err := limits.New()
	if err != nil {
		panic(err) // of a Config that is written there
	}
	return &local{rates: rates, accounts: lockout.NewDelays(), counter: lockout.NewCounter(), locks: map[lockout.Config]lockout.Addresses{}}
}

type local struct {
	rates    limits.Limiter
	accounts lockout.Accounts
	counter  lockout.Counter

	mu    sync.Mutex
	locks map[lockout.Config]lockout.Addresses
}

func (l *local) Limiter() limits.Limiter    { return l.rates }
func (l *local) Accounts() lockout.Accounts { return l.accounts }
func (l *local) Counter() lockout.Counter   { return l.counter }

// Addresses returns the same for the same Config.
func (l *local) Addresses(c lockout.Config) lockout.Addresses {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.locks[c] == nil {
		l.locks[c] = lockout.Alone(c)
	}
	return l.locks[c]
}
