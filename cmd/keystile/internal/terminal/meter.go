package terminal

import (
	"fmt"
	"io"
	"sync/atomic"
	"time"
)

// Meter shows on a terminal that something takes its time: how far it is, and since when. It says
// nothing in the first second. A nil Meter is silent.
type Meter struct {
	w    io.Writer
	what string
	unit string // of done: "bytes", "records", "" if nothing is counted
	done atomic.Int64
	quit chan struct{}
	gone chan struct{}
}

// Watch begins to show what is being done where w is a terminal; the Meter is nil elsewhere. unit
// names the things that are counted, "" if none are. The caller ends it.
func Watch(w io.Writer, what, unit string) *Meter {
	if !Is(w) {
		return nil
	}
	return newMeter(w, what, unit)
}

func newMeter(w io.Writer, what, unit string) *Meter {
	m := &Meter{w: w, what: what, unit: unit, quit: make(chan struct{}), gone: make(chan struct{})}
	go m.show(time.Now())
	return m
}

func (m *Meter) show(since time.Time) {
	defer close(m.gone)
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for shown := false; ; shown = true {
		select {
		case now := <-tick.C:
			fmt.Fprintf(m.w, "\r\x1b[Kkeystile: %s%s, %s", m.what, m.far(), now.Sub(since).Round(time.Second))
		case <-m.quit:
			if shown {
				fmt.Fprint(m.w, "\r\x1b[K") // takes the line away
			}
			return
		}
	}
}

func (m *Meter) far() string {
	switch n := m.done.Load(); {
	case m.unit == "" || n == 0:
		return ""
	case m.unit == "bytes":
		return fmt.Sprintf(", %.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf(", %d %s", n, m.unit)
	}
}

// Add counts what has been done.
func (m *Meter) Add(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Write counts bytes that go elsewhere.
func (m *Meter) Write(p []byte) (int, error) {
	m.Add(len(p))
	return len(p), nil
}

// End takes away what is shown. It may be called again.
func (m *Meter) End() {
	if m == nil {
		return
	}
	select {
	case <-m.quit:
	default:
		close(m.quit)
	}
	<-m.gone
}
