package attempt

import (
	"context"
	"net/netip"
	"time"

	"github.com/keystile/keystile/oauth/signin/internal/limits"
	"github.com/keystile/keystile/oauth/signin/lockout"
)

var _ lockout.Accounts = (*limits.Delays)(nil)

// Alone returns what counts in this process.
func Alone(c lockout.Config) lockout.Addresses { return alone{lockout.New(c)} }

type alone struct{ guard *lockout.Guard }

func (a alone) Begin(_ context.Context, ip netip.Addr) time.Duration  { return a.guard.Begin(ip) }
func (a alone) End(_ context.Context, ip netip.Addr, failed bool)     { a.guard.End(ip, failed) }
func (a alone) Clear(_ context.Context, ip netip.Addr) (cleared bool) { return a.guard.Clear(ip) }
