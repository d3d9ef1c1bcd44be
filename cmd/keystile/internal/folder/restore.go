package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/keystile/keystile/internal/wholefile"
)

// Restore puts what fill writes in the place of the database, if check finds nothing wrong
// with it, and returns where the old one is now, "" if there was none. At no moment is
// there no database, and until the last step nothing has changed. Nobody may have the old
// one open.
//
// beside are the endings of files that belong to a database, such as the "-wal" that a killed
// process leaves. They go with the old one, for a log of another database would be replayed over
// the new one. If the process is killed between that and the last step, the old database is whole
// under its new name only, and restoring again goes on.
//
// The folder belongs to the store of what was restored, whichever it is.
func (f *Folder) Restore(now time.Time, fill func(io.Writer) error, check func(path string) error,
	beside ...string) (kept string, err error) {
	release, err := hold(f.Database())
	if err != nil {
		return "", err
	}
	defer release()
	temp, err := wholefile.Draft(f.Database(), fill)
	if err != nil {
		return "", err
	}
	defer func() {
		for _, ending := range append([]string{""}, beside...) {
			os.Remove(temp + ending)
		}
	}()
	if err := check(temp); err != nil {
		return "", err
	}
	name := f.Database() + ".before-restore-" + now.UTC().Format("20060102T150405.000Z")
	kept = name
	switch err := os.Link(f.Database(), kept); {
	case errors.Is(err, fs.ErrNotExist):
		kept = ""
	case err != nil:
		return "", fmt.Errorf("the old database cannot be kept: %w", err)
	}
	for _, ending := range beside {
		if err := os.Rename(f.Database()+ending, name+ending); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("the old database cannot be kept: %w", err)
		}
	}
	if err := f.Disown(); err != nil {
		return "", err
	}
	if err := os.Rename(temp, f.Database()); err != nil {
		return "", err
	}
	return kept, wholefile.SyncDir(f.path)
}

// Snapshot writes a file with mode 0600 for a copy of the database, in the folder. The caller
// removes it.
func (f *Folder) Snapshot(fill func(io.Writer) error) (path string, err error) {
	return wholefile.Draft(f.Database(), fill)
}
