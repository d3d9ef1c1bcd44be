package tokenlog

import (
	"errors"
	"os"
	"syscall"
)

// flush leaves out the times of the file, which would cost a second write.
func flush(f *os.File) error {
	for {
		err := syscall.Fdatasync(int(f.Fd()))
		if !errors.Is(err, syscall.EINTR) {
			return os.NewSyscallError("fdatasync", err)
		}
	}
}
