package bolt

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"

	"go.etcd.io/bbolt"
)

// makingInfix is between the name of a file and what makes a draft's name its own.
const makingInfix = ".making-"

// make makes the file at path, where none is. It is filled and synced under a name of its
// own, and then given the name in one step, which fails if somebody else has given it meanwhile:
// that one is then the file. So a power cut leaves no file, or a whole one.
//
// Where a file has one name only
// (FAT, some shares) it is made in place, and a power cut in its first moment may leave one that the next Open
// refuses. Every Open for writing syncs the folder, because the process that gave the name may have died before
// that, and removes drafts that were left.
func (f files) make(path string, wait time.Duration) error {
	path, err := behindLinks(path)
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+makingInfix)
	if err != nil {
		return err
	}
	defer os.Remove(draft.Name())
	if err := draft.Close(); err != nil {
		return err
	}
	if err := f.fill(draft.Name(), -1, func(error) {}); err != nil {
		return err
	}
	link := os.Link
	if f.link != nil {
		link = f.link
	}
	err = link(draft.Name(), path)
	switch {
	case err == nil, errors.Is(err, fs.ErrExist):
		return nil
	case errors.Is(err, fs.ErrNotExist): // who was faster has cleared the draft away
		return nil
	}
	return f.makeInPlace(path, wait)
}

// makeInPlace makes the file under its name, on file systems where a file has one name only. A
// rename would replace what another process has made meanwhile.
func (f files) makeInPlace(path string, wait time.Duration) error {
	return f.fill(path, wait, func(err error) {
		if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EFBIG) || errors.Is(err, syscall.EDQUOT) {
			os.Remove(path) // the next start would take it for a damaged one
		}
	})
}

// fill makes an empty file one of this format, on the disk. A failed attempt is undone before
// another process gets the lock.
func (f files) fill(path string, wait time.Duration, undo func(error)) error {
	db, err := open(path, bbolt.Options{Timeout: wait, FreelistType: bbolt.FreelistMapType, NoStatistics: true,
		OpenFile: f.openNoted})
	if err != nil {
		undo(err)
		return err
	}
	write := prepare
	if f.firstWrite != nil {
		write = f.firstWrite
	}
	if err := catchFaults(func() error { return db.Update(write) }); err != nil {
		undo(err)
		return errors.Join(err, db.Close())
	}
	return db.Close()
}

// openNoted opens a file and says so.
func (f files) openNoted(name string, flag int, mode os.FileMode) (*os.File, error) {
	file, err := os.OpenFile(name, flag, mode)
	if f.opened != nil {
		f.opened()
	}
	return file, err
}

// clearDrafts removes what processes that died have left beside the file. One that is at work
// has lost already: the name is given.
func clearDrafts(path string) {
	beside, _ := os.ReadDir(filepath.Dir(path)) // a folder that may not be read, or written, keeps them
	for _, e := range beside {
		if e.Type().IsRegular() && strings.HasPrefix(e.Name(), filepath.Base(path)+makingInfix) {
			os.Remove(filepath.Join(filepath.Dir(path), e.Name()))
		}
	}
}

// behindLinks is the path that a symbolic link leads to, even if nothing is there yet.
func behindLinks(path string) (string, error) {
	for range 40 { // as many as systems follow
		to, err := os.Readlink(path)
		if err != nil {
			return path, nil
		}
		if !filepath.IsAbs(to) {
			to = filepath.Dir(path) + string(filepath.Separator) + to // not cleaned: .. may be behind another link
		}
		path = to
	}
	return "", fmt.Errorf("%s: %w", path, syscall.ELOOP)
}

// syncFolder makes a file's name survive a power cut. Not every system can.
func syncFolder(path string) error {
	folder, err := os.Open(filepath.Dir(path))
	if err != nil || runtime.GOOS == "windows" {
		return nil
	}
	defer folder.Close()
	err = folder.Sync()
	if errors.Is(err, syscall.EINVAL) || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return err
}
