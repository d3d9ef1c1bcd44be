package signin

import "net/netip"

// Unlock lets an address (IPv6: its /64) sign in again although too many attempts from there have
// failed, and reports whether any had. An operator who does so answers for the next ones.
func (s *SignIn) Unlock(ip netip.Addr) bool { return s.steps.Guard.Clear(ip) }
