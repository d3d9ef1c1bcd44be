package audit

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/audit/internal/sums"
	"github.com/keystile/keystile/storage/driver"
)

// Config of a Trail.
type Config struct {
	Store Store        // required
	Name  string       // of this process, for people who read the trail; stands on audit.begin
	Log   *slog.Logger // nil: slog.Default()

	// For tests.
	flushEvery time.Duration // 0: flushEvery
	queue      int           // 0: queueSize
}

const (
	flushEvery = time.Second // how long a noted event may wait in memory
	queueSize  = 8 << 20     // bytes of events that wait: some 40,000 calls
)

// Trail writes events to a store. All methods may be called by many goroutines.
type Trail struct {
	store Store
	log   *slog.Logger
	every time.Duration
	limit int

	wake  chan struct{} // the buffer is no longer empty
	hurry chan struct{} // somebody waits for it, or it is half full
	quit  chan struct{} // closed by the first Close
	done  chan struct{} // closed when the writer has ended
	stop  context.CancelFunc
	out   flusher // belongs to the writer

	anonymous sums.Sums // of anonymous events; locked behind mu

	mu      sync.Mutex // guards what follows
	waiting buffer
	held    int    // bytes of events not yet stored
	strange int    // of those, of anonymous events
	missed  uint64 // events dropped since the last flush
	strays  uint64 // anonymous ones that did not
	closed  bool
	ended   bool // all is stored, audit.end too
	stats   Stats
}

// Stats says how a Trail is doing. The numbers count events since Open.
type Stats struct {
	Stored        uint64
	Waiting       uint64 // noted, not yet stored
	Lost          uint64 // found the queue full, or came after Close
	LostAnonymous uint64 // anonymous ones that did
	Err           error  // why the last attempt to store failed; nil if it did not
}

// ErrClosed is returned by NoteNow once Close has been called.
var ErrClosed = errors.New("audit: the trail is closed")

// ErrFull is returned by NoteNow while the queue is full, because the store does not answer
// or slower than the events. The event is not on the trail.
var ErrFull = errors.New("audit: the queue is full; see why the store does not keep up")

// Open begins a new chain in the store, behind the last record it finds there.
func Open(ctx context.Context, config Config) (*Trail, error) {
	if config.Store == nil {
		return nil, errors.New("audit: Config.Store is nil: hand over where the records are kept")
	}
	t := &Trail{
		store: config.Store, log: cmp.Or(config.Log, slog.Default()), every: cmp.Or(config.flushEvery, flushEvery),
		limit: cmp.Or(config.queue, queueSize),
		wake:  make(chan struct{}, 1), hurry: make(chan struct{}, 1),
		quit: make(chan struct{}), done: make(chan struct{}), anonymous: sums.New(),
	}
	if err := t.begin(ctx, config.Name); err != nil {
		return nil, err
	}
	running, stop := context.WithCancel(context.Background())
	t.stop = stop
	go t.write(running)
	return t, nil
}

func (t *Trail) begin(ctx context.Context, name string) error {
	behind, err := last(ctx, t.store)
	if err != nil {
		return err
	}
	var before digest
	if behind.Seq > 0 {
		before = link(behind.Data)
	}
	t.out.chain = newChain(before)
	e := entry{After: behind.Seq, Event: Event{Kind: begin, Detail: name}}
	tidy(&e.Event, time.Now())
	data := t.out.chain.append(nil, &e, true)
	if err := t.store.Append(ctx, driver.Record{At: e.At, Data: data}); err != nil {
		return fmt.Errorf("audit: begin a chain: %w", err)
	}
	return nil
}

// Note puts an event on the trail within a second. It never waits for the store:
// if the queue is full, the event is dropped, counted, and the number stands on the trail
// as a record of kind audit.lost as soon as the queue has space. A process that is killed loses
// what it noted since the last flush.
//
// Of anonymous events the trail writes a few at once, and the sum of the others when a minute
// is over; none of them is dropped as long as the trail is open. They have half the queue, so
// that they never have another event dropped.
func (t *Trail) Note(e Event) { t.note(&e, netip.Addr{}) }

// NoteFrom is Note of an event whose IP is an address, which it writes only once it is in the queue. It
// may change the event.
func (t *Trail) NoteFrom(e *Event, from netip.Addr) {
	if e.Anonymous || !from.IsValid() || from.Zone() != "" { // it is summed by its IP, or that may be of any length
		e.IP, from = from.String(), netip.Addr{}
	}
	t.note(e, from)
}

func (t *Trail) note(e *Event, from netip.Addr) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	if !e.Anonymous {
		t.put(e, from, nil)
		return
	}
	alone := e.User != "" || t.anonymous.Admits(e)
	if alone && t.put(e, from, nil) || t.anonymous.Add(e) {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.LostAnonymous++
	t.strays++
}

// NoteNow puts an event on the trail and returns when it is stored, with all that was
// noted before. After any error but ErrClosed and ErrFull the outcome is open: the event
// stays in line and is stored when the store is back. So note an act first, then do it.
func (t *Trail) NoteNow(ctx context.Context, e Event) error {
	for range 2 { // a queue that is full now is empty after the next flush
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("audit: the event was not noted: %w", err)
		}
		answer := make(chan error, 1)
		fits := t.put(&e, netip.Addr{}, answer)
		nudge(t.hurry)
		select {
		case err := <-answer:
			if err != nil || fits {
				return err
			}
		case <-ctx.Done():
			return fmt.Errorf("audit: the event is not yet stored: %w", ctx.Err())
		}
	}
	return ErrFull
}

// put queues an event, of an address if that is valid, if it fits. The waiter, if any, is answered when
// all that is queued by now is stored, or could not be.
//
// A full queue drops the newest events: waiting would pass the store's trouble to all callers, and dropping the
// oldest would let a flood wash out the events before it. The queue is counted in bytes, and holds copies: a
// queue of strings would keep whole request lines alive, and a length in events would bound nothing. Anonymous
// events have half the queue; one that does not fit is summed, so no flood of them has another event dropped.
func (t *Trail) put(e *Event, from netip.Addr, waiter chan<- error) (fits bool) {
	if e.At.IsZero() {
		e.At = time.Now()
	}
	size := slotSize + trim(e)
	var room [64]byte // longer than any address without a zone
	ip := room[:0]
	if from.IsValid() {
		ip = from.AppendTo(ip)
		size += len(ip) - len(e.IP)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	fits = !t.closed && t.held+size <= t.limit && (!e.Anonymous || t.strange+size <= t.limit/2)
	if waiter == nil && !fits {
		if !e.Anonymous { // the others are summed
			t.stats.Lost++
			t.missed++
		}
		return false
	}
	if t.closed {
		waiter <- ErrClosed
		return false
	}
	if waiter != nil {
		t.waiting.waiters = append(t.waiting.waiters, waiter)
	}
	if fits {
		t.queue(e, ip, size)
	}
	return fits
}

// queue adds an event to the buffer and wakes the writer when that makes a difference.
func (t *Trail) queue(e *Event, ip []byte, size int) {
	t.waiting.add(e, ip)
	t.stats.Waiting++
	if len(t.waiting.slots) == 1 {
		nudge(t.wake)
	}
	half := t.limit / 2
	if t.held <= half && t.held+size > half {
		nudge(t.hurry)
	}
	t.held += size
	if e.Anonymous {
		t.strange += size
		t.waiting.strange += size
	}
}

func nudge(c chan<- struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Stats returns the state of the trail.
func (t *Trail) Stats() Stats {
	t.mu.Lock()
	defer t.mu.Unlock()
	s := t.stats
	s.Waiting += t.anonymous.Waiting()
	return s
}

// Close stores what waits and ends the chain. When ctx ends first, it gives up as soon as
// the store heeds that, and says how many events are not stored. Later events are dropped.
func (t *Trail) Close(ctx context.Context) error {
	t.mu.Lock()
	if !t.closed {
		t.closed = true
		close(t.quit)
	}
	t.mu.Unlock()
	select {
	case <-t.done:
	case <-ctx.Done():
	}
	t.stop()
	<-t.done
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.ended {
		return nil
	}
	return fmt.Errorf("audit: closed with %d events that are not stored: %w", t.stats.Waiting+t.anonymous.Waiting(),
		cmp.Or(t.stats.Err, ctx.Err()))
}
