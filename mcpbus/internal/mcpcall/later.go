package mcpcall

import (
	"context"
	"time"
)

// Of what runs in the background: courtesies to upstreams, for which nobody waits.
const (
	laterAtOnce  = 16
	laterTimeout = 5 * time.Second // each
)

// later runs tasks in the background, a few at a time.
type later struct {
	slots chan struct{} // one in it for each task that runs
	life  context.Context
	end   context.CancelFunc
}

func newLater() *later {
	l := &later{slots: make(chan struct{}, laterAtOnce)}
	l.life, l.end = context.WithCancel(context.Background())
	return l
}

// try runs a task unless too many run already.
func (l *later) try(task func(context.Context)) {
	select {
	case l.slots <- struct{}{}:
		l.start(task)
	default:
	}
}

// run runs a task as soon as it may, unless ctx ends first.
func (l *later) run(ctx context.Context, task func(context.Context)) {
	select {
	case l.slots <- struct{}{}:
		l.start(task)
	case <-ctx.Done():
	}
}

func (l *later) start(task func(context.Context)) {
	go func() {
		defer func() { <-l.slots }()
		ctx, cancel := context.WithTimeout(l.life, laterTimeout)
		defer cancel()
		task(ctx)
	}()
}

// close returns when no task runs; those that do when ctx ends are broken off. It keeps
// the slots, so that none starts again.
func (l *later) close(ctx context.Context) {
	defer context.AfterFunc(ctx, l.end)()
	for range cap(l.slots) {
		l.slots <- struct{}{}
	}
	l.end()
}
