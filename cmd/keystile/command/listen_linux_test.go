package command

import (
	"net"
	"syscall"
	"testing"
)

// The program listens so that the kernel keeps little for clients that do not read.
func TestListenersBoundWhatTheKernelKeeps(t *testing.T) {
	at, err := listen(t.Context(), "--listen", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer at.Close()
	raw, err := at.(*net.TCPListener).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	const tcpNotSentLowAt = 25
	err = raw.Control(func(fd uintptr) {
		if n, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpNotSentLowAt); err != nil || n <= 0 || n > 1<<20 {
			t.Errorf("a connection may have %d bytes that cannot be sent yet: %v; want some KiB", n, err)
		}
		if protocol, err := syscall.GetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_PROTOCOL); err != nil ||
			protocol != syscall.IPPROTO_TCP {
			t.Errorf("the protocol is %d: %v; want TCP, not Multipath TCP", protocol, err)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
}
