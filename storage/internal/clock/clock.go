package clock

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// ErrClock is reported by SweepEvery, and returned by ClockErr, when the clock cannot be right.
var ErrClock = errors.New("storage: the clock disagrees with the times in the store")

const (
	behindBy = 5 * time.Minute // what a clock may lag behind the highest time seen
	aheadBy  = 24 * time.Hour  // and be ahead of what is known to have passed
	// how long a service runs, over all its starts, until a clock that is further ahead is trusted
	trustAfter = 7 * 24 * time.Hour
	markAge    = time.Minute // the least time between two writes of the mark
)

// Clock keeps what a process knows of the time besides its own clock. Where the store has a clock of its own, that
// one stands in the place of this machine's in everything below (tell).
//
// Clocks are wrong now and then, and a revoked token stays revoked all the same. One document
// keeps the highest time that was seen, which grants and revocations are dated by while the
// clock is behind it: each revocation moves it on by a nanosecond, so that what is granted
// afterwards stands. It also keeps the time that has surely come, which only running, or a start
// within a day of it, moves on: sweeping goes by that one, so a second start with a clock that is
// days fast forgets no more than the first. A service that was really stopped for days sweeps
// late until it has run for seven, over all its starts; a machine that slept counts as stopped.
// Within the last minute before a kill the highest time may not be written, so a start that is
// behind takes it for a minute later.
type Clock struct {
	docs  *document.Store
	store storeClock

	mu       sync.Mutex
	highest  time.Time     // of what was seen, without a monotonic reading, as base is
	base     time.Time     // had been reached at since
	since    time.Time     // with a monotonic reading, which no change of the clock moves
	held     bool          // the clock is too far ahead to be trusted
	doubted  time.Duration // until since
	marked   time.Time     // with a monotonic reading; zero: not by this process
	reported string        // what was reported about the clock, so that it is reported once
}

// tell returns the time by which a store is served: now, which is by this machine's clock with its monotonic reading,
// or what the store's own clock has certainly reached, which no change of this machine's clock moves.
func (c *Clock) tell(now time.Time) time.Time {
	if c.store.source == nil {
		return now
	}
	earliest, _ := c.store.now()
	return earliest
}

// start compares the clock with the mark in the store.
func (c *Clock) start(m timeMark, now time.Time) {
	wall := now.Round(0).UTC()
	c.highest, c.base, c.since = m.Highest, m.Reached, now
	if behind := m.Highest.Sub(wall); behind > behindBy {
		c.highest = m.Highest.Add(markAge) // the process that wrote the mark may have run on for this long
	}
	if wall.After(c.highest) {
		c.highest = wall
	}
	c.doubted = m.Doubted
	c.held = !m.Reached.IsZero() && wall.Sub(m.Reached) > aheadBy
	if !c.held && wall.After(c.base) {
		c.base = wall
	}
}

// Reached returns the time that has surely come: no later than the clock's, nor than the
// time the store had reached plus the time this process has run. Records are removed by it once they
// have ended, so that a clock that was ahead does not remove revocations too early.
func (c *Clock) Reached(now time.Time) time.Time {
	now = c.tell(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.reached(now)
}

func (c *Clock) reached(now time.Time) time.Time {
	wall, ran := now.Round(0).UTC(), now.Sub(c.since)
	passed := c.base.Add(ran)
	switch ahead := wall.Sub(passed) > aheadBy; {
	case c.held && ahead && c.doubted+ran < trustAfter:
	case ahead && !c.held:
		c.held, c.base, c.since = true, passed, now
	default: // it is right, or behind, or trusted by now
		c.held, c.doubted, c.since, c.base = false, 0, now, passed
		if wall.After(passed) {
			c.base, passed = wall, wall
		}
	}
	if wall.Before(passed) {
		return wall
	}
	return passed
}

// Problem returns an error when the clock begins to be wrong.
func Problem(c *Clock, now time.Time) error {
	now = c.tell(now)
	c.mu.Lock()
	defer c.mu.Unlock()
	reported := c.reported
	wrong, err := c.wrong(now)
	c.reported = wrong
	if wrong == reported {
		return nil
	}
	return err
}

// wrong says how the clock is wrong now, and what that does; "": it is not.
func (c *Clock) wrong(now time.Time) (how string, err error) {
	passed, wall := c.reached(now), now.Round(0).UTC()
	apart := c.store.wrong(unreadyApart)
	switch {
	case apart != nil:
		return "apart", apart
	case c.held:
		return "ahead", fmt.Errorf("%w: it says %s, and by what the store has seen and the time this process has run it is "+
			"%s: what ends in between is kept until then; set the clock if it is wrong; if it is right, and the service was "+
			"stopped for so long, it is believed after %v of running",
			ErrClock, wall.Format(time.RFC3339), passed.Format(time.RFC3339), trustAfter)
	case c.highest.Sub(wall) > behindBy:
		return "behind", fmt.Errorf("%w: it says %s, and the store has seen %s: what is revoked by time ends all that was "+
			"granted until then; set the clock if it is wrong",
			ErrClock, wall.Format(time.RFC3339), c.highest.Format(time.RFC3339))
	}
	return "", nil
}

// ClockErr returns an ErrClock as long as the clock cannot be right, which SweepEvery reports once.
func (c *Clock) ClockErr() error {
	now := c.tell(time.Now())
	c.mu.Lock()
	defer c.mu.Unlock()
	_, err := c.wrong(now)
	return err
}

// Open asks the store's clock, where there is one, and reads the mark. read reads the clocks of this machine.
func Open(ctx context.Context, docs *document.Store, b driver.Backend, read func() Reading) (*Clock, error) {
	source, _ := driver.As[driver.Clock](b)
	c := &Clock{docs: docs, store: storeClock{source: source, read: read}}
	if c.store.source != nil {
		if _, err := c.store.ask(ctx); err != nil {
			return nil, err
		}
	}
	m, err := document.Find(ctx, docs, timeMarks, "highest")
	if err != nil {
		return nil, err
	}
	c.start(m, c.tell(time.Now()))
	return c, nil
}
