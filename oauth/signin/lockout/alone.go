package lockout

import (
	"context"
	"net/netip"
	"time"
)

// Alone returns Addresses that one process counts, by a Guard. They stand in for some that several
// processes share if share is not nil: it then returns which part of a limit is this process's own,
// from 1 to all of it.
func Alone(c Config, share func(limit int) int) Addresses { return alone{newShare(c, share)} }

type alone struct{ guard *Guard }

func (a alone) Begin(_ context.Context, ip netip.Addr) time.Duration  { return a.guard.Begin(ip) }
func (a alone) End(_ context.Context, ip netip.Addr, failed bool)     { a.guard.End(ip, failed) }
func (a alone) Clear(_ context.Context, ip netip.Addr) (cleared bool) { return a.guard.Clear(ip) }
