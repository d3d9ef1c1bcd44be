package bolt

import (
	"errors"
	"os"
	"strconv"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
)

// The mark of a file says that tokens may be in a log beside it, and in which. A version that knows of no log must not
// open such a file, so its format is one that none has: openMark above its own, and its layout too. The rest of the
// file is as it was, and when everything is in it again it says its own format: that version can have it then.
const (
	openMark  = 1000
	markSince = "v0.2.0"
)

// markKey is in aboutBucket the ID of the log and, behind it, what sinceKey had.
var markKey = []byte("token log")

// readMark takes the mark off what a file says of itself.
func (l *layout) readMark(about *bbolt.Bucket) error {
	mark := about.Get(markKey)
	if l.format < openMark && mark == nil {
		return nil
	}
	l.format, l.taken = l.format-openMark, l.taken-openMark
	if l.format < firstFormat || l.taken < l.format || len(mark) < len(l.log) {
		return errors.New("what it says of its token log cannot be read")
	}
	l.logged, l.log, l.since = true, tokenlog.ID(mark), string(mark[len(l.log):])
	return nil
}

// mark notes that there is a log.
func mark(tx *bbolt.Tx, id tokenlog.ID) error {
	l, err := readLayout(tx)
	if err != nil {
		return err
	}
	about := bucket(tx, aboutBucket)
	return errors.Join(
		about.Put(markKey, append(id[:], l.since...)),
		about.Put(formatKey, []byte(strconv.Itoa(l.format+openMark))),
		about.Put(layoutKey, []byte(strconv.Itoa(l.taken+openMark))),
		about.Put(sinceKey, []byte(markSince)))
}

// unmark notes that everything is in the file.
func unmark(tx *bbolt.Tx) error {
	l, err := readLayout(tx)
	if err != nil || !l.logged {
		return err
	}
	about := bucket(tx, aboutBucket)
	err = errors.Join(about.Delete(markKey), about.Put(formatKey, []byte(strconv.Itoa(l.format))))
	if l.since != "" {
		err = errors.Join(err, about.Put(sinceKey, []byte(l.since)))
	} else {
		err = errors.Join(err, about.Delete(sinceKey))
	}
	if l.taken > l.format {
		return errors.Join(err, about.Put(layoutKey, []byte(strconv.Itoa(l.taken))))
	}
	return errors.Join(err, about.Delete(layoutKey))
}

// replay puts into a file what a process that has died has left in the log, and removes that.
func replay(db *bbolt.DB, path string) error {
	rows, logged, err := leftInLog(db, path)
	if err != nil {
		return err
	}
	if logged {
		err := db.Update(func(tx *bbolt.Tx) error {
			return catchFaults(func() error {
				table := tokenTable{tx: tx}
				for _, r := range rows {
					if err := table.put(r); err != nil {
						return err
					}
				}
				return unmark(tx)
			})
		})
		if err != nil {
			return &logError{path, err}
		}
	}
	os.Remove(path + LogSuffix) // nothing in it counts any more
	return nil
}

// leftInLog returns what is in the log of a file and not in the file.
func leftInLog(db *bbolt.DB, path string) (rows []tokenlog.Row, logged bool, err error) {
	err = db.View(func(tx *bbolt.Tx) error {
		l, err := readLayout(tx)
		if err != nil || !l.logged {
			return err
		}
		logged = true
		rows, err = tokenlog.Read(path+LogSuffix, l.log, uint64(tx.ID()))
		for _, r := range rows {
			if _, damaged := openToken(r.Key[:], r.Value); damaged != nil {
				err = errors.Join(err, damaged)
			}
		}
		if err != nil {
			return &logError{path, err}
		}
		return nil
	})
	return rows, logged, err
}

// logError says what is wrong with the log of a file.
type logError struct {
	path string
	err  error
}

func (e *logError) Error() string { return e.err.Error() }
func (e *logError) Unwrap() error { return e.err }

// advice returns what to do about it.
func (e *logError) advice() string {
	if errors.Is(e.err, tokenlog.ErrMissing) {
		return "put the log back beside the file, or a backup in the place of the file"
	}
	if row := (*damaged)(nil); errors.Is(e.err, tokenlog.ErrDamaged) || errors.As(e.err, &row) {
		return "both were left as they are; put a backup in their place"
	}
	return "both are whole; see whether the disk is full, and start again"
}
