package shipper

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/keystile/keystile/gateway/stream"
	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/internal/record/shipping"
	"github.com/keystile/keystile/storage/driver"
)

// positions keep how far streams have come.
type positions interface {
	Stream(ctx context.Context, name string) (shipping.Position, error)
	SaveStream(ctx context.Context, at shipping.Position) (shipping.Position, error)
	lease.Store
}

// Follower ships one stream to its target, as far as it is this process's turn.
//
// Of several processes one ships, by a lease; where two do, the version of the position decides, and both have
// shipped the same. The end of a batch is stored before it is shipped, and its beginning after, so the same
// records are shipped again under the same key. A target that is away is tried again after a pause that doubles
// from a second to a minute; that is logged once, until it works again. One batch is in memory, however many
// records wait.
type Follower struct {
	config stream.Config
	name   string
	store  positions
	log    *slog.Logger
	wake   <-chan struct{}
	// how long another process waits for one that was killed
	lease time.Duration
	next  func(ctx context.Context) (piece, time.Duration, error) // what is due, or when to look again

	mu     sync.Mutex
	stats  stream.Stats
	oldest time.Time // the oldest that the target does not have; zero: it has all
}

// piece is work that leads to the next position. It comes out the same when two processes do it.
type piece func(ctx context.Context) error

const (
	look      = 2 * time.Second  // between two looks for what other processes have written
	others    = 5 * time.Second  // the same while another process ships
	firstWait = time.Second      // after a failure, and twice as long after each that follows
	longWait  = time.Minute      // at most
	putTime   = 2 * time.Minute  // for one batch
	storeTime = 10 * time.Second // for one answer of the store
)

// Stats returns how the stream is doing.
func (f *Follower) Stats() stream.Stats {
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.stats
	if !f.oldest.IsZero() {
		s.Age = max(time.Since(f.oldest), 0)
	}
	return s
}

// lags notes what the target does not have.
func (f *Follower) lags(behind uint64, oldest time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Behind, f.oldest = behind, oldest
}

// Run ships until ctx ends. A failure is logged once, until it works again, and tried again with
// growing pauses.
func (f *Follower) Run(ctx context.Context) {
	task := lease.New(f.store, "stream "+f.name, f.lease)
	defer f.leave(ctx, task)
	failing, pause := false, firstWait
	for ctx.Err() == nil {
		idle, wait, err := f.turn(ctx, task)
		if ctx.Err() != nil {
			return
		}
		f.ended(err)
		switch {
		case err != nil:
			if !failing {
				f.log.ErrorContext(ctx, "records are not shipped; they wait in the store until they are", "stream", f.stats.Stream,
					"target", f.config.Target.Name(), "err", err)
			}
			failing, idle, wait = true, false, pause
			pause = min(2*pause, longWait)
			f.leave(ctx, task) // another process may get there
		case failing && wait == 0:
			f.log.InfoContext(ctx, "records are shipped again", "stream", f.stats.Stream, "target", f.config.Target.Name())
			fallthrough
		case wait == 0 || f.Stats().Behind == 0:
			failing, pause = false, firstWait
		}
		f.rest(ctx, idle, wait)
	}
}

// rest waits, if it is idle until something was written.
func (f *Follower) rest(ctx context.Context, idle bool, wait time.Duration) {
	if wait == 0 {
		return
	}
	var wake <-chan struct{}
	if idle {
		wake = f.wake
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-wake:
	case <-timer.C:
	}
}

// turn does one piece of work, if there is one and it is this process's. Without a wait there may be more.
func (f *Follower) turn(ctx context.Context, task *lease.Task) (idle bool, wait time.Duration, err error) {
	do, wait, err := f.next(ctx)
	if err != nil || do == nil {
		return wait == look, wait, err
	}
	if mine, err := task.Mine(ctx); err != nil || !mine {
		return false, others, err
	}
	if err = do(ctx); errors.Is(err, driver.ErrConflict) {
		return false, 0, nil // another process was faster
	}
	return false, 0, err
}

func (f *Follower) ended(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Err = err
	if err != nil {
		f.stats.Failed++
	}
}

// leave lets another process ship. Where that fails, it takes a little longer.
func (f *Follower) leave(ctx context.Context, task *lease.Task) {
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if err := task.Release(last); err != nil {
		f.log.WarnContext(last, "the next process waits until it ships records", "stream", f.stats.Stream, "err", err)
	}
}

// put hands a batch to the target.
func (f *Follower) put(ctx context.Context, b stream.Batch) error {
	ctx, cancel := context.WithTimeout(ctx, putTime)
	defer cancel()
	if err := f.config.Target.Put(ctx, b); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Lines += uint64(b.Count)
	return nil
}
