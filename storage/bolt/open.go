package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
)

// files says how files are made and opened. A field that is nil stands for the function named beside it.
type files struct {
	link       func(old, name string) error // os.Link: gives a file its name
	firstWrite func(*bbolt.Tx) error        // prepare: writes a file first
	opened     func()                       // is called where a file is open and not locked yet

	log    func(path string) (tokenlog.File, error) // tokenlog.OpenFile: makes the token log
	logAge time.Duration                            // how old a row of it gets; 0: the constant
}

// open looks at the file first and opens it for writing only if it is fit: opening
// it so at once would change a file of another program, and make one of a file that
// something has emptied. A file that was exchanged for another one while its lock was waited for,
// as by a restore or a compaction, is opened anew: writes to the old one would be lost.
func (f files) open(path string, wait time.Duration) (*bbolt.DB, error) {
	return current(path, func() (*bbolt.DB, *os.File, error) { return f.openOnce(path, wait) })
}

// current opens a file until the one that is open has the name.
func current(path string, once func() (*bbolt.DB, *os.File, error)) (*bbolt.DB, error) {
	for range exchanges {
		db, held, err := once()
		if err != nil || named(path, held) {
			return db, err
		}
		if err := db.Close(); err != nil {
			return nil, explain(path, err)
		}
	}
	return nil, fmt.Errorf("bolt: %s is exchanged for another file again and again; stop whatever does it", path)
}

// exchanges bound how often a file that was exchanged is opened anew.
const exchanges = 5

// holding opens a file for bbolt and keeps it. A file is made by make alone.
func (f files) holding(held **os.File) func(string, int, os.FileMode) (*os.File, error) {
	return func(name string, flag int, mode os.FileMode) (*os.File, error) {
		file, err := f.openNoted(name, flag&^os.O_CREATE, mode)
		*held = file
		return file, err
	}
}

// named reports whether an open file is the one that has the name.
func named(path string, held *os.File) bool {
	is, err := held.Stat()
	has, failed := os.Stat(path)
	return err == nil && failed == nil && os.SameFile(is, has)
}

// openOnce also returns the file behind the database, which is closed with it.
func (f files) openOnce(path string, wait time.Duration) (db *bbolt.DB, held *os.File, err error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		if err := f.make(path, wait); err != nil {
			return nil, nil, explain(path, err)
		}
	}
	fresh, err := inspect(path, wait)
	if err != nil {
		return nil, nil, explain(path, err)
	}
	db, err = open(path, bbolt.Options{
		Timeout:         wait,
		FreelistType:    bbolt.FreelistMapType,
		InitialMmapSize: mapped(),
		NoStatistics:    true, // they cost every reader a lock
		OpenFile:        f.holding(&held),
	})
	if err != nil {
		return nil, nil, explain(path, err)
	}
	if !named(path, held) {
		return db, held, nil // to be closed, and nothing written
	}
	if err := catchFaults(func() error { return begin(db, path, fresh) }); err != nil {
		return nil, nil, explain(path, errors.Join(err, db.Close()))
	}
	return db, held, nil
}

// begin brings a file that is ours by now to this format, and sees that its name is on the
// disk: the process that has given it may have died before.
//
// The list of free pages is kept in the file. That costs 1.1 times the commit, and 1.5 times it right after
// most of 300,000 tokens were swept at once, but opening reads no more than that list: 0.1 ms at 10^6 tokens,
// where scanning for free pages takes over 1,000 times as long and grows with the file. 4 GiB of address space
// are mapped from the start, so a backup that reads for minutes never holds up the writer while the file grows.
func begin(db *bbolt.DB, path string, fresh bool) error {
	path, err := filepath.EvalSymlinks(path)
	if err != nil {
		return err
	}
	clearDrafts(path)
	if fresh {
		err = db.Update(prepare)
	} else if err = replay(db, path); err == nil {
		err = raise(db)
	}
	return errors.Join(err, syncFolder(path))
}

// realPath returns where an open file lies.
func realPath(path string) string {
	if lies, err := filepath.EvalSymlinks(path); err == nil {
		return lies
	}
	return path
}

// inspect reports whether nothing was ever written to path, and what makes it unfit.
func inspect(path string, wait time.Duration) (fresh bool, err error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return true, nil
	case err != nil:
		return false, err
	case info.IsDir():
		return false, errors.New("it is a folder")
	case info.Size() == 0:
		return false, errors.New("it is empty, so something has cut it off (if nothing was ever stored in it, remove it)")
	}
	db, err := open(path, bbolt.Options{Timeout: wait, ReadOnly: true})
	if err != nil {
		return false, err
	}
	err = catchFaults(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			if err := complete(path, tx.Size()); err != nil {
				return err
			}
			first, _ := tx.Cursor().First()
			fresh = first == nil // left so by versions that made the file under its name
			return checkFormat(tx, fresh)
		})
	})
	return fresh, errors.Join(err, db.Close())
}

// complete keeps us from pages behind the end of a file that was cut off: touching the
// mapping there is a fault.
func complete(path string, size int64) error {
	info, err := os.Stat(path)
	if err == nil && info.Size() < size {
		err = fmt.Errorf("it is cut off: %d of %d bytes are there", info.Size(), size)
	}
	return err
}

// open turns bbolt's panics at a damaged file into errors. It cannot turn back what
// bbolt has locked by then: that stays until the process ends, or the file is replaced.
func open(path string, o bbolt.Options) (db *bbolt.DB, err error) {
	err = catchFaults(func() error {
		db, err = bbolt.Open(path, 0o600, &o)
		return err
	})
	return db, err
}

// mapped is the address space reserved for the file. While it fits, an open reader (a
// backup) never holds up the writer. Address space is free where there are 64 bits; on
// Windows bbolt makes the file itself as large, so there it grows step by step.
func mapped() int {
	if runtime.GOOS == "windows" {
		return 0
	}
	return 1 << (strconv.IntSize / 2) // 4 GiB
}

// ErrInUse: another process has the file open.
var ErrInUse = errors.New("in use by another process")

// explain returns what is wrong with a file and what to do.
func explain(path string, err error) error {
	var errno syscall.Errno
	var row *damaged
	var log *logError
	switch {
	case errors.As(err, &log):
		return fmt.Errorf("bolt: %s: its process was killed, and the tokens of its last second are in %s: %w; %s", path,
			log.path+LogSuffix, err, log.advice())
	case errors.As(err, &row), errors.Is(err, errOrder):
		return fmt.Errorf("bolt: %s is damaged and was left as it is; put a backup in its place: %w", path, err)
	case errors.Is(err, errOlder):
		return fmt.Errorf("bolt: %s: %w", path, err)
	case errors.Is(err, errNotRaised):
		return fmt.Errorf("bolt: %s is whole, and of an older version: %w; see whether the disk is full, and start again, "+
			"or use the version before", path, err)
	case errors.Is(err, driver.ErrNewer):
		return fmt.Errorf("bolt: %s was left as it is: %w", path, err)
	case errors.Is(err, berrors.ErrTimeout):
		return fmt.Errorf("bolt: %s is %w; stop it, or choose another data folder", path, ErrInUse)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("bolt: %s: this process may not read and write there; give it the right, or choose another data "+
			"folder: %w", path, err)
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("bolt: %s: the folder is not there; make it, or choose another data folder: %w", path, err)
	case errors.As(err, &errno):
		return fmt.Errorf("bolt: %s cannot be opened: %w", path, err)
	}
	return fmt.Errorf("bolt: %s is damaged, or no data file of Keystile, and was left as it is; put a backup in its "+
		"place, or choose another data folder: %w", path, err)
}
