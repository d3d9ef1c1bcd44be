package bolt

import (
	"errors"
	"fmt"
	"os"
	"time"

	"go.etcd.io/bbolt"
)

// Contents counts what is in a file: documents by kind, and tokens, revocations, usage rows
// and audit records under these names. Rows that a version without checksums has written last, of which
// a changed text is not noticed, are counted as Unsummed, if there are any.
type Contents map[string]int

// Unsummed is the name under which Contents has the rows that have no checksum.
const Unsummed = "rows without a checksum"

// Check reads a file that nobody writes to, from the first page to the last, and reports
// what is in it, or what is wrong with it. It changes nothing. Every page must be in its
// place, every row what was written there, and the index as the documents have it. Its error
// names each damaged row, up to a hundred of them.
//
// It walks the pages itself before bbolt's own check does: that one follows a damaged page out of the file or
// in a circle, in a goroutine where no fault can be caught.
func Check(path string) (Contents, error) {
	fresh, err := inspect(path, time.Second)
	if err == nil && fresh {
		err = fmt.Errorf("nothing was ever stored in it")
	}
	if err != nil {
		return nil, explain(path, err)
	}
	found := Contents{}
	if err := check(path, found); err != nil {
		return nil, explain(path, err)
	}
	return found, nil
}

func check(path string, found Contents) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer file.Close()
	db, err := open(path, bbolt.Options{Timeout: time.Second, ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	rows, _, err := leftInLog(db, realPath(path))
	for _, r := range rows {
		if r.New {
			found["tokens"]++
		}
	}
	return errors.Join(err, checkOpened(db, file, found))
}

// checkOpened is check of an open file; its pages are read from file.
func checkOpened(db *bbolt.DB, file *os.File, found Contents) error {
	return catchFaults(func() error {
		return db.View(func(tx *bbolt.Tx) error {
			pages, err := newPages(file, db.Info().PageSize, uint64(tx.ID()))
			if err != nil {
				return err
			}
			err = pages.check()
			switch {
			case errors.Is(err, errOrder): // one damaged key is no reason not to name its row
				return errors.Join(err, catchFaults(func() error { return checkRows(tx, found) }))
			case err != nil:
				return err
			}
			var first error
			for err := range tx.Check() { // to its end: it blocks until somebody receives
				if first == nil {
					first = err
				}
			}
			if first != nil {
				return first
			}
			return checkRows(tx, found)
		})
	})
}
