package mcpcall

import (
	"context"
	"time"
)

// Of what runs in the background: courtesies to upstreams, for which nobody waits.
const (
	backgroundLimit   = 16
	backgroundTimeout = 5 * time.Second // each
)

// background runs tasks in the background, a few at a time.
type background struct {
	slots  chan struct{} // one in it for each task that runs
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

// run runs a task as soon as it may, unless ctx ends first.
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

// close returns when no task runs; those that do when ctx ends are broken off. It keeps
// the slots, so that none starts again.
func (l *background) close(ctx context.Context) {
	defer context.AfterFunc(ctx, l.cancel)()
	for range cap(l.slots) {
		l.slots <- struct{}{}
	}
	l.cancel()
}
