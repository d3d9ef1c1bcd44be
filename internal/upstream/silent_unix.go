//go:build unix

package upstream

import "syscall"

// canBeSilent says that a connection can be asked whether something has come on it, without waiting or reading it.
const canBeSilent = true

func silent(fd uintptr) bool {
	var one [1]byte
	for {
		_, _, err := syscall.Recvfrom(int(fd), one[:], syscall.MSG_PEEK) // sockets of package net do not block
		if err != syscall.EINTR {
			return err == syscall.EAGAIN
		}
	}
}
