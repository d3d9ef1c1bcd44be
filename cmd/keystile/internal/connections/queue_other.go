//go:build !linux

package connections

import "net"

// queued is not known on this system.
func queued(net.Conn) (n int, ok bool) { return 0, false }
