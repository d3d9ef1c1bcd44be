package plainhttp

import (
	"context"
	"sync"
	"time"
)

// watch notices that the client has left while a handler runs. That takes a read, in another goroutine, and the
// connection has to be taken back from it: most handlers have answered before it is worth it. So only the client of a
// request that lasts for a whole tick (package ticks) is watched.
type watch struct {
	conn *conn

	mu      sync.Mutex
	ended   sync.Cond // of a read
	cancel  context.CancelFunc
	asked   bool   // a request has come as a whole, and its handler runs
	listed  bool   // Server.watched has the connection
	count   uint64 // of requests so far
	seen    uint64 // the request that the last tick saw
	reading bool
	stopped bool // the read is to end
}

func (w *watch) init(c *conn) { w.conn, w.ended.L = c, &w.mu }

// begin begins a request. Where it has a body, the client is watched from the body's end.
func (w *watch) begin(cancel context.CancelFunc, whole bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.cancel = cancel
	if whole {
		w.watchLocked()
	}
}

// watchFromHere is called when the body has ended.
func (w *watch) watchFromHere() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.watchLocked()
	}
}

func (w *watch) watchLocked() {
	w.asked = true
	w.count++
	if c := w.conn; c.from == c.to {
		c.from, c.to = 0, 0
	}
	if !w.listed {
		w.listed = true
		w.conn.server.watched.Add(w)
	}
}

// end ends a request. When it returns, nobody reads.
func (w *watch) end() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked, w.cancel = false, nil
	if !w.reading {
		return
	}
	w.stopped = true
	w.conn.SetReadDeadline(time.Unix(1, 0))
	for w.reading {
		w.ended.Wait()
	}
	w.stopped = false
	w.conn.SetReadDeadline(time.Time{})
}

// lost ends the context of the request.
func (w *watch) lost() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.cancel != nil {
		w.cancel()
	}
}

// Tick begins to read if the request is one that the last tick has seen. It reports whether to look again.
func (w *watch) Tick() (again bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.count != w.seen {
		w.seen = w.count
		return true
	}
	w.listed = false
	c := w.conn
	if !w.asked || len(c.buf)-c.to < leastWatched {
		return false // the client has sent more, and waits for its turn
	}
	w.reading = true
	go w.read(c.buf[c.to:])
	return false
}

// leastWatched: a Read of one byte is net/http's, to internal/connections.
const leastWatched = 2

// read waits for the client to leave, or for its next request.
func (w *watch) read(into []byte) {
	n, err := w.conn.Conn.Read(into)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conn.to += n
	w.reading = false
	if err != nil && !w.stopped && w.cancel != nil {
		w.cancel()
	}
	w.ended.Broadcast()
}
