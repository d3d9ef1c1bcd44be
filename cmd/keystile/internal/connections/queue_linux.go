package connections

import (
	"net"
	"syscall"
	"unsafe"
)

// queued is how many bytes were written to a connection that its peer has not acknowledged.
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
