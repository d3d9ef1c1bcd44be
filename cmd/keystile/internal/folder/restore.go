package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"
)

// Restore puts what fill writes in the place of the database, if check finds nothing wrong
// with it, and returns where the old one is now, "" if there was none. At no moment is
// there no database, and until the last step nothing has changed. Nobody may have the old
// one open.
func (f *Folder) Restore(now time.Time, fill func(io.Writer) error, check func(path string) error) (kept string, err error) {
	release, err := hold(f.Database())
	if err != nil {
		return "", err
	}
	defer release()
	temp, err := draft(f.Database(), fill)
	if err != nil {
		return "", err
	}
	defer os.Remove(temp)
	if err := check(temp); err != nil {
		return "", err
	}
	kept = f.Database() + ".before-restore-" + now.UTC().Format("20060102T150405.000Z")
	switch err := os.Link(f.Database(), kept); {
	case errors.Is(err, fs.ErrNotExist):
		kept = ""
	case err != nil:
		return "", fmt.Errorf("the old database cannot be kept: %w", err)
	}
	if err := os.Rename(temp, f.Database()); err != nil {
		return "", err
	}
	return kept, syncDir(f.path)
}
