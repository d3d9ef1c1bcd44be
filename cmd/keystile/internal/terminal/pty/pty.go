//go:build linux

// Package pty opens pseudo-terminals, for tests.
package pty

import (
	"os"
	"strconv"

	"golang.org/x/sys/unix"
)

// Open returns the two ends of a new pseudo-terminal: what is written to the terminal is
// read from the controller.
func Open() (controller, terminal *os.File, err error) {
	controller, err = os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	number := 0
	conn, err := controller.SyscallConn()
	if err == nil {
		var failed error
		err = conn.Control(func(fd uintptr) {
			if failed = unix.IoctlSetPointerInt(int(fd), unix.TIOCSPTLCK, 0); failed == nil {
				number, failed = unix.IoctlGetInt(int(fd), unix.TIOCGPTN)
			}
		})
		if err == nil {
			err = failed
		}
	}
	if err == nil {
		terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(number), os.O_RDWR|unix.O_NOCTTY, 0)
	}
	if err != nil {
		controller.Close()
		return nil, nil, err
	}
	return controller, terminal, nil
}
