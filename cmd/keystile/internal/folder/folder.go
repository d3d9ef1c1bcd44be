package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/keystile/keystile/internal/wholefile"
)

// Names of the files.
const (
	database  = "keystile.db"
	masterKey = "master.key"
	firstRun  = "first-run.json"
	socket    = "admin.sock"
	journal   = "usage"
	mail      = "mail"
)

// Folder is a data folder that is there.
type Folder struct {
	path string // absolute, without symbolic links: everybody computes the same socket from it
	made bool

	madeKey bool // MasterKeys has made its own file
}

// Find returns a folder that is there. One that is not is an error that says how to make
// it: a mistyped name must not become a new, empty service.
func Find(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	info, err := os.Stat(abs)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, &missingError{abs, path}
	case err == nil && !info.IsDir():
		err = &fs.PathError{Op: "open", Path: abs, Err: syscall.ENOTDIR}
	}
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be used: %w; name the right one with --data", err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	return &Folder{path: abs}, nil
}

// missingError says that there is no data folder. It is fs.ErrNotExist.
type missingError struct{ abs, named string }

func (e *missingError) Error() string {
	return fmt.Sprintf("there is no data folder %s: name the right one with --data, or make it by starting the service: "+
		"keystile serve --data %s", e.abs, e.named)
}

func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// Open returns the folder, made if it is missing.
func Open(path string) (*Folder, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	made, err := mkdir(abs, 0o700)
	if err != nil {
		return nil, fmt.Errorf("the data folder cannot be used: %w; choose another one with --data", err)
	}
	if abs, err = filepath.EvalSymlinks(abs); err != nil {
		return nil, err
	}
	f := &Folder{path: abs, made: made}
	if _, err := os.Stat(f.Database()); !made && errors.Is(err, fs.ErrNotExist) {
		wholefile.SyncDir(filepath.Dir(abs)) // the start that made it may have been killed before it did so
	}
	return f, nil
}

// Path is the absolute path of the folder.
func (f *Folder) Path() string { return f.path }

// Made reports whether Open has made the folder.
func (f *Folder) Made() bool { return f.made }

// Database is the path of the store's file.
func (f *Folder) Database() string { return filepath.Join(f.path, database) }

// Journal is the path of the folder where charged calls are written down.
func (f *Folder) Journal() string { return filepath.Join(f.path, journal) }

// Mail is the path of the folder where mails are that no server takes.
func (f *Folder) Mail() string { return filepath.Join(f.path, mail) }

// FirstRun is the path of what the first run has written down.
func (f *Folder) FirstRun() string { return filepath.Join(f.path, firstRun) }

// Warning says what others may do with the folder, and the mend; "" if nothing.
func (f *Folder) Warning() string {
	info, err := os.Stat(f.path)
	if err != nil || !shared(info.Mode()) {
		return ""
	}
	return fmt.Sprintf("the data folder is open to other users (mode %04o); if it can be private, run: chmod 700 %s",
		info.Mode().Perm(), f.path)
}

// mkdir makes a folder with exactly this mode, and its parents if they are missing. It reports
// whether it has made it. The new folder survives a power cut, unless its parent may not be read.
func mkdir(path string, mode fs.FileMode) (bool, error) {
	err := os.Mkdir(path, mode)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := mkdir(filepath.Dir(path), 0o755); err != nil {
			return false, err
		}
		err = os.Mkdir(path, mode)
	}
	if err == nil {
		synced := wholefile.SyncDir(filepath.Dir(path))
		if errors.Is(synced, fs.ErrPermission) {
			synced = nil
		}
		return true, errors.Join(os.Chmod(path, mode), synced)
	}
	if !errors.Is(err, fs.ErrExist) {
		return false, err
	}
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "open", Path: path, Err: syscall.ENOTDIR}
	}
	return false, err
}
