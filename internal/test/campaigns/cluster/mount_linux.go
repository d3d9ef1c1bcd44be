package main

import (
	"fmt"
	"syscall"
)

// mount makes a folder a file system of its own, of so many bytes.
func mount(folder string, size int) error {
	return syscall.Mount("keystile", folder, "tmpfs", 0, fmt.Sprintf("size=%d,mode=0700", size))
}

func unmount(folder string) error { return syscall.Unmount(folder, syscall.MNT_DETACH) }
