package bolt

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"go.etcd.io/bbolt"
)

// Compacted holds the size of a file before and after.
type Compacted struct{ Before, After int64 }

// draftSuffix is behind the name of the new file until it is whole. One that is left by a
// process that died is replaced by the next compaction.
const draftSuffix = ".compacting"

// Compact rewrites the data file at path without the space that removed rows have left. It
// returns ErrInUse if another process has it open. The new file is written beside it,
// flushed, and compared with it row by row before it takes its name in one step; whatever
// fails, or ends the process, before that leaves the file as it was.
//
// It refuses damaged rows, as copies (Rows) do: a row written anew would have a good sum.
func Compact(path string) (Compacted, error) { return compact(path, func(string) error { return nil }) }

// compact calls behind each step with its name: tests end a compaction there.
func compact(path string, behind func(step string) error) (Compacted, error) {
	path, err := filepath.EvalSymlinks(path) // the file, not the link, is exchanged
	if err != nil {
		return Compacted{}, explain(path, err)
	}
	if _, err := os.Stat(path); err != nil { // opening would make one
		return Compacted{}, explain(path, err)
	}
	db, err := files{}.open(path, -1)
	if err != nil {
		return Compacted{}, err
	}
	c := compaction{path: path, draft: path + draftSuffix, from: db, behind: behind}
	err = catchFaults(c.run)
	if !c.closed {
		err = errors.Join(err, db.Close()) // which ends the lock
	}
	switch {
	case err != nil && c.renamed:
		return c.sizes, fmt.Errorf("bolt: %s is written anew, and whole; a power cut may bring the old file back, which is "+
			"as good: %w", path, err)
	case err != nil:
		return Compacted{}, explainCompact(path, err)
	}
	return c.sizes, nil
}

func explainCompact(path string, err error) error {
	if errors.Is(err, errPanic) || errors.Is(err, errDamaged) {
		return explain(path, err)
	}
	if errors.Is(err, fs.ErrPermission) {
		err = fmt.Errorf("a new file is made beside it, and this process may not write in that folder: %w", err)
	}
	return fmt.Errorf("bolt: %s was left as it is: %w", path, err)
}

var errDamaged = errors.New("it cannot be read whole")

// compaction is one Compact, while the lock on the file is held.
type compaction struct {
	path, draft string
	from        *bbolt.DB
	closed      bool // from is
	renamed     bool // the new file has the name
	behind      func(step string) error
	sizes       Compacted
}

func (c *compaction) run() error {
	defer func() {
		if !c.renamed {
			os.Remove(c.draft)
		}
	}()
	for _, s := range []struct {
		name string
		do   func() error
	}{
		{"look", c.look}, {"copy", c.copy}, {"give away", c.copyOwner}, {"cut", c.cut}, {"compare", c.compare},
		{"rename", c.rename},
	} {
		if err := s.do(); err != nil {
			return err
		}
		if err := c.behind(s.name); err != nil {
			return err
		}
	}
	return syncFolder(c.path)
}

// look reads the file from the first page to the last: what is damaged is not to be copied
// in part and then called whole.
func (c *compaction) look() error {
	info, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	c.sizes.Before = info.Size()
	file, err := os.Open(c.path)
	if err != nil {
		return err
	}
	defer file.Close()
	if err := checkOpened(c.from, file, Contents{}); err != nil {
		return fmt.Errorf("%w: %w", errDamaged, err)
	}
	return nil
}

// copyStep bounds what one transaction of the copy holds in memory, in bytes.
const copyStep = 8 << 20

func (c *compaction) copy() error {
	if err := os.Remove(c.draft); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	to, err := open(c.draft, bbolt.Options{FreelistType: bbolt.FreelistMapType, NoSync: true, NoGrowSync: true,
		NoStatistics: true, PageSize: c.from.Info().PageSize})
	if err != nil {
		return err
	}
	err = c.from.View(func(tx *bbolt.Tx) error {
		return tx.ForEach(func(name []byte, b *bbolt.Bucket) error { return copyBucket(to, name, b) })
	})
	return errors.Join(err, to.Sync(), to.Close())
}

// copyBucket copies a bucket in the order of its keys, so that its pages are filled.
func copyBucket(to *bbolt.DB, name []byte, b *bbolt.Bucket) error {
	tx, err := to.Begin(true)
	if err != nil {
		return err
	}
	defer func() { tx.Rollback() }() // of one that is committed it is nothing
	into, err := tx.CreateBucket(name)
	if err == nil {
		err = into.SetSequence(b.Sequence())
	}
	size := 0
	cursor := b.Cursor()
	for key, value := cursor.First(); key != nil && err == nil; key, value = cursor.Next() {
		if value == nil {
			return fmt.Errorf("%w: there is a bucket in the bucket %s", errDamaged, name)
		}
		if size += len(key) + len(value); size > copyStep {
			if err := tx.Commit(); err != nil {
				return err
			}
			if tx, err = to.Begin(true); err != nil {
				return err
			}
			size = 0
		}
		into = bucket(tx, string(name))
		if into.FillPercent < 0.9 {
			into.FillPercent = 0.8 // rows come in between again
		}
		err = into.Put(key, value)
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// cut takes off what the new file was given to grow into.
func (c *compaction) cut() error {
	db, err := open(c.draft, bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	err = db.View(func(tx *bbolt.Tx) error { c.sizes.After = tx.Size(); return nil })
	if err = errors.Join(err, db.Close()); err != nil {
		return err
	}
	file, err := os.OpenFile(c.draft, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(c.sizes.After), file.Sync(), file.Close())
}

// compare reads the new file from the disk, and each of its rows beside the old one.
func (c *compaction) compare() error {
	if _, err := Check(c.draft); err != nil {
		return fmt.Errorf("%w: %w", errNotSame, err)
	}
	db, err := open(c.draft, bbolt.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer db.Close()
	return c.from.View(func(old *bbolt.Tx) error {
		return db.View(func(tx *bbolt.Tx) error { return sameBuckets(old, tx) })
	})
}

var errNotSame = errors.New("the new file does not have the same rows; see whether the disk is well")

func sameBuckets(old, tx *bbolt.Tx) error {
	count := func(tx *bbolt.Tx) (n int) {
		tx.ForEach(func([]byte, *bbolt.Bucket) error { n++; return nil })
		return n
	}
	if count(old) != count(tx) {
		return errNotSame
	}
	return old.ForEach(func(name []byte, was *bbolt.Bucket) error {
		is := tx.Bucket(name)
		if is == nil || is.Sequence() != was.Sequence() {
			return errNotSame
		}
		a, b := was.Cursor(), is.Cursor()
		key, value := a.First()
		other, same := b.First()
		for ; key != nil; key, value = a.Next() {
			if !bytes.Equal(key, other) || !bytes.Equal(value, same) {
				return errNotSame
			}
			other, same = b.Next()
		}
		if other != nil {
			return errNotSame
		}
		return nil
	})
}

// copyOwner gives the new file the owner and the rights of the old one: an operator may
// compact what a service of another user owns.
func (c *compaction) copyOwner() error {
	info, err := os.Stat(c.path)
	if err != nil {
		return err
	}
	return errors.Join(os.Chmod(c.draft, info.Mode().Perm()), chown(c.draft, info))
}

func (c *compaction) rename() error {
	if runtime.GOOS == "windows" { // where an open file cannot be replaced
		c.closed = true
		if err := c.from.Close(); err != nil {
			return err
		}
	}
	err := os.Rename(c.draft, c.path)
	c.renamed = err == nil
	return err
}
