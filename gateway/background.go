package gateway

import (
	"context"
	"sync"
)

// background tracks goroutines and long calls that Close waits for.
type background struct {
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
	last   []func()
}

func newBackground() *background {
	w := &background{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// do runs f in a goroutine, unless the gateway is closed.
func (w *background) do(f func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.all.Go(func() { f(w.ctx) })
	}
}

// hold makes close wait until release is called. The holder must stop when the context
// ends. ok is false once the gateway is closed.
func (w *background) hold() (release func(), ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return nil, false
	}
	w.all.Add(1)
	return w.all.Done, true
}

// finally makes close call f after everything else.
func (w *background) finally(f func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.last = append(w.last, f)
}

func (w *background) close() {
	w.mu.Lock()
	w.closed = true
	last := w.last
	w.mu.Unlock()
	w.cancel()
	w.all.Wait()
	for _, f := range last {
		f()
	}
}
