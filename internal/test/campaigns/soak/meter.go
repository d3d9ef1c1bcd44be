package main

import (
	"bytes"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// meter notes how long each request took, and what went wrong with it.
type meter struct {
	began    time.Time
	requests atomic.Int64
	crowds   atomic.Int64

	mu       sync.Mutex
	kinds    map[string][]took
	problems []problem
	windows  []window
}

// took is the time of an answer that was good.
type took struct{ at, time time.Duration }

// class is a sort of what goes wrong.
type class string

const (
	lost   class = "unanswered"     // nobody knows whether it has happened
	away   class = "refused, 503"   // with Retry-After
	behind class = "upstream fails" // the service behind the gateway or a tool
	wrong  class = "wrong answer"   // which no fault explains
)

// problem is a request that did not get the answer that it had to.
type problem struct {
	kind       string
	class      class
	status     int
	node       string // that has answered, or not; "" if nobody knows
	sent, done time.Time
	says       string
}

// window is a time in which something is wrong, and what that may do.
type window struct {
	what        string
	from, until time.Time // until is zero while it lasts
	explains    func(problem) bool
	slow        bool // requests take longer without being refused
}

// settles is the time after a fault in which what it did may still show.
const settles = time.Second

func newMeter() *meter { return &meter{began: time.Now(), kinds: map[string][]took{}} }

// open notes that something is wrong from now on; the function ends it.
func (m *meter) open(w window) (end func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	w.from = time.Now()
	i := len(m.windows)
	m.windows = append(m.windows, w)
	return func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.windows[i].until = time.Now()
	}
}

func (w window) meets(from, until time.Time) bool {
	return w.from.Before(until) && (w.until.IsZero() || w.until.Add(settles).After(from))
}

// explained names the fault that explains a problem, "" if none does.
func (m *meter) explained(p problem) string {
	for _, w := range m.windows {
		if w.meets(p.sent, p.done) && w.explains != nil && w.explains(p) {
			return w.what
		}
	}
	return ""
}

// note notes an answer: a good one, or what is wrong with it.
func (m *meter) note(kind string, a answer, good bool) {
	if a.crowded() {
		m.crowds.Add(1)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if good {
		m.kinds[kind] = append(m.kinds[kind], took{a.sent.Sub(m.began), a.done.Sub(a.sent)})
		return
	}
	m.problems = append(m.problems, problem{kind, a.class(), a.status, a.node, a.sent, a.done, a.String()})
}

// wrong notes what is wrong although it is no single answer.
func (m *meter) wrong(kind, format string, args ...any) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.problems = append(m.problems, problem{kind, wrong, 0, "", time.Now(), time.Now(), fmt.Sprintf(format, args...)})
}

// forget begins anew, for what comes after a calibration.
func (m *meter) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.began, m.kinds = time.Now(), map[string][]took{}
	m.requests.Store(0)
}

// times are the percentiles of the answers of a kind in a part of the time, without those amid a fault.
type times struct {
	Count    int           `json:"count"`
	P50, P99 time.Duration `json:",omitempty"`
}

func (m *meter) times(kind string, from, until time.Duration) times {
	m.mu.Lock()
	defer m.mu.Unlock()
	var all []time.Duration
	for _, t := range m.kinds[kind] {
		if t.at >= from && t.at < until && !m.troubled(t) {
			all = append(all, t.time)
		}
	}
	slices.Sort(all)
	n := len(all)
	if n == 0 {
		return times{}
	}
	return times{n, all[n/2], all[n*99/100]}
}

// troubled reports whether an answer was given amid a fault.
func (m *meter) troubled(t took) bool {
	from := m.began.Add(t.at)
	return slices.ContainsFunc(m.windows, func(w window) bool {
		return (w.explains != nil || w.slow) && w.meets(from, from.Add(t.time))
	})
}

// answer is a response, or that there was none.
type answer struct {
	sent, done time.Time
	node       string // that has answered, or not
	status     int
	header     http.Header
	body       []byte
	err        error
	failed     bool // a tool's upstream
	upstream   bool // there is one
}

func (a answer) String() string {
	if a.err != nil {
		return fmt.Sprintf("nothing: %v", a.err)
	}
	body := bytes.TrimSpace(a.body)
	return fmt.Sprintf("%d %s (node %s, request %s, %.0f ms)", a.status, body[:min(len(body), 300)], a.node,
		a.header.Get("X-Request-Id"), float64(a.done.Sub(a.sent).Microseconds())/1000)
}

func (a answer) class() class {
	switch {
	case a.err != nil:
		return lost
	case a.status == http.StatusServiceUnavailable && (a.header.Get("Retry-After") != "" || a.made()):
		return away
	case a.failed || a.upstream && a.status >= 500:
		return behind
	}
	return wrong
}

// made reports whether a 503 says that the change is made, and is only not on the trail yet. It has no Retry-After on
// purpose: nothing has to be sent again.
func (a answer) made() bool { return bytes.Contains(a.body, []byte("the change is made")) }

// crowded reports whether more passwords waited to be hashed than a loaded machine can hash in a few
// seconds: nothing was looked at.
func (a answer) crowded() bool {
	return a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") != "" &&
		bytes.Contains(a.body, []byte("Too many people are signing in"))
}

// cookie is a cookie that the answer sets, with its name; "" if it sets none.
func (a answer) cookie(name string) string {
	for _, c := range (&http.Response{Header: a.header}).Cookies() {
		if c.Name == name && c.Value != "" {
			return c.Name + "=" + c.Value
		}
	}
	return ""
}
