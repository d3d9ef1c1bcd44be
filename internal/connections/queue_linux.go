package connections

import (
	"net"
	"syscall"
	"unsafe"
)

// queued returns how many bytes written to a connection its peer has not acknowledged.
func queued(nc net.Conn) (n int, ok bool) {
	tcp, ok := nc.(*net.TCPConn)
	if !ok {
		return 0, false
	}
	raw, err := tcp.SyscallConn()
	if err != nil {
		return 0, false
	}
	var bytes int32
	var errno syscall.Errno
	err = raw.Control(func(fd uintptr) {
		_, _, errno = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCOUTQ, uintptr(unsafe.Pointer(&bytes)))
	})
	return int(bytes), err == nil && errno == 0
}

// mostUnsent bounds how many bytes the kernel buffers beyond those in flight.
const mostUnsent = 128 << 10

const tcpNotSentLowAt = 25 // TCP_NOTSENT_LOWAT, which package syscall does not name

// keepLittle has the kernel keep little for clients that do not read, at all connections of a
// listener: without it, each of them costs what its buffers may grow to, which is megabytes, and
// the time to fill them. It does not bound the bytes in flight on the network.
func keepLittle(_, _ string, listener syscall.RawConn) error {
	return listener.Control(func(fd uintptr) { // a kernel that does not know it keeps more
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowAt, mostUnsent)
	})
}
