package storage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/keystile/keystile/internal/record/lease"
	"github.com/keystile/keystile/storage/internal/clock"
	"github.com/keystile/keystile/storage/internal/document"
)

// Sweep removes everything that ended by at, in small steps, and returns how much.
//
// Expired tokens and documents are returned until they are swept: the reader of a record
// compares its ExpiresAt, because only the reader may look at a clock.
//
// Usage rows of hours are kept for 400 days ([driver.UsageHours]), which is longer than any question
// or settlement by the hour reaches back, and those of days for ever. Neither can be set: what
// a settlement is made of must not depend on it.
func (s *Store) Sweep(ctx context.Context, at time.Time) (int, error) {
	total := 0
	for {
		n, err := document.Backend(s.documents).Sweep(ctx, at, sweepStep)
		total += n
		if err != nil || n == 0 {
			return total, document.Unavailable("sweep", err)
		}
		if err := ctx.Err(); err != nil {
			return total, err
		}
	}
}

// SweepEvery sweeps now and at every interval until ctx ends; failures go to failed and do
// not stop it. A serving process runs it in a goroutine of its own. Of several that share the store
// one sweeps: where it ends without a word another one begins within three intervals. It also keeps the
// highest time seen in the store, and sweeps nothing that has not surely ended: a clock that
// cannot be right is an ErrClock. An ErrNewer means that another process of a newer version
// has joined: this one should end.
//
// Beside that, it counts and indexes once what is older than Counts and FindUsers. failed may be
// called by two goroutines at once.
func (s *Store) SweepEvery(ctx context.Context, every time.Duration, failed func(error)) {
	var walking sync.WaitGroup
	defer walking.Wait()
	walking.Go(func() { s.walkOn(ctx, failed) })
	walking.Go(func() { clock.Watch(ctx, s.storeClock, failed) })
	tick := time.NewTicker(every)
	defer tick.Stop()
	task := lease.New(s, "sweep", every+every/2)
	for {
		s.sweepNow(ctx, task, failed)
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), document.ProbeWait)
			defer cancel()
			if err := task.Release(last); err != nil {
				failed(fmt.Errorf("leave sweeping to another process: %w", err))
			}
			if err := clock.Mark(last, s.storeClock, time.Now(), true); err != nil {
				failed(fmt.Errorf("keep the highest time seen: %w", err))
			}
			return
		case <-tick.C:
		}
	}
}

func (s *Store) sweepNow(ctx context.Context, task *lease.Task, failed func(error)) {
	now := time.Now()
	if err := clock.Problem(s.storeClock, now); err != nil {
		failed(err)
	}
	if err := clock.Mark(ctx, s.storeClock, now, false); err != nil && ctx.Err() == nil {
		failed(fmt.Errorf("keep the highest time seen: %w", err))
	}
	switch err := document.CheckFeatures(ctx, s.documents); {
	case errors.Is(err, ErrNewer):
		failed(fmt.Errorf("another process serves from this store: %w", err))
	case errors.Is(err, ErrMoved):
		failed(fmt.Errorf("nothing is written any more: %w", err))
		return
	}
	if err := s.sweepFor(ctx, task, s.Reached(now)); err != nil && ctx.Err() == nil {
		failed(fmt.Errorf("sweep: %w", err))
	}
}

// sweepFor is Sweep as long as the task is this process's. Two that sweep remove the same.
func (s *Store) sweepFor(ctx context.Context, task *lease.Task, at time.Time) error {
	for {
		if mine, err := task.Mine(ctx); err != nil || !mine {
			return err
		}
		n, err := document.Backend(s.documents).Sweep(ctx, at, sweepStep)
		if err != nil {
			return document.Unavailable("sweep", err)
		}
		left, err := s.SweepGroups(ctx, at, sweepStep)
		if err != nil || n+left == 0 {
			return err
		}
	}
}
