package main

import (
	"net/http"
	"slices"
	"sync"
	"time"
)

// hurried is an application of the free tier that asks more often than it may.
type hurried struct {
	*actor
	bearer string
	calls  *calls
}

// calls are those of the last minutes.
type calls struct {
	mu  sync.Mutex
	all []admission
}

// admission is a call that was admitted, or may have been.
type admission struct {
	sent, done time.Time
	node       int
	unknown    bool
}

const (
	rate   = 60
	window = time.Minute
)

func (h *hurried) step() {
	if h.bearer == "" {
		if app := h.makeApp(h.node(), "Hurried", "free"); app != nil {
			h.bearer, _ = h.machine(h.way(), *app)
		}
		return
	}
	a := h.get(h.way(), "/api/v1/verify", "Authorization", "Bearer "+h.bearer)
	switch {
	case a.unknown:
		h.calls.add(admission{a.sent, a.done, a.node, true})
	case a.status == http.StatusOK:
		h.did("admitted by the rate")
		h.calls.add(admission{a.sent, a.done, a.node, false})
		h.tooMany(a)
	case a.status == http.StatusTooManyRequests:
		h.did("refused by the rate")
		h.tooFew(a)
	default:
		h.violated("a call is answered %v", a)
	}
	h.pause(150 * time.Millisecond)
}

func (c *calls) add(a admission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(append(c.all, a), func(b admission) bool { return a.done.Sub(b.done) > 3*window })
}

// alone reports whether nodes may have counted by themselves at some time between two.
func (h *hurried) alone(from, until time.Time) bool {
	return !h.site.options.redis || h.any(from.Add(-settles), until, func(w wrong) bool { return w.counting || w.excuses })
}

// tooMany holds the number of admissions that were certainly within one window against the limit. Nodes
// that count alone, some of the time, let twice as many in together at most; without a Redis each of
// them lets the limit in.
func (h *hurried) tooMany(a answer) {
	most := rate
	if from := a.done.Add(-window); h.alone(from, a.done) {
		most = 2 * rate
		if !h.site.options.redis {
			most = rate * len(h.site.nodes) * (1 + h.restarts(from, a.done))
		}
	}
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	n := 0
	for _, b := range h.calls.all {
		if !b.unknown && b.sent.After(a.done.Add(-window)) && !b.done.After(a.done) {
			n++
		}
	}
	if n > most {
		h.violated("%d calls were admitted within a minute, and %d may be: %v", n, most, a)
	}
}

// restarts counts what may have emptied a node's memory.
func (h *hurried) restarts(from, until time.Time) (n int) {
	h.any(from.Add(-comeBack), until, func(w wrong) bool { n++; return false })
	return n
}

// tooFew holds a refusal against what was admitted: the whole limit, or the share of a node that counts
// alone.
func (h *hurried) tooFew(a answer) {
	least, here := rate, balanced
	if h.alone(a.sent.Add(-window), a.done) {
		least, here = rate/len(h.site.nodes), a.node
	}
	h.calls.mu.Lock()
	defer h.calls.mu.Unlock()
	n := 0
	for _, b := range h.calls.all {
		if b.done.After(a.sent.Add(-window)) && (here == balanced || b.node == here || b.node == balanced) {
			n++
		}
	}
	if n < least {
		h.violated("a call is refused when %d of %d were admitted within a minute: %v", n, least, a)
	}
}
