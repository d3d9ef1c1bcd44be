package ledger

import (
	"context"
	"sync"
)

// readLock keeps reads and sends apart: a read adds what the store holds to what it does not
// hold yet, and would miss or repeat a batch that crosses over meanwhile. Reads share it,
// a send has it alone, and a send that waits keeps new reads out. Unlike those of a
// sync.RWMutex its waits end with a context.
type readLock struct {
	mu      sync.Mutex
	readers int
	sending bool
	changed chan struct{} // closed at the next change; nil: nobody waits
}

// enter lets a read in; leave must follow.
func (g *readLock) enter(ctx context.Context) error {
	return g.wait(ctx, func() bool {
		if g.sending {
			return false
		}
		g.readers++
		return true
	})
}

func (g *readLock) leave() { g.change(func() { g.readers-- }) }

// begin lets a send in, alone; end must follow.
func (g *readLock) begin(ctx context.Context) error {
	err := g.wait(ctx, func() bool {
		if g.sending {
			return false
		}
		g.sending = true
		return true
	})
	if err != nil {
		return err
	}
	if err := g.wait(ctx, func() bool { return g.readers == 0 }); err != nil {
		g.end()
		return err
	}
	return nil
}

func (g *readLock) end() { g.change(func() { g.sending = false }) }

func (g *readLock) wait(ctx context.Context, try func() bool) error {
	for {
		g.mu.Lock()
		if try() {
			g.mu.Unlock()
			return nil
		}
		if g.changed == nil {
			g.changed = make(chan struct{})
		}
		changed := g.changed
		g.mu.Unlock()
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (g *readLock) change(do func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	do()
	if g.changed != nil {
		close(g.changed)
		g.changed = nil
	}
}
