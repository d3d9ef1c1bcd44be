package mcpcall

import (
	"context"
	"sync"
	"time"
)

// Limits of background tasks: notifications to upstreams that no caller waits for.
const (
	backgroundLimit   = 16
	backgroundTimeout = 5 * time.Second // each
)

// background runs tasks in the background, a few at a time.
type background struct {
	slots  chan struct{}  // holds one value for each running task
	others sync.WaitGroup // tasks that take none of the slots
	ctx    context.Context
	cancel context.CancelFunc
}

func newBackground() *background {
	l := &background{slots: make(chan struct{}, backgroundLimit)}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	return l
}

// try runs a task unless too many run already.
func (l *background) try(task func(context.Context)) {
	select {
	case l.slots <- struct{}{}:
		l.start(task)
	default:
	}
}

// run waits for a slot and runs a task, unless ctx ends first.
func (l *background) run(ctx context.Context, task func(context.Context)) {
	select {
	case l.slots <- struct{}{}:
		l.start(task)
	case <-ctx.Done():
	}
}

func (l *background) start(task func(context.Context)) {
	go func() {
		defer func() { <-l.slots }()
		ctx, cancel := context.WithTimeout(l.ctx, backgroundTimeout)
		defer cancel()
		task(ctx)
	}()
}

// beside runs a task that takes no slot, because it belongs to a call, of which there are not endless many. It calls
// cancel when the task is over, or must end.
func (l *background) beside(cancel context.CancelFunc, task func()) {
	l.others.Go(func() {
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
		task()
	})
}

// close returns when no task runs; it cancels running tasks when ctx ends. It keeps the slots,
// so that no task starts again.
func (l *background) close(ctx context.Context) {
	defer context.AfterFunc(ctx, l.cancel)()
	for range cap(l.slots) {
		l.slots <- struct{}{}
	}
	l.others.Wait()
	l.cancel()
}
