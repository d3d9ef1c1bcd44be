package ledger

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// Store keeps the usage. *storage.Store is one.
type Store interface {
	Count(ctx context.Context, b driver.Batch, counts []driver.Count) error
	Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error)
	UsageOf(ctx context.Context, apps []string, q driver.UsageQuery) ([]driver.Count, error)
}

// Config of a Ledger. Only Store must be given.
type Config struct {
	Store Store
	// folder of the journal, made if its parent is there; "": none, and whatever ends the process loses up to
	// FlushEvery
	Path       string
	FlushEvery time.Duration // how long a charge may wait for its batch to be sent; 0: 1 s
	Log        *slog.Logger  // nil: slog.Default()

	// Watched returns a number to which the calls of an application are added as they are charged;
	// nil: none. It is asked once for each application and batch, and must be quick. See Watch.
	Watched func(app string) *atomic.Int64

	// Stored is told what a batch held when the store has acknowledged it and the journal is rid of
	// it: of each call once at most, however often a process is killed. nil: nobody. It is called
	// between two batches, and must be quick.
	Stored func(calls iter.Seq[Call])
}

// Call is calls of one kind in an hour.
type Call struct {
	App, Product, Tool, User string // Tool and User: "" if there is none
	Agent                    string // "": App
	At                       time.Time
	Calls, Errors            int64
}

// Why a call cannot be charged, beside a name or a time that no store accepts.
var (
	// ErrClosed: the Ledger is closed.
	ErrClosed = errors.New("ledger: closed")
	// ErrFull: the store has been away for so long that no further row fits in memory.
	ErrFull = errors.New("ledger: too much usage waits for the store; see to the store")
)

const (
	batchRows   = 10_000      // rows after which a batch is sealed: a store takes it in one step
	maxRows     = 1 << 20     // rows not acknowledged; about 200 MB
	maxDetailed = maxRows / 2 // of them, from which on calls are counted without their Detail
	syncEvery   = time.Second
)

// Ledger counts charged calls. It is used by many goroutines at once.
type Ledger struct {
	store    Store
	every    time.Duration
	log      *slog.Logger
	watched  func(app string) *atomic.Int64
	told     func(calls iter.Seq[Call])
	journal  *journal // nil: none
	node     string
	readLock readLock

	mu     sync.Mutex // guards what follows; a charge holds it during its write
	closed bool
	seq    uint64   // of the last batch begun
	open   *batch   // nil: nothing charged since the last was sealed
	queue  []*batch // sealed, in the order in which the store must get them
	rows   int      // of open and queue
	record []byte

	tidying sync.Mutex // guards the files of sealed batches; taken before mu

	dirty   chan struct{} // holds one: there is something to send
	fresh   chan struct{} // holds one: there is something to sync
	stop    context.CancelFunc
	running sync.WaitGroup

	disk, away condition
}

// Open makes a Ledger and begins to send what an earlier process has left in the journal.
// It does not wait for the store. ctx bounds only the opening.
//
// It fails if another process has the journal, or a newer version has written it.
func Open(ctx context.Context, c Config) (*Ledger, error) {
	return open(ctx, c, (*journal).tryMapping)
}

func open(ctx context.Context, c Config, prepare func(*journal)) (*Ledger, error) {
	l, err := newLedger(c)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	if c.Path != "" {
		if l.journal, err = openJournal(c.Path); err != nil {
			return nil, err
		}
		l.journal.log = l.log
		prepare(l.journal)
		if l.queue, err = l.journal.recover(); err != nil {
			return nil, errors.Join(err, l.journal.lock.Close())
		}
	}
	for _, b := range l.queue {
		l.rows += b.rows
	}
	running, stop := context.WithCancel(context.WithoutCancel(ctx))
	l.stop = stop
	l.running.Go(func() { l.keepSending(running) })
	if l.journal != nil {
		l.running.Go(func() { l.keepSyncing(running) })
	}
	return l, nil
}

func newLedger(c Config) (*Ledger, error) {
	var complaints []error
	if c.Store == nil {
		complaints = append(complaints, errors.New("ledger: Store is missing: hand over where usage is kept"))
	}
	if c.FlushEvery < 0 {
		complaints = append(complaints, fmt.Errorf("ledger: FlushEvery is %v: give a positive duration, or 0 for 1 s",
			c.FlushEvery))
	}
	l := &Ledger{
		store: c.Store, every: c.FlushEvery, log: c.Log, watched: c.Watched, told: c.Stored, node: rand.Text(),
		record: make([]byte, 0, recordSize), dirty: make(chan struct{}, 1), fresh: make(chan struct{}, 1),
	}
	if l.every == 0 {
		l.every = time.Second
	}
	if l.log == nil {
		l.log = slog.Default()
	}
	return l, errors.Join(complaints...)
}

// Charge counts one call of an application to a product, in the UTC hour of at, and as an
// error too if the product failed (5xx). Call it when the product has answered and before
// anything of the answer leaves: at nil the call is counted whatever happens to the
// process. Our own failures are not charged.
//
// At an error the call is not counted, and its answer must not leave: ErrClosed, ErrFull,
// or a name (1 to 255 bytes of UTF-8 without 0x00) or time that no store accepts. A disk
// that refuses the journal is no error here; see Health.
func (l *Ledger) Charge(app, product string, at time.Time, failed bool) error {
	return l.ChargeDetailed(app, product, Detail{}, at, failed)
}

// ChargeDetailed is Charge of a call whose tool, user or agent is known. It is counted in each Dimension
// in which it has a name, at once and exactly as often. A detail that is no name is left out, and
// so are all of them while so much waits for the store that they would fill the memory.
func (l *Ledger) ChargeDetailed(app, product string, by Detail, at time.Time, failed bool) error {
	e, err := newEntry(app, product, by, at, failed)
	if err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return ErrClosed
	}
	if l.rows >= maxDetailed && (l.open == nil || !l.open.has(&e)) {
		e.tool, e.user, e.agent = "", "", ""
		if l.rows >= maxRows && (l.open == nil || !l.open.has(&e)) {
			return ErrFull
		}
	}
	if l.open == nil {
		l.begin()
	}
	l.note(&e)
	l.rows += l.open.add(&e, l.watched)
	if s := l.open.segment; l.open.rows >= batchRows || s != nil && s.bytes >= segmentLimit {
		l.seal()
	}
	return nil
}

// Mapped reports whether charges are stored into memory that the journal's file shares; false: each
// is a write(2), or there is no journal.
func (l *Ledger) Mapped() bool { return l.journal != nil && l.journal.maps.Load() }

// Watch adds the calls of an application to w from now on. Config.Watched must return the same
// number, so that it goes on with the next batch.
func (l *Ledger) Watch(app string, w *atomic.Int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open != nil && l.open.apps[app] != nil {
		l.open.apps[app].watch = w
	}
}

// begin opens the next batch.
func (l *Ledger) begin() {
	l.seq++
	l.open = newBatch(driver.Batch{Node: l.node, Seq: l.seq})
	if l.journal != nil {
		l.open.segment = l.journal.begin(l.open.id)
	}
	notify(l.dirty)
}

// note writes an entry to the journal.
func (l *Ledger) note(e *entry) {
	s := l.open.segment
	if s == nil {
		return
	}
	l.record = appendRecord(l.record[:0], e)
	if err := s.write(l.record); err != nil {
		l.setDisk(err)
	}
	if !s.stale {
		s.stale = true
		notify(l.fresh)
	}
}

// seal ends the open batch; mu is held.
func (l *Ledger) seal() {
	if l.open != nil {
		l.queue = append(l.queue, l.open)
		l.open = nil
	}
}

func notify(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
