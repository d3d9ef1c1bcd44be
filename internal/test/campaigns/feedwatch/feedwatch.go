// Package feedwatch follows the two feeds of a database while everybody writes, as a node does that is
// never killed: what it has seen stays, and it misses nothing.
package feedwatch

import (
	"context"
	"fmt"
	"hash/fnv"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// Watcher reads again and again what is behind the last Seq it saw.
type Watcher struct {
	store feeds
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu       sync.Mutex // held while it reads, and by the check
	record   uint64     // the last Seq of the audit trail
	ended    uint64     // the last Seq of the revocations
	seen     map[uint64]bool
	sums     map[uint64]uint64 // of the records, by their Seq
	wrong    []string
	rounds   int // in which it read something
	failures int // while the database was away
}

// feeds holds what a watcher reads.
type feeds interface {
	Records(ctx context.Context, after uint64, n int) ([]driver.Record, error)
	Revocations(ctx context.Context, after uint64, n int) ([]driver.Revocation, error)
	Appended(ctx context.Context) (uint64, error)
	Close() error
}

// watches is the time between two looks.
const watches = 5 * time.Millisecond

// New begins to watch the database at an address.
func New(ctx context.Context, address string) (*Watcher, error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := postgres.Open(ctx, address, postgres.Options{NeverMigrate: true, PollOnly: true, Conns: 2, Log: quiet})
	if err != nil {
		return nil, err
	}
	w := &Watcher{store: s, seen: map[uint64]bool{}, sums: map[uint64]uint64{}}
	ctx, w.stop = context.WithCancel(ctx)
	w.done.Go(func() {
		for ctx.Err() == nil {
			w.look(ctx)
			select {
			case <-time.After(watches):
			case <-ctx.Done():
			}
		}
	})
	return w, nil
}

// Close ends a Watcher. One that is nil has ended.
func (w *Watcher) Close() {
	if w == nil {
		return
	}
	w.stop()
	w.done.Wait()
	w.store.Close() // nothing was written
}

// look reads what is new of both feeds.
func (w *Watcher) look(ctx context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.record + w.ended
	records, err := w.store.Records(ctx, w.record, driver.Page)
	if err == nil {
		w.follow(records)
		var feed []driver.Revocation
		if feed, err = w.store.Revocations(ctx, w.ended, driver.Page); err == nil {
			w.heed(feed)
		}
	}
	switch {
	case err != nil:
		w.failures++
	case w.record+w.ended > before:
		w.rounds++
	}
}

// follow notes a page of the trail, whose numbers have no gaps.
func (w *Watcher) follow(page []driver.Record) {
	for _, r := range page {
		if r.Seq != w.record+1 {
			w.complain("the audit trail shows Seq %d behind %d", r.Seq, w.record)
		}
		w.record = r.Seq
		w.sums[r.Seq] = sum(r)
	}
}

func sum(r driver.Record) uint64 {
	h := fnv.New64a()
	h.Write(r.Data)
	return h.Sum64()
}

// Changed reports whether a record is another one than the Watcher has seen under its Seq, as after a
// failover that has lost the first.
func (w *Watcher) Changed(r driver.Record) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	was, seen := w.sums[r.Seq]
	return seen && was != sum(r)
}

// heed notes a page of the revocations, whose numbers rise.
func (w *Watcher) heed(page []driver.Revocation) {
	for _, r := range page {
		if r.Seq <= w.ended {
			w.complain("the revocations show Seq %d behind %d", r.Seq, w.ended)
		}
		w.ended = r.Seq
		w.seen[r.Seq] = true
	}
}

func (w *Watcher) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// Stats says how far a Watcher has come.
type Stats struct {
	Records, Revocations uint64 // the last Seq of each
	Rounds, Failures     int    // in which it has read something; while the database was away
}

// Stats returns how far the Watcher has come.
func (w *Watcher) Stats() Stats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return Stats{w.record, w.ended, w.rounds, w.failures}
}

// Check reads both feeds from the beginning, while nobody kills anything: there is nothing that the
// Watcher has gone past, and nothing that it saw is gone. It returns what is wrong since the last time.
func (w *Watcher) Check(ctx context.Context) (wrong []string, err error) {
	if w == nil {
		return nil, nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.store.Appended(ctx)
	if err != nil {
		return nil, err
	}
	if last < w.record {
		w.complain("the audit trail ends at Seq %d, and %d was seen", last, w.record)
	}
	if err := w.reread(ctx); err != nil {
		return nil, err
	}
	wrong, w.wrong = w.wrong, nil
	return wrong, nil
}

// reread reads all revocations. A Seq that was seen may be gone, because the revocation has taken
// another since; the last one of all may not, unless a later one is there.
func (w *Watcher) reread(ctx context.Context) error {
	var last uint64
	for {
		page, err := w.store.Revocations(ctx, last, driver.Page)
		if err != nil {
			return err
		}
		for _, r := range page {
			if last = r.Seq; last <= w.ended && !w.seen[last] {
				w.complain("the revocation with Seq %d showed only when %d had been seen", last, w.ended)
				w.seen[last] = true
			}
		}
		if len(page) < driver.Page {
			break
		}
	}
	if last < w.ended {
		w.complain("the revocations end at Seq %d, and %d was seen", last, w.ended)
	}
	return nil
}
