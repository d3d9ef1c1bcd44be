package clock

import (
	"context"
	"time"

	"github.com/keystile/keystile/internal/record/forward"
	"github.com/keystile/keystile/storage/internal/document"
)

// timeMark is the document that outlives a process whose clock was wrong.
type timeMark struct {
	Highest time.Time     `json:"highest"` // that any process has seen
	Reached time.Time     `json:"reached"` // that has surely come
	Doubted time.Duration `json:"doubted"` // how long a clock further ahead has been running
	Version int64         `json:"-"`
	carried
}

type carried = forward.Fields

var _ = carried(timeMark{}.carried)

var timeMarks = document.Kind[timeMark]{
	Name:    "clock",
	ID:      func(timeMark) string { return "highest" },
	Version: func(m *timeMark) *int64 { return &m.Version },
}

// Kinds are those of this package.
var Kinds = []document.AnyKind{timeMarks}

// Mark writes the mark, at most once a minute unless it is the last of this process.
func Mark(ctx context.Context, c *Clock, now time.Time, last bool) error {
	c.Later(now)
	c.mu.Lock()
	due := last || c.marked.IsZero() || now.Sub(c.marked) >= markAge
	if due {
		c.marked = now
	}
	c.mu.Unlock()
	if !due {
		return nil
	}
	_, err := document.Update(ctx, c.docs, timeMarks, "highest", func(m *timeMark) bool {
		*m = c.merge(*m, now)
		return true
	})
	return err
}

// merge reads what other processes have seen, and adds what this one has to the mark.
func (c *Clock) merge(m timeMark, now time.Time) timeMark {
	now = c.tell(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	passed := c.reached(now)
	if m.Highest.After(c.highest) {
		c.highest = m.Highest
	}
	m.Highest = c.highest
	if passed.After(m.Reached) {
		m.Reached = passed
	}
	m.Doubted = 0
	if c.held {
		m.Doubted = c.doubted + now.Sub(c.since)
	}
	return m
}
