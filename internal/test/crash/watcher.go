package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/postgres"
)

// watcher follows the two feeds of a database while everybody writes, as a node does that is never
// killed: it reads what is behind the last Seq it saw. What it has seen stays, and it misses nothing.
type watcher struct {
	store feeds
	stop  context.CancelFunc
	done  sync.WaitGroup

	mu       sync.Mutex // held while it reads, and by the check
	record   uint64     // the last Seq of the audit trail
	ended    uint64     // the last Seq of the revocations
	seen     map[uint64]bool
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

func newWatcher(ctx context.Context, address string) (*watcher, error) {
	quiet := slog.New(slog.NewTextHandler(io.Discard, nil))
	s, err := postgres.Open(ctx, address, postgres.Options{NeverMigrate: true, PollOnly: true, Conns: 2, Log: quiet})
	if err != nil {
		return nil, err
	}
	w := &watcher{store: s, seen: map[uint64]bool{}}
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

func (w *watcher) close() {
	if w == nil {
		return
	}
	w.stop()
	w.done.Wait()
	w.store.Close() // nothing was written
}

// look reads what is new of both feeds.
func (w *watcher) look(ctx context.Context) {
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
func (w *watcher) follow(page []driver.Record) {
	for _, r := range page {
		if r.Seq != w.record+1 {
			w.complain("the audit trail shows Seq %d behind %d", r.Seq, w.record)
		}
		w.record = r.Seq
	}
}

// heed notes a page of the revocations, whose numbers rise.
func (w *watcher) heed(page []driver.Revocation) {
	for _, r := range page {
		if r.Seq <= w.ended {
			w.complain("the revocations show Seq %d behind %d", r.Seq, w.ended)
		}
		w.ended = r.Seq
		w.seen[r.Seq] = true
	}
}

func (w *watcher) complain(format string, args ...any) {
	w.wrong = append(w.wrong, fmt.Sprintf(format, args...))
}

// check reads both feeds from the beginning, while nobody kills anything: there is nothing that the
// watcher has gone past, and nothing that it saw is gone.
func (w *watcher) check(j *journal) error {
	if w == nil {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	last, err := w.store.Appended(context.Background())
	if err != nil {
		return err
	}
	if last < w.record {
		w.complain("the audit trail ends at Seq %d, and %d was seen", last, w.record)
	}
	if err := w.reread(); err != nil {
		return err
	}
	for _, wrong := range w.wrong {
		j.violated(nil, "%s", wrong)
	}
	w.wrong = nil
	return nil
}

// reread reads all revocations. A Seq that was seen may be gone, because the revocation has taken
// another since; the last one of all may not, unless a later one is there.
func (w *watcher) reread() error {
	var last uint64
	for {
		page, err := w.store.Revocations(context.Background(), last, driver.Page)
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
