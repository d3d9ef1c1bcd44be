package folder

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// maxSocket is the longest path of a socket; the kernel's own limit is 108 bytes, 104 on
// some systems.
const maxSocket = 100

// Socket is the path of the admin socket. Where the folder's own path is too long for
// one, it is in a folder of ours in the temp folder, named by a hash.
func (f *Folder) Socket() (string, error) {
	path := filepath.Join(f.path, socket)
	if len(path) <= maxSocket {
		return path, nil
	}
	dir := filepath.Join(os.TempDir(), "keystile-"+strconv.Itoa(os.Getuid()))
	if err := private(dir); err != nil {
		return "", err
	}
	sum := sha256.Sum256([]byte(f.path))
	return filepath.Join(dir, hex.EncodeToString(sum[:8])+".sock"), nil
}

// private makes a folder, or makes sure that an existing one belongs to this user alone: anybody
// may put a folder into the temp folder, and passwords are sent to the owner of the socket there.
func private(dir string) error {
	if _, err := mkdir(dir, 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !info.IsDir() || shared(info.Mode()) || !mine(info) {
		return fmt.Errorf("%s is not a private folder of this user; remove it, or choose a data folder with a shorter path",
			dir)
	}
	return nil
}

// Listen opens the admin socket with mode 0600. Only who holds the store may call it: it
// removes the socket that a killed server has left.
func (f *Folder) Listen(ctx context.Context) (net.Listener, error) {
	path, err := f.Socket()
	if err != nil {
		return nil, err
	}
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// The mode is set before the name exists, so that there is no moment in which others
	// may connect.
	quiet := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error { return c.Control(narrow) }}
	l, err := quiet.Listen(ctx, "unix", path)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}
