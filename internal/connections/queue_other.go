//go:build !linux

package connections

import (
	"net"
	"syscall"
)

// queued is not known on this system.
func queued(net.Conn) (n int, ok bool) { return 0, false }

func keepLittle(string, string, syscall.RawConn) error { return nil }
