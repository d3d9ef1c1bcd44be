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
	mu      sync.Mutex
	all     []admission
	pending int // of which nobody knows yet, or of which it is being judged
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
			var a answer
			h.bearer, a = h.machine(h.way(), *app)
			h.calls.add(admission{a.sent, a.done, a.node, a.unknown}) // it counts too: the application has proved itself
		}
		return
	}
	h.calls.waiting(1)
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
	h.calls.waiting(-1)
	h.pause(150 * time.Millisecond)
}

func (c *calls) add(a admission) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all = slices.DeleteFunc(append(c.all, a), func(b admission) bool { return a.done.Sub(b.done) > 3*window })
}

// tooMany holds the number of admissions that were certainly within one window against the limit. While
// it may be that nodes count alone each of them lets its share in beside, and once more after it was
// started anew; without a Redis each lets the limit in.
func (h *hurried) tooMany(a answer) {
	from := a.done.Add(-window)
	n := h.calls.count(func(b admission) bool { return !b.unknown && b.sent.After(from) && !b.done.After(a.done) })
	most, alone := rate, h.alone(from, a.done)
	if alone {
		most += rate / len(h.site.nodes) * h.shares(from, a.done)
	}
	if !h.site.options.redis {
		most = rate * h.shares(from, a.done)
	}
	switch {
	case n > most:
		h.violated("%d calls were admitted within a minute, and %d may be: %v", n, most, a)
	case !alone:
		h.did("admitted by the rate of all nodes together")
	}
}

// shares counts the nodes, one that was started anew again.
func (h *hurried) shares(from, until time.Time) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := len(h.site.nodes)
	for _, at := range h.starts {
		if at.After(from.Add(-comeBack)) && at.Before(until) {
			n++
		}
	}
	return n
}

// tooFew holds a refusal against what was admitted: the whole limit by all, or the share of a node that
// counts alone by that one.
func (h *hurried) tooFew(a answer) {
	from := a.sent.Add(-window)
	all := h.calls.count(func(b admission) bool { return b.done.After(from) })
	here := h.calls.count(func(b admission) bool { return b.done.After(from) && (b.node == a.node || b.node == balanced) })
	all += h.calls.waiting(0) - 1 // one that has no answer yet may be admitted; this one is not
	if all < rate && (here < rate/len(h.site.nodes) || !h.alone(from, a.done)) {
		h.violated("a call is refused when %d calls of %d were admitted within a minute, %d of them by this node: %v", all,
			rate, here, a)
	}
}

// waiting changes the number of calls whose answers have not come, and returns it.
func (c *calls) waiting(more int) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.pending += more
	return c.pending
}

func (c *calls) count(which func(admission) bool) (n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, b := range c.all {
		if which(b) {
			n++
		}
	}
	return n
}
