package audit

import (
	"context"
	"fmt"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

const (
	firstPause  = 100 * time.Millisecond // after a failure; each one doubles it
	longestWait = 10 * time.Second       // between attempts, and for an answer of the store
	maxAppend   = 1 << 20                // bytes of records in one Append, give or take one
)

// flusher holds the state of the goroutine that writes the trail.
type flusher struct {
	chain   *chain
	taken   drain
	batch   []driver.Record // sent again, to the letter, until it is known to be stored
	events  uint64          // in batch, without the trail's own
	data    []byte          // of batch
	failing bool
}

// write is the writer: the one goroutine that stores events. Open starts it, Close ends it.
func (t *Trail) write(ctx context.Context) {
	defer close(t.done)
	var due <-chan time.Time  // nil while nothing waits
	var over <-chan time.Time // when the minute that is summed is over; nil while there is none
	var pause time.Duration
	closing, quit := false, t.quit
	for {
		if over == nil && pause == 0 {
			over = t.anonymous.Over()
		}
		select {
		case <-t.anonymous.Begun:
			continue
		case <-over:
			over = nil
		case <-t.wake:
			if due == nil {
				due = time.After(t.every)
			}
			continue
		case <-due:
		case <-t.hurry:
		case <-quit:
			closing, quit = true, nil
		case <-ctx.Done():
			return
		}
		switch err := t.flush(ctx); {
		case err != nil:
			pause = min(max(2*pause, firstPause), longestWait)
			due = time.After(pause)
		case closing:
			return
		default:
			pause, due = 0, nil
		}
	}
}

// flush stores the records that wait by now, in the order in which they were noted. Records noted
// meanwhile wait for the next flush, or a busy node would flush without end.
func (t *Trail) flush(ctx context.Context) error {
	if err := t.drain(ctx); err != nil { // what an earlier attempt left
		return err
	}
	t.take()
	return t.drain(ctx)
}

// drain stores what was taken.
func (t *Trail) drain(ctx context.Context) error {
	for len(t.out.batch) > 0 || t.out.fill() {
		if err := t.send(ctx); err != nil {
			return err
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	d := &t.out.taken
	t.held -= d.size()
	t.strange -= d.strange
	t.ended = t.ended || d.last
	d.answer(nil)
	d.reset()
	return nil
}

// take turns to what was noted while the last buffer was stored.
func (t *Trail) take() {
	t.mu.Lock()
	empty := t.out.taken.buffer
	sums, n := t.anonymous.Take(t.closed)
	t.stats.Waiting += n
	t.out.taken = drain{buffer: t.waiting, sums: sums, lost: t.missed, strays: t.strays, end: t.closed && !t.ended,
		last: t.closed}
	t.waiting, t.missed, t.strays = empty, 0, 0
	t.mu.Unlock()
	d := &t.out.taken
	d.rest = string(d.text)
	if d.lost+d.strays > 0 {
		t.log.Warn("the audit queue was full", "events_lost", d.lost, "anonymous_lost", d.strays)
	}
}

// fill seals the next batch of what was taken; false: all of it is stored.
func (f *flusher) fill() bool {
	f.data, f.taken.events = f.data[:0], 0
	now := time.Now()
	for len(f.batch) < driver.Page && len(f.data) < maxAppend {
		e, more := f.taken.entry(now)
		if !more {
			break
		}
		start := len(f.data)
		f.data = f.chain.append(f.data, &e, start == 0)
		f.batch = append(f.batch, driver.Record{At: e.At, Data: f.data[start:len(f.data):len(f.data)]})
	}
	f.events = f.taken.events
	return len(f.batch) > 0
}

// send stores the batch. An Append that failed may have happened: the batch is sent again to the letter, and a
// batch that stands twice in a row in its chain is whole for Verify and stands once in an Export. Looking into
// the store before sending again would not do: the first one can arrive after the look. A batch that arrives
// only when a later one is stored counts as misplaced; that takes a store that outlives its own answer by a
// whole flush.
func (t *Trail) send(ctx context.Context) error {
	answered, stop := context.WithTimeout(ctx, longestWait)
	defer stop()
	if err := t.store.Append(answered, t.out.batch...); err != nil {
		return t.failed(ctx, fmt.Errorf("audit: store the trail: %w", err))
	}
	if t.out.failing {
		t.log.InfoContext(ctx, "the audit trail is stored again")
	}
	t.out.failing = false
	t.out.batch = t.out.batch[:0]
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Stored += t.out.events
	t.stats.Waiting -= t.out.events
	t.stats.Err = nil
	return nil
}

// failed reports an error to everybody who waits, and logs the first of several failures.
func (t *Trail) failed(ctx context.Context, err error) error {
	if !t.out.failing {
		t.log.ErrorContext(ctx, "the audit trail cannot be stored; it waits in memory and is tried again", "error", err)
	}
	t.out.failing = true
	t.mu.Lock()
	defer t.mu.Unlock()
	t.stats.Err = err
	t.out.taken.answer(err)
	t.waiting.answer(err)
	return err
}
