package bolt

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
)

// raising raises the layout of a file by one, in one transaction together with the note that it was
// taken. Steps are never altered, taken back or removed: what is wrong with one is mended by the
// next.
//
// The layout has a version. Open for writing takes the steps that a file lacks, forward only and each in one
// transaction. A step is additive, and then the version before it may go on with the file, which notes the step
// as not taken, so the next start of the newer one takes it again; or it changes the format, and older versions
// refuse the file with the name of the version that reads it. The format is "2": it keeps out versions that do
// not know of features.
type raising struct {
	since string // the version of Keystile that brought it

	// additive: a version that does not know the step may go on reading and writing the file. It
	// neither reads nor keeps up what the step has added, so the step is taken again after such a
	// version has had the file, and has to bear it. After any other step older versions are refused.
	additive bool

	do func(*bbolt.Tx) error // nil: it only keeps older versions out

	readable bool // a file that lacks the step can be read as it is
}

// steps lead from the first format to this version's.
var steps = []raising{
	// The rows are as they were. A version that reads "1" alone does not look at the store's list of
	// features, and must not open a file in which there may be some.
	{since: "v0.1.0"},
	// Rows have sums. Versions before write rows without, and leave those in sumsBucket as they are.
	{since: "v0.2.0", additive: true, do: dropStaleSums, readable: true},
}

// firstFormat is the format of a file on which no step was taken.
const firstFormat = 1

// layout holds the version of a file, as the file says it.
type layout struct {
	format int    // a version that knows fewer formats must not open the file
	since  string // the version that began with the format
	taken  int    // the format, or the additive step behind it that was taken last

	logged bool        // tokens may be in a log: see openMark
	log    tokenlog.ID // which one
}

// The keys of aboutBucket.
var formatKey, sinceKey, layoutKey = []byte("format"), []byte("since"), []byte("layout")

func readLayout(tx *bbolt.Tx) (l layout, err error) {
	about := tx.Bucket([]byte(aboutBucket))
	if about == nil {
		return l, errors.New("it belongs to another program")
	}
	text := string(about.Get(formatKey))
	if text == "" {
		return l, errors.New("it does not say which format it has")
	}
	if l.format, err = strconv.Atoi(text); err != nil || l.format < firstFormat {
		return l, fmt.Errorf("its format %q is none", text)
	}
	l.taken = l.format
	if text := string(about.Get(layoutKey)); text != "" {
		if l.taken, err = strconv.Atoi(text); err != nil || l.taken < l.format {
			return l, fmt.Errorf("its layout %q is none", text)
		}
	}
	l.since = string(about.Get(sinceKey))
	return l, l.readMark(about)
}

// checkFormat returns what keeps this version from using a file.
func checkFormat(tx *bbolt.Tx, fresh bool) error {
	if fresh {
		return nil
	}
	l, err := readLayout(tx)
	if err == nil && l.format > ownFormat() {
		err = driver.Newer(fmt.Sprintf("the file has the format %q", strconv.Itoa(l.format)),
			cmp.Or(l.since, "of a later version"))
	}
	return err
}

// checkRaised fails for a file that cannot be read before it was written to.
func checkRaised(tx *bbolt.Tx) error {
	l, err := readLayout(tx)
	if err != nil {
		return err
	}
	if l.logged {
		return fmt.Errorf("%w: a process that was killed has left tokens of its last second in %s beside it; start the "+
			"service on it once, or run keystile storage compact", errOlder, LogSuffix)
	}
	for i, s := range steps {
		if firstFormat+1+i > l.taken && s.do != nil && !s.readable {
			return fmt.Errorf("%w: it is of an older version, and has to be brought to this one first; start the service on "+
				"it once", errOlder)
		}
	}
	return nil
}

var (
	errOlder     = errors.New("it cannot be opened for reading only")
	errNotRaised = errors.New("it was not brought")
)

func ownFormat() int { return firstFormat + len(steps) }

// raise takes the steps that a file lacks, each in a transaction of its own. Additive ones that this
// version does not know are noted as not taken: what it writes from now on does not keep them up.
func raise(db *bbolt.DB) error {
	var has layout
	err := db.View(func(tx *bbolt.Tx) (err error) {
		has, err = readLayout(tx)
		return err
	})
	if err != nil {
		return err
	}
	if has.taken > ownFormat() {
		return db.Update(func(tx *bbolt.Tx) error {
			return bucket(tx, aboutBucket).Put(layoutKey, []byte(strconv.Itoa(ownFormat())))
		})
	}
	for to := has.taken + 1; to <= ownFormat(); to++ {
		s := steps[to-firstFormat-1]
		err := db.Update(func(tx *bbolt.Tx) error {
			return catchFaults(func() error { return s.take(tx, to) })
		})
		if err != nil {
			return fmt.Errorf("%w from format %d to %d, the one of Keystile %s: %w", errNotRaised, to-1, to, s.since, err)
		}
	}
	return nil
}

// take takes a step and notes that.
func (s raising) take(tx *bbolt.Tx, to int) error {
	if s.do != nil {
		if err := s.do(tx); err != nil {
			return err
		}
	}
	about, number := bucket(tx, aboutBucket), []byte(strconv.Itoa(to))
	if s.additive {
		return about.Put(layoutKey, number)
	}
	return errors.Join(about.Put(formatKey, number), about.Put(sinceKey, []byte(s.since)), about.Delete(layoutKey))
}
