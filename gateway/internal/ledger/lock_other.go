//go:build !(darwin || dragonfly || freebsd || linux || netbsd || openbsd)

package ledger

import (
	"errors"
	"io"
)

// hold refuses: two processes on one journal would send the same calls under one number
// and remove each other's files.
func hold(string) (io.Closer, error) {
	return nil, errors.New("this system has no flock; leave the folder of the usage journal empty to count in memory")
}
