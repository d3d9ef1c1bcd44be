package command

import "os"

// ballast makes the garbage collector of a small heap run less often, by giving it a base to grow from:
// with a few megabytes alive, a busy service would collect dozens of times a second. It costs at most as
// much memory again as the base, however large the heap is, which a higher GOGC would not, and no heap is
// too large for it, as for a GOMEMLIMIT. The base itself is never used, so the system need not provide it:
// what the runtime cleared for it, because it was garbage before, is given back. If GOGC is set, there is
// no ballast.
func ballast() (base []byte) {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	base = make([]byte, ballastSize)
	giveBack(base)
	return base
}

const ballastSize = 24 << 20
