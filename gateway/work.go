package gateway

import (
	"context"
	"sync"
)

// work is what runs beside the requests. Close waits for all of it.
type work struct {
	mu     sync.Mutex
	closed bool
	all    sync.WaitGroup
	ctx    context.Context
	cancel context.CancelFunc
}

func newWork() *work {
	w := &work{}
	w.ctx, w.cancel = context.WithCancel(context.Background())
	return w
}

// do runs f beside the caller, unless the gateway is closed.
func (w *work) do(f func(context.Context)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.closed {
		w.all.Go(func() { f(w.ctx) })
	}
}

func (w *work) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.cancel()
	w.all.Wait()
}
