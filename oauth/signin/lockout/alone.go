package lockout

import (
	"context"
	"net/netip"
	"time"
)

// Alone returns Addresses that one process counts, by a Guard.
func Alone(c Config) Addresses { return alone{New(c)} }

type alone struct{ guard *Guard }

func (a alone) Begin(_ context.Context, ip netip.Addr) time.Duration  { return a.guard.Begin(ip) }
func (a alone) End(_ context.Context, ip netip.Addr, failed bool)     { a.guard.End(ip, failed) }
func (a alone) Clear(_ context.Context, ip netip.Addr) (cleared bool) { return a.guard.Clear(ip) }
