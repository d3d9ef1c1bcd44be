//go:build !unix

package connections

// files is a number that should do where the system has no limit to ask for.
func files() int { return 1 << 14 }
