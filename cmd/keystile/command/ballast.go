package command

import "os"

// ballast makes the garbage collector of a small heap run less often, by giving it a base
// to grow from: with a few megabytes alive, a busy service would collect dozens of times
// a second. It costs at most as much memory again as the base, however large the heap is,
// which a higher GOGC would not. The base itself is never touched, so the system never
// provides it. Who sets GOGC has decided, and there is none.
func ballast() (base []byte) {
	if os.Getenv("GOGC") != "" {
		return nil
	}
	return make([]byte, 24<<20)
}
