package signin

import (
	"context"
	"net/netip"
)

// Unlock ends the lockout of an address (IPv6: of its /64), and reports whether it had failed
// attempts.
func (s *SignIn) Unlock(ctx context.Context, ip netip.Addr) bool {
	return s.steps.Guard.Clear(ctx, ip)
}
