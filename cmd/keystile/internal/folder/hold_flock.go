//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// hold takes the lock that the store takes on its file: whoever has the store open keeps us
// out, and we them. It works with a damaged file too. Where there is no file there is
// nothing to hold.
func hold(path string) (release func() error, err error) {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return func() error { return nil }, nil
	}
	if err != nil {
		return nil, err
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		return nil, errors.Join(fmt.Errorf("%s is in use: stop the server that has it open, then try again", path),
			file.Close())
	case err != nil:
		return nil, errors.Join(&fs.PathError{Op: "lock", Path: path, Err: err}, file.Close())
	}
	// It may have been exchanged in between: then the lock is on a file without a name.
	is, err := file.Stat()
	has, failed := os.Stat(path)
	if err = errors.Join(err, failed); err == nil && !os.SameFile(is, has) {
		err = fmt.Errorf("%s was exchanged for another file at this moment; try again", path)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file.Close, nil
}
