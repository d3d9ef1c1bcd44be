package jobs

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// Queue says where jobs are and how they are done. All fields are required.
type Queue[T any] struct {
	// Due returns up to n jobs that are due by a time, the earliest first.
	Due func(ctx context.Context, by time.Time, n int) ([]T, error)
	// Wait returns how long a job is not due yet; 0 or less: it is due.
	Wait func(job T, now time.Time) time.Duration
	// Claim leases a job that is due, or another one that has to come before it. If it is not ours,
	// another process has it, or there is nothing to do.
	Claim func(ctx context.Context, job T) (claimed T, ours bool, err error)
	// Do does a claimed job and stores the outcome. Its context ends when Close has no more time.
	Do func(ctx context.Context, job T)

	Every          time.Duration // interval of looking for what other processes have left
	Parallel       int           // jobs at a time
	Failing, Again string        // logged when the store begins to fail, and when it answers again
	Log            *slog.Logger
}

// Pauses between two reads of the store.
const (
	PageSize = 100 // jobs read at a time

	FirstWait = 100 * time.Millisecond
	LongWait  = 10 * time.Second // between questions to a store that fails, and for its answer
)

// Runner does the jobs of a Queue. Make it with New, begin with Start, end it with Close.
type Runner[T any] struct {
	q Queue[T]

	wake   chan struct{}
	drains chan drain
	quit   chan struct{} // closed by the first Close
	done   chan struct{} // closed when the last job has ended
	end    sync.Once
	cut    context.CancelFunc // ends jobs under way
	places chan struct{}      // one for each job under way

	failurePause time.Duration // the last pause of a store that fails; 0: it does not. Belongs to run
}

// drain asks for all jobs that are due by a time.
type drain struct {
	by   time.Time
	done chan error
}

// New makes a Runner.
func New[T any](q Queue[T]) *Runner[T] {
	return &Runner[T]{
		q: q, wake: make(chan struct{}, 1), drains: make(chan drain), quit: make(chan struct{}), done: make(chan struct{}),
		places: make(chan struct{}, q.Parallel),
	}
}

// Start begins with what an earlier process has left. Jobs have the values of ctx; they end by
// Close and not with ctx. Call it once, before Drain and Close.
func (r *Runner[T]) Start(ctx context.Context) {
	ctx, r.cut = context.WithCancel(context.WithoutCancel(ctx))
	go r.run(ctx)
}

// Wake makes the Runner look for due jobs now. It does not wait for anything.
func (r *Runner[T]) Wake() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Drain waits until every job that is due now has been done once, by this process or another, or
// until ctx ends. An error of the store ends it too: the jobs wait there.
func (r *Runner[T]) Drain(ctx context.Context) error {
	d := drain{time.Now(), make(chan error, 1)}
	select {
	case r.drains <- d:
	case <-r.quit:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case err := <-d.done:
		return err
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Close begins no more jobs and waits for those under way. When ctx ends first, they are cut off
// and the error says so: they count, and are repeated when their lease ends.
func (r *Runner[T]) Close(ctx context.Context) error {
	r.end.Do(func() { close(r.quit) })
	defer r.cut()
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
	}
	r.cut()
	<-r.done
	return fmt.Errorf("attempts were cut off; they are repeated by the next process: %w", ctx.Err())
}

// run is the one goroutine that looks; those that do jobs are its children.
func (r *Runner[T]) run(ctx context.Context) {
	defer close(r.done)
	var jobs sync.WaitGroup
	defer jobs.Wait()
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-r.quit:
			return
		case d := <-r.drains:
			d.done <- r.drain(ctx, d.by, &jobs)
			r.Wake() // what came due meanwhile
			continue
		case <-r.wake:
			if r.failurePause > 0 {
				continue // the store has its pause, even if Wake was called
			}
		case <-timer.C:
		}
		wait, err := r.look(ctx, &jobs)
		timer.Reset(r.backOff(ctx, wait, err))
	}
}

// look begins the jobs that are due and returns how long nothing more is, as far as this process
// knows.
func (r *Runner[T]) look(ctx context.Context, jobs *sync.WaitGroup) (time.Duration, error) {
	page, err := r.page(ctx, time.Now().Add(r.q.Every))
	if err != nil {
		return 0, err
	}
	for _, job := range page {
		if wait := r.q.Wait(job, time.Now()); wait > 0 {
			return wait, nil
		}
		if more, err := r.begin(ctx, job, jobs); err != nil || !more {
			return 0, err
		}
	}
	if len(page) == PageSize {
		return 0, nil
	}
	return r.q.Every, nil
}

// drain does what is due by a time, page by page, until nothing is left.
func (r *Runner[T]) drain(ctx context.Context, by time.Time, jobs *sync.WaitGroup) error {
	for {
		jobs.Wait()
		page, err := r.page(ctx, by)
		if err != nil || len(page) == 0 {
			return err
		}
		for _, job := range page {
			if more, err := r.begin(ctx, job, jobs); err != nil || !more {
				return errors.Join(err, ctx.Err())
			}
		}
	}
}

// begin claims a job and starts it in a place of its own, for which it waits; more is false once
// Close was called.
func (r *Runner[T]) begin(ctx context.Context, job T, jobs *sync.WaitGroup) (more bool, err error) {
	if !r.place() {
		return false, nil
	}
	claimed, ours, err := r.q.Claim(ctx, job)
	if err != nil || !ours {
		<-r.places
		return err == nil, err
	}
	jobs.Go(func() {
		defer func() {
			<-r.places
			r.Wake() // a successor may be due, and the next attempt of this one has a new time
		}()
		r.q.Do(ctx, claimed)
	})
	return true, nil
}

// place waits for one of the few places; false: Close was called.
func (r *Runner[T]) place() bool {
	select {
	case r.places <- struct{}{}:
	case <-r.quit:
		return false
	}
	select {
	case <-r.quit: // both were there, and select picks any
		<-r.places
		return false
	default:
		return true
	}
}

// page reads what is due by a time. Look reads what is due before the next look, so that the first
// that is not due yet says when that will be.
func (r *Runner[T]) page(ctx context.Context, by time.Time) ([]T, error) {
	ctx, cancel := context.WithTimeout(ctx, LongWait)
	defer cancel()
	return r.q.Due(ctx, by, PageSize)
}

// backOff returns the pause until the next read of the store, which grows while the store fails.
// It logs the first failure and the recovery.
func (r *Runner[T]) backOff(ctx context.Context, wait time.Duration, err error) time.Duration {
	switch {
	case err != nil && ctx.Err() == nil:
		if r.failurePause == 0 {
			r.q.Log.ErrorContext(ctx, r.q.Failing, "error", err)
		}
		r.failurePause = min(max(2*r.failurePause, FirstWait), LongWait)
		return r.failurePause
	case err == nil && r.failurePause > 0:
		r.q.Log.InfoContext(ctx, r.q.Again)
		r.failurePause = 0
	}
	return wait
}
