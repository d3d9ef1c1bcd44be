//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package terminal

import "golang.org/x/sys/unix"

func answers(fd uintptr) bool {
	_, err := unix.IoctlGetTermios(int(fd), getAttributes)
	return err == nil
}
