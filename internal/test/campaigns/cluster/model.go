package main

import (
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// model knows what has to be true of every answer, and what was wrong meanwhile.
type model struct {
	site *site
	over atomic.Bool // nobody works any more
	busy sync.WaitGroup

	requests, away, lost, crowds atomic.Int64

	mu         sync.Mutex
	began      time.Time
	wrongs     []wrong
	found      []wrong // later, by asking the nodes
	violations []string
	acts       map[string]*tally
	seen       map[string][]time.Duration // how long it took until all nodes knew of something
	starts     []time.Time                // of nodes
	lookout    *lookout
	looking    sync.Mutex // of the lookout
	ledger     [3]int64   // charged calls that were answered, are counted, were sent
}

// tally counts the acts of one kind.
type tally struct{ done, unknown int }

// wrong is a time in which something was wrong, and what that may do to answers.
type wrong struct {
	what        string
	from, until time.Time // until is zero while it lasts
	excuses     bool      // a request may go unanswered, or be answered 503
	node        int       // only at this one; everywhere: at any
	counting    bool      // the nodes may not count together
	slow        bool      // everything takes longer
	aimed       bool      // a request that does not go through the balancer may go unanswered
}

// everywhere stands for all nodes.
const everywhere = -1

func newModel(s *site) *model {
	m := &model{site: s, began: time.Now(), acts: map[string]*tally{}, seen: map[string][]time.Duration{}}
	m.lookout = &lookout{model: m, last: time.Now(), alone: make([]int64, len(s.nodes))}
	return m
}

// violated notes a broken promise.
func (m *model) violated(format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.violations) >= maxViolations {
		return
	}
	last := "nothing was wrong before"
	if n := len(m.wrongs); n > 0 {
		w := m.wrongs[n-1]
		last = fmt.Sprintf("fault %d, %s, was %.2f s before", n, w.what, time.Since(w.from).Seconds())
		if w.until.IsZero() {
			last = fmt.Sprintf("amid fault %d, %s, %.2f s old", n, w.what, time.Since(w.from).Seconds())
		}
	}
	m.violations = append(m.violations, fmt.Sprintf("%8.3f s (%s): ", time.Since(m.began).Seconds(),
		last)+fmt.Sprintf(format, args...))
}

const maxViolations = 40

// hopeless reports whether more would say nothing new.
func (m *model) hopeless() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.violations) >= maxViolations
}

// did counts an act that was answered.
func (m *model) did(what string) { m.count(what).done++; m.mu.Unlock() }

// lostSight counts one of which nobody knows whether it has happened.
func (m *model) lostSight(what string) { m.count(what).unknown++; m.mu.Unlock() }

// count returns a tally, with the lock held.
func (m *model) count(what string) *tally {
	m.mu.Lock()
	if m.acts[what] == nil {
		m.acts[what] = &tally{}
	}
	return m.acts[what]
}

// took notes how long something took.
func (m *model) took(what string, d time.Duration) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.seen[what] = append(m.seen[what], d)
}

// started notes that a node begins anew, with nothing counted.
func (m *model) started() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.starts = append(m.starts, time.Now())
}

// note adds something that was wrong, and is found out later.
func (m *model) note(w wrong) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.found = append(m.found, w)
}

// begin notes that something is wrong from now on; the function ends it.
func (m *model) begin(w wrong) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.from = time.Now()
	i := len(m.wrongs)
	m.wrongs = append(m.wrongs, w)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.wrongs[i].until = time.Now()
	}
}

// any reports whether something of a sort was wrong at any time between two.
func (m *model) any(from, until time.Time, sort func(wrong) bool) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	is := func(w wrong) bool {
		return w.from.Before(until) && (w.until.IsZero() || w.until.After(from)) && sort(w)
	}
	return slices.ContainsFunc(m.wrongs, is) || slices.ContainsFunc(m.found, is)
}

// settles is the time after a fault in which what it did may still show: a look of the balancer, and a
// request that waited.
const settles = 300 * time.Millisecond

// excused reports whether a request may have gone unanswered.
func (m *model) excused(a answer) bool {
	return m.any(a.sent.Add(-settles), a.done, func(w wrong) bool {
		return w.aimed && a.way != balanced || w.excuses && (w.node == everywhere || a.node == everywhere || w.node == a.node)
	})
}

// Bounds of the time until all nodes know what one of them was told: the promise, what a loaded machine
// may add, and when a node must have noticed that it reads nothing.
const (
	promised = time.Second
	slack    = time.Second
)

// bound is the time after which something that was answered must hold at a node.
func (m *model) bound(acked, now time.Time) time.Duration {
	if m.any(acked.Add(-settles), now, func(w wrong) bool { return w.excuses }) {
		return staleAfter + promised + slack
	}
	if m.any(acked.Add(-settles), now, func(w wrong) bool { return w.slow }) {
		return promised + 2*slack
	}
	return promised + slack
}

// everyNode has a question asked at each node until the answer is what it must become, and notes a
// violation if one is the old one when it must not be any more. unknown says that there was no answer.
// done is closed at the end.
func (m *model) everyNode(what string, acked time.Time,
	ask func(node int) (holds, unknown bool, a answer)) (done chan struct{}) {
	done = make(chan struct{})
	m.busy.Go(func() {
		defer close(done)
		var asking sync.WaitGroup
		for i := range m.site.nodes {
			asking.Go(func() { m.becomes(what, acked, i, ask) })
		}
		asking.Wait()
		m.took(what, time.Since(acked))
	})
	return done
}

// becomes asks one node. One that does not answer for long is asked again later by others.
func (m *model) becomes(what string, acked time.Time, node int, ask func(node int) (holds, unknown bool, a answer)) {
	for end := acked.Add(comeBack); time.Now().Before(end); time.Sleep(25 * time.Millisecond) {
		holds, unknown, a := ask(node)
		switch {
		case unknown:
			time.Sleep(100 * time.Millisecond)
		case holds:
			return
		case a.sent.Sub(acked) > m.bound(acked, a.sent):
			m.violated("%s: %.2f s after it was answered, node %d says %v", what, a.sent.Sub(acked).Seconds(), node, a)
			return
		}
	}
}
