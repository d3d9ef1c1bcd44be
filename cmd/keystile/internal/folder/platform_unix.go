//go:build unix

package folder

import (
	"io/fs"
	"os"
	"syscall"
)

// shared reports whether others than the owner may do anything with what has this mode.
func shared(mode fs.FileMode) bool { return mode.Perm()&0o077 != 0 }

// mine reports whether this user owns a file.
func mine(info fs.FileInfo) bool {
	owner, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(owner.Uid) == os.Getuid()
}

// narrow gives a socket that has no name yet the mode it will have. Systems other than
// Linux refuse; there the folder protects it.
func narrow(fd uintptr) { syscall.Fchmod(int(fd), 0o600) }
