package storage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// storeClock holds what this process knows of the clock of a store that has one of its own (driver.Clock). See "One
// clock" in the documentation of the package.
//
// The zero value is that of a store that has none.
type storeClock struct {
	source driver.Clock
	read   func() clockReading

	mu           sync.Mutex
	at           time.Time     // what the store's clock said,
	began, ended time.Duration // at a moment between these two
	others       time.Duration // the most that the earliest time of another node lags behind the store's clock
}

// clockOf returns b, or what it wraps, as a Clock. It is nil for a store that has none.
func clockOf(b driver.Backend) driver.Clock {
	for b != nil {
		if c, ok := b.(driver.Clock); ok {
			return c
		}
		wrapper, ok := b.(interface{ Unwrap() driver.Backend })
		if !ok {
			return nil
		}
		b = wrapper.Unwrap()
	}
	return nil
}

// clockReading is of the two clocks of a machine.
type clockReading struct {
	wall time.Time     // may be set, and be wrong
	ran  time.Duration // since some moment, which nobody can set; it may run a little fast or slow
}

var processBegan = time.Now()

func readMachine() clockReading {
	now := time.Now()
	return clockReading{now.Round(0).UTC(), now.Sub(processBegan)}
}

const (
	driftOf      = 2000             // one part of which is how much faster or slower a machine's clock may run
	unreadyApart = 5 * time.Second  // how far a machine's clock may be from the store's
	longestAway  = 20 * time.Second // that a process goes on granting while it cannot ask
	refuseApart  = time.Minute      // and from where on nothing is granted
	watchEvery   = 2 * time.Second  // between two questions what time it is
	mostLag      = time.Second      // what a revocation waits for other nodes, at most
	finest       = time.Microsecond // the resolution of a store's clock
	askWait      = 2 * time.Second  // for an answer
)

// drift returns how far two clocks may have moved apart.
func drift(d time.Duration) time.Duration { return d.Abs()/driftOf + time.Nanosecond }

// earliest returns a time that the store's clock has certainly reached.
func (c *storeClock) earliest(r clockReading) time.Time {
	since := r.ran - c.ended
	return c.at.Add(since - drift(since))
}

// latest returns a time that it has not passed.
func (c *storeClock) latest(r clockReading) time.Time {
	since := r.ran - c.began
	return c.at.Add(since + drift(since) + finest)
}

// ask asks the store what time it is. Everything that was dated by its earliest time at any node, before ask was
// called, is dated before the time that ask returns.
func (c *storeClock) ask(ctx context.Context) (time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	began := c.read()
	at, err := c.source.Now(ctx)
	if err != nil {
		return time.Time{}, unavailable("the store's clock", err)
	}
	ended := c.read()
	at = at.Round(0).UTC()
	c.mu.Lock()
	defer c.mu.Unlock()
	// Of two answers that do not contradict each other the one stays that says it more exactly by now.
	lag := c.latest(ended).Sub(c.earliest(ended))
	took := ended.ran - began.ran
	agrees := !at.Add(took+finest).Before(c.earliest(ended)) && !at.After(c.latest(ended))
	if c.at.IsZero() || !agrees || took <= lag {
		c.at, c.began, c.ended = at, began.ran, ended.ran
	}
	return at.Add(finest), nil
}

// lag returns how far earliest may be behind the store's clock until this process has asked again, if the store is
// away for a while too.
func (c *storeClock) lag() time.Duration {
	earliest, latest := c.now()
	return latest.Sub(earliest) + drift(longestAway)
}

// now returns the earliest and the latest that the store's clock can say.
func (c *storeClock) now() (earliest, latest time.Time) {
	r := c.read()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.earliest(r), c.latest(r)
}

// apart returns how far this machine's clock is ahead of the store's; less than 0: behind it.
func (c *storeClock) apart() time.Duration {
	if c.source == nil {
		return 0
	}
	r := c.read()
	c.mu.Lock()
	defer c.mu.Unlock()
	switch earliest, latest := c.earliest(r), c.latest(r); {
	case r.wall.After(latest):
		return r.wall.Sub(latest)
	case r.wall.Before(earliest):
		return r.wall.Sub(earliest)
	}
	return 0
}

// heard takes down how far other nodes lag.
func (c *storeClock) heard(lag time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.others = min(lag, mostLag)
}

// settle waits until no node dates by a time before that of a revocation, which was known at a moment: whoever
// signs in after Revoke has returned is then not refused by it, at whichever node. A caller who goes away is not
// kept: the revocation is stored.
func (c *storeClock) settle(ctx context.Context, known time.Duration) {
	c.mu.Lock()
	wait := c.others + finest - (c.read().ran - known)
	c.mu.Unlock()
	if wait <= 0 {
		return
	}
	select {
	case <-time.After(wait):
	case <-ctx.Done():
	}
}

// wrong returns an ErrClock while this machine's clock is further from the store's than by most.
func (c *storeClock) wrong(most time.Duration) error {
	apart := c.apart()
	if apart.Abs() <= most {
		return nil
	}
	how := "ahead of"
	if apart < 0 {
		how = "behind"
	}
	return fmt.Errorf("%w: the clock of this machine is %s %s that of the store, which dates what is granted and ended: set both by NTP; this node is not ready meanwhile, and grants nothing from %s on",
		ErrClock, apart.Abs().Round(100*time.Millisecond), how, refuseApart)
}

// ClockAhead returns how far this machine's clock is ahead of the store's, or by less than 0 behind it, as far as that
// is certain; 0 where the store has no clock of its own.
func (s *Store) ClockAhead() time.Duration { return s.clock.store.apart() }

// watchClock asks what time it is, again and again until ctx ends, and reports when this machine's clock begins to be
// wrong.
func (s *Store) watchClock(ctx context.Context, failed func(error)) {
	c := &s.clock.store
	if c.source == nil {
		return
	}
	tick := time.NewTicker(watchEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		c.ask(ctx) // who cannot ask goes by what is known: what is granted is dated a little earlier then
		if err := s.clock.problem(time.Now()); err != nil {
			failed(err)
		}
	}
}

// MayGrant returns an ErrUnavailable while nothing can be granted, because this machine's clock is too far from the
// store's. Issue and Exchange ask it themselves.
func (s *Store) MayGrant() error {
	if err := s.clock.store.wrong(refuseApart); err != nil {
		return fmt.Errorf("%w: %w", ErrUnavailable, err)
	}
	return nil
}
