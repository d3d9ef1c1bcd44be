package signin

import "net/netip"

// Unlock ends the lockout of an address (IPv6: of its /64), and reports whether it had failed
// attempts.
func (s *SignIn) Unlock(ip netip.Addr) bool { return s.steps.Guard.Clear(ip) }
