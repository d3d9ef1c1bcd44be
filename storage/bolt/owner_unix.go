//go:build unix

package bolt

import (
	"io/fs"
	"os"
	"syscall"
)

// chown gives a file the owner and the group of another, if they are not its own already.
func chown(path string, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	info, err := os.Stat(path)
	if err != nil || !ok {
		return err
	}
	if is, ok := info.Sys().(*syscall.Stat_t); ok && is.Uid == want.Uid && is.Gid == want.Gid {
		return nil
	}
	return os.Chown(path, int(want.Uid), int(want.Gid))
}
