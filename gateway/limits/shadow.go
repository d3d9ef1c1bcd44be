package limits

// Shadow names the rates that are counted and reported, and refuse nobody: so an operator sees whom a
// limit would meet before it does. Its zero value is none. It is about rates alone: locks and
// delays of sign-ins, and the limits of codes and secrets, keep intruders out and are not among them.
type Shadow struct {
	Addresses bool     // that of addresses, with those of sessions and users that count in their place
	Tiers     []string // those of applications that are on one of these tiers
}
