//go:build linux

// Package pty opens pseudo-terminals, for tests.
package pty

import (
	"errors"
	"os"
	"strconv"
	"syscall"
	"unsafe"
)

// Open returns the two ends of a new pseudo-terminal: what is written to the terminal is
// read from the controller. The caller closes both.
func Open() (controller, terminal *os.File, err error) {
	controller, err = os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	locked, number := int32(0), int32(0)
	err = errors.Join(control(controller, syscall.TIOCSPTLCK, &locked), control(controller, syscall.TIOCGPTN, &number))
	if err == nil {
		terminal, err = os.OpenFile("/dev/pts/"+strconv.Itoa(int(number)), os.O_RDWR|syscall.O_NOCTTY, 0)
	}
	if err != nil {
		return nil, nil, errors.Join(err, controller.Close())
	}
	return controller, terminal, nil
}

// control does one ioctl(2) that reads or writes a number.
func control(f *os.File, request uintptr, number *int32) error {
	conn, err := f.SyscallConn()
	if err != nil {
		return err
	}
	var failed syscall.Errno
	err = conn.Control(func(fd uintptr) {
		_, _, failed = syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(number)))
	})
	if failed != 0 {
		err = errors.Join(err, failed)
	}
	return err
}
