package ledger

import (
	"context"
	"fmt"
	"time"
)

const (
	patience = 10 * time.Second // for one answer of the store
	maxPause = 30 * time.Second // between attempts while it gives none
)

// keepSending sends what an earlier process has left, then flushes at most once per
// interval, while there is something to flush.
func (l *Ledger) keepSending(ctx context.Context) {
	for ok := insist(ctx, l.drain); ok && wait(ctx, l.dirty) && sleep(ctx, l.every); {
		ok = insist(ctx, l.flush)
	}
}

// insist does it until it works, and reports false when ctx ends first.
func insist(ctx context.Context, do func(context.Context) error) bool {
	for pause := time.Second; do(ctx) != nil; pause = min(2*pause, maxPause) {
		if !sleep(ctx, pause) {
			return false
		}
	}
	return true
}

// flush sends what waits, then what has been charged meanwhile. While the store is away
// nothing is sealed, so the rows of a long outage stay one sum each. With nothing sealed it
// asks for the gate once, so that no read slips in between.
func (l *Ledger) flush(ctx context.Context) error {
	if l.waiting() {
		if err := l.drain(ctx); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.seal()
	l.mu.Unlock()
	return l.drain(ctx)
}

// waiting reports whether a sealed batch is not acknowledged.
func (l *Ledger) waiting() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.queue) > 0
}

func (l *Ledger) drain(ctx context.Context) error {
	for {
		if more, err := l.send(ctx); err != nil || !more {
			return err
		}
	}
}

// send hands the oldest sealed batch to the store and reports whether there was one.
// After an error the batch stays the oldest: the store accepts numbers only in their order.
func (l *Ledger) send(ctx context.Context) (sent bool, err error) {
	if err := l.readLock.begin(ctx); err != nil {
		return false, err
	}
	defer l.readLock.end()
	b := l.oldest()
	if b == nil {
		return false, nil
	}
	limited, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if err := l.store.Count(limited, b.id, b.counts()); err != nil {
		if ctx.Err() == nil { // else it is the caller who has gone
			l.setStore(err)
		}
		return false, fmt.Errorf("ledger: count usage: %w", err)
	}
	l.setStore(nil)
	l.acknowledge(b)
	return true, nil
}

// oldest is the batch to be sent; from here on the store may hold it.
func (l *Ledger) oldest() *batch {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return nil
	}
	l.queue[0].doubtful = true
	return l.queue[0]
}

func (l *Ledger) acknowledge(b *batch) {
	l.mu.Lock()
	l.queue[0] = nil
	l.queue = l.queue[1:]
	l.rows -= b.rows
	l.mu.Unlock()
	if l.tidyAway(b) && l.told != nil {
		l.told(b.parts())
	}
}

// tidyAway removes the journal of a batch and reports whether nothing is left of it.
func (l *Ledger) tidyAway(b *batch) bool {
	if b.segment == nil {
		return true
	}
	l.tidying.Lock()
	defer l.tidying.Unlock()
	err := b.segment.remove()
	if err != nil {
		// Sent again at the next start, it would be known by its number.
		l.log.Warn("ledger: a usage journal that is counted cannot be removed; give this process the right to", "err", err)
	}
	return err == nil
}

// wait and sleep report false when ctx ends first.

func wait(ctx context.Context, c <-chan struct{}) bool {
	select {
	case <-c:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}

func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
