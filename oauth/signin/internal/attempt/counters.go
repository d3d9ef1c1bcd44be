package attempt

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

// Lockout counts failed attempts by address; signin.Lockout says how.
type Lockout interface {
	Begin(ctx context.Context, ip netip.Addr) (wait time.Duration)
	End(ctx context.Context, ip netip.Addr, failed bool)
	Clear(ctx context.Context, ip netip.Addr) bool
}

// Delays counts failed attempts by account; signin.Delays says how.
type Delays interface {
	Begin(ctx context.Context, account [32]byte) (wait time.Duration)
	End(ctx context.Context, account [32]byte, failed bool)
	FailKnown(ctx context.Context, account [32]byte)
}

var _ Delays = (*limits.Delays)(nil)

// Alone returns a Lockout that counts in this process.
func Alone(c lockout.Config) Lockout { return alone{lockout.New(c)} }

type alone struct{ guard *lockout.Guard }

func (a alone) Begin(_ context.Context, ip netip.Addr) time.Duration  { return a.guard.Begin(ip) }
func (a alone) End(_ context.Context, ip netip.Addr, failed bool)     { a.guard.End(ip, failed) }
func (a alone) Clear(_ context.Context, ip netip.Addr) (cleared bool) { return a.guard.Clear(ip) }
