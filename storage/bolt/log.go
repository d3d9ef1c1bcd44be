package bolt

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"sync"
	"time"

	"go.etcd.io/bbolt"

	"github.com/keystile/keystile/storage/bolt/internal/tokenlog"
	"github.com/keystile/keystile/storage/driver"
)

// LogSuffix is behind the name of a file in that of its token log, which belongs to it: see [Options].
const LogSuffix = ".wal"

// The rows of the log are put into the file when there are so many, or the oldest is so old.
const (
	mostLogged = 4096
	logAge     = time.Second
)

// tokenLog is the log of tokens before the file, and what is in it and not in the file yet.
//
// A batch of nothing but Issue and Exchange is decided on the file and these rows together, and goes to the log: one
// write and one flush, where a transaction takes two flushes and ten writes. Any other batch is a transaction of the
// file, and first takes these rows in: so whatever else is written finds every token in the file, a revocation too,
// and the order in which things happened is that of the file. Sweep, Rows and WriteTo have such a transaction made
// before they read. Token alone looks here.
//
// A store that is closed has nothing in the log, and none. While there is one, the file says so: see openMark.
//
// A log that cannot be written is given up until the store is opened anew. Its batch becomes a transaction, behind
// which whatever of the batch has reached the log does not count.
type tokenLog struct {
	path string
	make func(path string) (tokenlog.File, error)
	age  time.Duration // how old a row gets

	// These are the writer's.
	log     *tokenlog.Log // nil: it is not made yet
	marked  bool          // the file says that there is a log
	givenUp bool
	timer   *time.Timer // for the oldest row; nil: there is none
	draft   draft

	mu   sync.RWMutex // the writer changes what it guards, and reads it without
	base uint64       // the transaction of the file behind which the rows are
	rows map[driver.Key]tokenlog.Row
}

func newTokenLog(path string, files files) *tokenLog {
	l := &tokenLog{path: path + LogSuffix, make: tokenlog.OpenFile, age: cmp.Or(files.logAge, logAge),
		rows: map[driver.Key]tokenlog.Row{}}
	if files.log != nil {
		l.make = files.log
	}
	l.draft.values = map[driver.Key][]byte{}
	return l
}

// logged holds what the log has of a token.
type logged struct {
	value []byte // nil: nothing
	base  uint64 // counts while this is the last transaction of the file
}

// look returns what is in the log of a token. It is called before the file is read: what leaves the log between the
// two is in the file.
func (l *tokenLog) look(key driver.Key) logged {
	if l == nil {
		return logged{}
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return logged{l.rows[key].Value, l.base}
}

// find returns the row of a token without its sum, of the log or of the file.
func (g logged) find(tx *bbolt.Tx, key driver.Key) (body []byte, err error) {
	if g.value != nil && g.base == uint64(tx.ID()) {
		return openToken(key[:], g.value)
	}
	return tokenRows(tx).find(tx, key[:])
}

// empty reports whether the file has everything.
func (l *tokenLog) empty() bool {
	if l == nil {
		return true
	}
	l.mu.RLock()
	defer l.mu.RUnlock()
	return len(l.rows) == 0
}

// due is when the oldest row is to be put into the file.
func (l *tokenLog) due() <-chan time.Time {
	if l == nil || l.timer == nil {
		return nil
	}
	return l.timer.C
}

// foldDue puts what is due into the file.
func (l *tokenLog) foldDue(s *Store) {
	l.stop()
	s.settle([]*job{{answer: make(chan error, 1)}})
	if !l.empty() && s.broken == nil {
		l.timer = time.NewTimer(l.age) // the disk may be full: it is tried again
	}
}

// settled returns when every token that was written is in the file.
func (s *Store) settled(ctx context.Context) error {
	if s.log.empty() {
		return nil
	}
	return s.send(ctx, &job{})
}

// record settles a batch of jobs of tokens by the log, and reports whether it could: else nothing has happened, and the
// batch is one for the file.
func (s *Store) record(batch []*job) bool {
	l := s.log
	if l == nil || !l.marked || l.givenUp || s.broken != nil || len(l.rows) >= mostLogged ||
		slices.ContainsFunc(batch, func(j *job) bool { return j.tokens == nil }) {
		return false
	}
	d := &l.draft
	d.log, d.rows = l.rows, d.rows[:0]
	clear(d.values)
	base := uint64(0)
	err := s.view(context.Background(), func(tx *bbolt.Tx) error {
		base = uint64(tx.ID())
		for _, j := range batch {
			before := len(d.rows)
			if j.verdict = catchFaults(func() error { return j.tokens(tokenTable{tx, d}) }); errors.Is(j.verdict, errPanic) {
				j.verdict = s.unsound(j.verdict)
			}
			if j.verdict != nil && len(d.rows) != before { // only a transaction can take back what it has done
				return j.verdict
			}
		}
		return nil
	})
	if err != nil {
		return false
	}
	if len(d.rows) > 0 {
		if err := l.log.Append(base, d.rows); err != nil {
			l.givenUp = !errors.Is(err, tokenlog.ErrFull)
			return false
		}
		l.add(base, d.rows)
	}
	for _, j := range batch {
		j.answer <- j.verdict
	}
	return true
}

// add takes in rows that are in the log.
func (l *tokenLog) add(base uint64, rows []tokenlog.Row) {
	l.mu.Lock()
	l.base = base
	for _, r := range rows {
		r.New = r.New || l.rows[r.Key].New
		l.rows[r.Key] = r
	}
	l.mu.Unlock()
	if l.timer == nil {
		l.timer = time.NewTimer(l.age)
	}
}

// fold puts the rows of the log into the file, and reports whether there are any.
func (l *tokenLog) fold(tx *bbolt.Tx) (some bool, err error) {
	if l == nil || len(l.rows) == 0 {
		return false, nil
	}
	byKey := func(a, b driver.Key) int { return bytes.Compare(a[:], b[:]) }
	err = catchFaults(func() error {
		for _, key := range slices.SortedFunc(maps.Keys(l.rows), byKey) {
			if err := (tokenTable{tx: tx}).put(l.rows[key]); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		err = fmt.Errorf("%w: %w", errFold, err)
	}
	return true, err
}

// remark has the file say whether there is a log behind a batch, and reports that, and whether it was said otherwise.
// The first batch that has written a token makes the log.
func (l *tokenLog) remark(tx *bbolt.Tx, batch []*job, changed bool) (marked, remarked bool, err error) {
	if l == nil {
		return false, false, nil
	}
	whole := slices.ContainsFunc(batch, func(j *job) bool { return j.whole })
	tokens := slices.ContainsFunc(batch, func(j *job) bool { return j.tokens != nil && j.verdict == nil })
	switch {
	case l.marked && (whole || l.givenUp):
		return false, true, unmark(tx)
	case l.marked || whole || l.givenUp || !tokens || !changed:
		return l.marked, false, nil
	}
	if err := l.prepare(); err != nil {
		l.givenUp = true
		return false, false, nil
	}
	return true, true, mark(tx, l.log.ID())
}

// committed is called when a transaction is: the file has every row.
func (l *tokenLog) committed(marked bool) {
	if l == nil {
		return
	}
	l.marked = marked
	l.mu.Lock()
	clear(l.rows)
	l.mu.Unlock()
	l.stop()
}

// stop ends the waiting for what is due.
func (l *tokenLog) stop() {
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
}

// prepare makes the log before the first batch of tokens.
func (l *tokenLog) prepare() error {
	if l.log != nil {
		return nil
	}
	f, err := l.make(l.path)
	if err != nil {
		return err
	}
	log, err := tokenlog.Begin(f)
	if err == nil {
		err = syncFolder(l.path)
	}
	if err != nil {
		return errors.Join(err, f.Close(), os.Remove(l.path))
	}
	l.log = log
	return nil
}

// end puts the last rows into the file and removes the log. Where that fails, the next Open does it.
func (l *tokenLog) end(s *Store) (err error) {
	if l == nil {
		return nil
	}
	if l.marked && s.broken == nil {
		last := &job{whole: true, answer: make(chan error, 1)}
		s.settle([]*job{last})
		err = last.verdict
	}
	l.stop()
	if l.log != nil {
		err = errors.Join(err, l.log.Close())
	}
	if l.log != nil && !l.marked {
		err = errors.Join(err, os.Remove(l.path))
	}
	return err
}
