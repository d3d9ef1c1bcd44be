package bolt

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"go.etcd.io/bbolt"
	berrors "go.etcd.io/bbolt/errors"

	"github.com/keystile/keystile/storage/driver"
)

// Store is a driver.Backend in one file.
type Store struct {
	db       *bbolt.DB
	queue    chan *job     // unbuffered: a job is with its caller, or with the writer
	quit     chan struct{} // closed by Close
	ended    chan struct{} // closed by the writer when it has answered its last job
	broken   error         // the writer's: why it accepts no more jobs
	ending   error         // what went wrong when the writer ended
	log      *tokenLog     // nil: every write is one of the file
	patience int           // the writer's: how often it lets others run before it commits
	close    func() error
	hours    hours
	met      atomic.Int64 // calls that have met a damaged row
	readOnly bool         // there is no writer, and every write is refused
}

var (
	_ driver.Backend = (*Store)(nil)
	_ driver.Summed  = (*Store)(nil)
)

// Options of Open. The zero value is the default.
type Options struct {
	Timeout time.Duration // how long to wait for a file in use; 0: 2 s, negative: not at all

	// TokenLog has issued and exchanged tokens be written to a log beside the file first, keystile.db.wal for
	// keystile.db: an answer waits for one flush instead of two. They are in the file within a second, and before
	// anything else is written or copied; Close leaves no log. A process that is killed leaves one: Open and Compact of
	// this version put it into the file whether TokenLog is set or not, and older versions refuse the file until then.
	// File and log belong together and must be moved together.
	TokenLog bool

	files files // how files are made and opened, for tests
}

var errClosed = errors.New("bolt: the store is closed")

// Open opens the data file at path, and makes it (mode 0600) if there is none. A file that
// it cannot use stays unchanged, byte for byte.
func Open(path string, opts Options) (*Store, error) {
	db, err := opts.files.open(path, cmp.Or(opts.Timeout, 2*time.Second))
	if err != nil {
		return nil, err
	}
	s := &Store{
		db:    db,
		queue: make(chan *job),
		quit:  make(chan struct{}),
		ended: make(chan struct{}),
	}
	if opts.TokenLog {
		s.log = newTokenLog(realPath(path), opts.files)
	}
	s.close = sync.OnceValue(func() error {
		close(s.quit)
		<-s.ended
		return errors.Join(s.ending, db.Close())
	})
	go s.serve()
	return s, nil
}

// Close ends the Store when every accepted call has been answered and every reader has
// left. It may be called again.
func (s *Store) Close() error { return s.close() }

// Describe returns what a Store is: a file has no server, and where it is is the host's to say.
func (s *Store) Describe() (kind, version, at string) { return "bolt", "", "" }

// Size returns the bytes of the file; 0: it cannot be looked at.
func (s *Store) Size() (bytes int64) {
	info, err := os.Stat(s.db.Path())
	if err != nil {
		return 0
	}
	return info.Size()
}

// WriteTo writes a consistent copy of the file, which Open accepts, while the Store goes
// on working. It ends early when the Store is closed.
func (s *Store) WriteTo(w io.Writer) (n int64, err error) {
	write := func(tx *bbolt.Tx) error {
		n, err = tx.WriteTo(untilQuit{w, s.quit})
		return err
	}
	if s.log == nil {
		err = s.view(context.Background(), write)
		return n, err
	}
	var tx *bbolt.Tx // in which the file says that it needs no log
	begin := func() (err error) { tx, err = s.db.Begin(false); return err }
	if err := s.send(context.Background(), &job{whole: true, then: begin}); err != nil {
		return 0, err
	}
	defer tx.Rollback()
	err = s.seen(catchFaults(func() error { return write(tx) }))
	return n, err
}

type untilQuit struct {
	io.Writer
	quit <-chan struct{}
}

func (u untilQuit) Write(p []byte) (int, error) {
	select {
	case <-u.quit:
		return 0, errClosed
	default:
		return u.Writer.Write(p)
	}
}

// view reads one consistent state. The function must copy what it keeps: the memory of the
// transaction is the file itself, and ends with it.
func (s *Store) view(ctx context.Context, read func(*bbolt.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return s.seen(s.db.View(func(tx *bbolt.Tx) error {
		return catchFaults(func() error { return read(tx) })
	}))
}

// seen returns the error of a read as a caller is told it.
func (s *Store) seen(err error) error {
	switch {
	case errors.Is(err, berrors.ErrDatabaseNotOpen):
		return errClosed
	case errors.Is(err, errPanic):
		return s.unsound(err)
	}
	return s.noted(err)
}

// unsound returns the error of a file that was met to be damaged while it was used.
func (s *Store) unsound(err error) error {
	return fmt.Errorf("bolt: %s: %w; if it happens again after a restart, put a backup in its place", s.db.Path(), err)
}

// noted counts a damaged row that was met, and says where it is and what is to be done.
func (s *Store) noted(err error) error {
	if err == nil {
		return nil
	}
	return s.metDamage(err)
}

func (s *Store) metDamage(err error) error {
	var row *damaged
	if !errors.As(err, &row) {
		return err
	}
	s.met.Add(1)
	return fmt.Errorf("bolt: %s: %w. Neither it nor an answer without it is served; everything else is. "+
		"Stop the service, let keystile storage check name all damaged rows, and put a backup in the file's place",
		s.db.Path(), err)
}

// DamagedReads returns how many calls have met a damaged row since the Store was opened.
func (s *Store) DamagedReads() int64 { return s.met.Load() }

// Summed says that each row has a checksum.
func (s *Store) Summed() {}

var errPanic = errors.New("the file is damaged, or there is a mistake in the program")

// catchFaults turns a panic into an error, and so a fault: bbolt panics at a damaged page,
// and a page that cannot be read from the disk would end the process.
//
// It is called inside transactions, and around all of them until others know the file.
// From then on, a fault where bbolt begins a transaction would leave its locks behind for
// all to wait at, and ending the process is the better end.
func catchFaults(do func() error) error {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	return recoverPanic(do)
}

func recoverPanic(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%w: %v", errPanic, p)
		}
	}()
	return do()
}
