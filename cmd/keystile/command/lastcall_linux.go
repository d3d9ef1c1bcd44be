package command

import (
	"net"
	"os"
	"syscall"
)

// acceptAndClose accepts all that waits and, with nothing in between, has the system refuse what comes
// after it. The caller closes the listener.
func acceptAndClose(l *net.TCPListener) (all []net.Conn) {
	raw, err := l.SyscallConn()
	if err != nil {
		return nil
	}
	var fds []int
	raw.Control(func(fd uintptr) {
		for {
			conn, _, err := syscall.Accept4(int(fd), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
			switch err {
			case nil:
				fds = append(fds, conn)
			case syscall.EINTR, syscall.ECONNABORTED:
			default:
				syscall.Shutdown(int(fd), syscall.SHUT_RD) // from here on connections are refused
				return
			}
		}
	})
	for _, fd := range fds {
		f := os.NewFile(uintptr(fd), "connection")
		c, err := net.FileConn(f)
		f.Close()
		if err == nil {
			all = append(all, c)
		}
	}
	return all
}
