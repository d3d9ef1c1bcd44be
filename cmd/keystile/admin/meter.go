package admin

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/cmd/keystile/internal/cli"
	"github.com/keystile/keystile/cmd/keystile/internal/terminal"
	"github.com/keystile/keystile/internal/audit"
	"github.com/keystile/keystile/storage/driver"
)

// meter shows on a terminal that something takes its time: how far it is, and since when. It says
// nothing in the first second. A nil meter is silent.
type meter struct {
	w    io.Writer
	what string
	unit string // of done: "bytes", "records", "" if nothing is counted
	done atomic.Int64
	quit chan struct{}
	gone chan struct{}
}

// watch begins to show what is being done where a person reads the standard error. The caller ends it.
func watch(call cli.Call, what, unit string) *meter {
	if !terminal.Is(call.Stderr) {
		return nil
	}
	return newMeter(call.Stderr, what, unit)
}

func newMeter(w io.Writer, what, unit string) *meter {
	m := &meter{w: w, what: what, unit: unit, quit: make(chan struct{}), gone: make(chan struct{})}
	go m.show(time.Now())
	return m
}

func (m *meter) show(since time.Time) {
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

func (m *meter) far() string {
	switch n := m.done.Load(); {
	case m.unit == "" || n == 0:
		return ""
	case m.unit == "bytes":
		return fmt.Sprintf(", %.1f MiB", float64(n)/(1<<20))
	default:
		return fmt.Sprintf(", %d %s", n, m.unit)
	}
}

func (m *meter) add(n int) {
	if m != nil {
		m.done.Add(int64(n))
	}
}

// Write counts bytes that go elsewhere.
func (m *meter) Write(p []byte) (int, error) {
	m.add(len(p))
	return len(p), nil
}

// end takes away what is shown. It may be called again.
func (m *meter) end() {
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

// countedTrail is an audit trail that shows how much of it has been read.
type countedTrail struct {
	audit.Archive
	meter *meter
}

func (c countedTrail) Records(ctx context.Context, after uint64, n int) ([]driver.Record, error) {
	page, err := c.Archive.Records(ctx, after, n)
	c.meter.add(len(page))
	return page, err
}
