package bolt

import (
	"cmp"
	"errors"
	"os"
	"sync"
	"time"

	"go.etcd.io/bbolt"
)

// ErrReadOnly is returned by every write to a Store that OpenReadOnly has opened.
var ErrReadOnly = errors.New("bolt: the data file is opened for reading only")

// OpenReadOnly opens the data file at path for reading. It changes nothing, on the disk or in
// the file, and needs no right to: the file, its folder and its file system may be read-only.
// Several may read one file at once. While somebody writes to it, it is in use, and as long
// as somebody reads it nobody opens it to write.
func OpenReadOnly(path string, opts Options) (*Store, error) {
	wait := cmp.Or(opts.Timeout, 2*time.Second)
	if _, err := os.Stat(path); err != nil {
		return nil, explain(path, err)
	}
	db, err := current(path, func() (*bbolt.DB, *os.File, error) { return opts.files.readOnce(path, wait) })
	if err != nil {
		return nil, err
	}
	s := &Store{db: db, quit: make(chan struct{}), readOnly: true}
	s.close = sync.OnceValue(func() error {
		close(s.quit)
		return db.Close()
	})
	return s, nil
}

// readOnce is openOnce for reading.
func (f files) readOnce(path string, wait time.Duration) (db *bbolt.DB, held *os.File, err error) {
	fresh, err := inspect(path, wait)
	if err == nil && fresh {
		err = errors.New("nothing was ever stored in it")
	}
	if err != nil {
		return nil, nil, explain(path, err)
	}
	db, err = open(path, bbolt.Options{Timeout: wait, ReadOnly: true, NoStatistics: true, OpenFile: f.holding(&held)})
	if err != nil {
		return nil, nil, explain(path, err)
	}
	if err := catchFaults(func() error { return db.View(checkRaised) }); err != nil {
		return nil, nil, explain(path, errors.Join(err, db.Close()))
	}
	return db, held, nil
}
