package counters

import (
	"cmp"
	"context"
	"net/netip"
	"time"
)

// Set is everything that is counted. Each process counts alone unless its keystile.Config has a Set that counts for
// several: behind a balancer, n processes that count alone let through up to n times as much. An implementation
// that cannot reach the others decides what that means, and must answer soon: people wait for it. Its answers count
// even if the context of a call has ended.
type Set interface {
	Limiter() Limiter              // of requests
	Addresses(lock Lock) Addresses // of failed sign-ins by address
	Accounts() Accounts            // of failed sign-ins by account
	Counter() Counter              // of wrong secrets, sign-ins begun and emails by address

	// Describe says to operators what counts: its kind, such as Redis, its version and where it is. All are empty
	// where this process does. It does not wait.
	Describe() (kind, version, at string)
	// Reached reports whether that can be reached, and since when it can or cannot; zero: since this process has
	// begun, as where it counts alone. It does not wait.
	Reached() (now bool, since time.Time)
}

// Lock says how many failures are too many. Zero values are the protocol's (8).
type Lock struct {
	Failures int           // 0: 10
	Within   time.Duration // 0: 5 minutes
	For      time.Duration // 0: 15 minutes
}

// Complete returns a Lock with the protocol's values in place of zeros.
func (l Lock) Complete() Lock {
	return Lock{cmp.Or(l.Failures, 10), cmp.Or(l.Within, 5*time.Minute), cmp.Or(l.For, 15*time.Minute)}
}

// Addresses counts failed attempts by address (IPv6 by /64) and locks one that has too many.
// NewAddresses counts in one process.
type Addresses interface {
	// Begin begins an attempt. If wait is 0, End follows; else the credentials are not checked.
	// Attempts in flight count as failed.
	Begin(ctx context.Context, ip netip.Addr) (wait time.Duration)
	// End ends an attempt that Begin has let through.
	End(ctx context.Context, ip netip.Addr, failed bool)
	// Clear ends the lockout of an address and forgets its failures. It reports whether there were
	// any.
	Clear(ctx context.Context, ip netip.Addr) bool
}

// Accounts counts failed attempts by account, which is named by a hash, and delays the next ones in browsers that
// the account does not know: after ten in five minutes, from a second, which each failure doubles, to a minute
// (decision 56).
type Accounts interface {
	// Begin begins an attempt in an unknown browser. If wait is 0, End follows; else the
	// credentials are not checked. Attempts in flight count as failed.
	Begin(ctx context.Context, account [32]byte) (wait time.Duration)
	// End ends an attempt that Begin has let through.
	End(ctx context.Context, account [32]byte, failed bool)
	// FailKnown counts a failure in a known browser, which is not delayed.
	FailKnown(ctx context.Context, account [32]byte)
	// Wait returns how long attempts in unknown browsers have to wait, and counts nothing; known is false
	// where that cannot be read.
	Wait(ctx context.Context, account [32]byte) (wait time.Duration, known bool)
	// Clear forgets the failures of an account and ends its delay. It reports whether there were any.
	// Attempts in flight go on.
	Clear(ctx context.Context, account [32]byte) bool
}

// Counter counts what several processes have to count together: by client, and for sign-in by the networks
// around one too.
type Counter interface {
	// Add counts an event of a client, or of a network, under a name, unless limit of them
	// are in the window that ends now: then it returns how long to wait.
	Add(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
	// Wait returns what Add would, and counts nothing.
	Wait(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) (wait time.Duration)
}
