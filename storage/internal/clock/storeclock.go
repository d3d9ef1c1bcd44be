package clock

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/internal/document"
)

// storeClock holds what this process knows of the clock of a store that has one of its own (driver.Clock).
//
// Everything that several processes grant and end is dated by the clock of the store that they share, so that a
// sign-out at one of them ends what another has granted, however much their own clocks differ. No process asks
// for the time when it grants something. It asks every two seconds, and knows by the time that it has been
// running since, which nobody sets, between which two times the store's clock is: a question and its answer
// apart, mostly a millisecond. A grant is dated by the earlier one. A revocation asks, which costs it one more
// step, so everything that was granted anywhere before it is covered, whatever any process believes. So that
// nobody who signs in afterwards is covered too, Revoke returns once the earlier time of every process is past
// it: each tells with its beat how far that may be behind, and a process dates nothing before a revocation that
// it has read. A hybrid logical clock that beats and the feed carry would have left two seconds between the
// beats in which a sign-out ends less than it says; numbers of the store in place of times would have cost a
// write for each token of client_credentials. A process whose own clock is more than 5 seconds from the store's
// says so and is not ready: codes, sessions and locks still end by it. From a minute on it grants nothing.
//
// The zero value is that of a store that has none.
type storeClock struct {
	source driver.Clock
	read   func() Reading

	mu           sync.Mutex
	at           time.Time     // what the store's clock said,
	began, ended time.Duration // at a moment between these two
	others       time.Duration // the most that the earliest time of another node lags behind the store's clock
}

// Reading is of the two clocks of a machine.
type Reading struct {
	Wall time.Time     // may be set, and be wrong
	Ran  time.Duration // since some moment, which nobody can set; it may run a little fast or slow
}

var processBegan = time.Now()

// ReadMachine reads the clocks of this machine.
func ReadMachine() Reading {
	now := time.Now()
	return Reading{now.Round(0).UTC(), now.Sub(processBegan)}
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
func (c *storeClock) earliest(r Reading) time.Time {
	since := r.Ran - c.ended
	return c.at.Add(since - drift(since))
}

// latest returns a time that it has not passed.
func (c *storeClock) latest(r Reading) time.Time {
	since := r.Ran - c.began
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
		return time.Time{}, document.Unavailable("the store's clock", err)
	}
	ended := c.read()
	at = at.Round(0).UTC()
	c.mu.Lock()
	defer c.mu.Unlock()
	// Of two answers that do not contradict each other the one stays that says it more exactly by now.
	lag := c.latest(ended).Sub(c.earliest(ended))
	took := ended.Ran - began.Ran
	agrees := !at.Add(took+finest).Before(c.earliest(ended)) && !at.After(c.latest(ended))
	if c.at.IsZero() || !agrees || took <= lag {
		c.at, c.began, c.ended = at, began.Ran, ended.Ran
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
	case r.Wall.After(latest):
		return r.Wall.Sub(latest)
	case r.Wall.Before(earliest):
		return r.Wall.Sub(earliest)
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
	wait := c.others + finest - (c.read().Ran - known)
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
	return fmt.Errorf("%w: the clock of this machine is %s %s that of the store, which dates what is granted and ended: "+
		"set both by NTP; this node is not ready meanwhile, and grants nothing from %s on",
		ErrClock, apart.Abs().Round(100*time.Millisecond), how, refuseApart)
}

// ClockAhead returns how far this machine's clock is ahead of the store's, or by less than 0 behind it, as far as that
// is certain; 0 where the store has no clock of its own.
func (c *Clock) ClockAhead() time.Duration { return c.store.apart() }

// Watch asks what time it is, again and again until ctx ends, and reports when this machine's clock begins to be
// wrong.
func Watch(ctx context.Context, c *Clock, failed func(error)) {
	if c.store.source == nil {
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
		c.store.ask(ctx) // without an answer it goes by what is known: what is granted is dated a little earlier then
		if err := Problem(c, time.Now()); err != nil {
			failed(err)
		}
	}
}

// Ready returns an error while this machine's clock is so far from the store's that this node is not to be sent
// requests.
func Ready(c *Clock) error { return mayNot(c, unreadyApart) }

// MayGrant returns an ErrUnavailable while nothing can be granted, because this machine's clock is too far from the
// store's. Issue and Exchange ask it themselves.
func (c *Clock) MayGrant() error { return mayNot(c, refuseApart) }

func mayNot(c *Clock, most time.Duration) error {
	if err := c.store.wrong(most); err != nil {
		return fmt.Errorf("%w: %w", document.ErrUnavailable, err)
	}
	return nil
}

// Lag returns how far this machine's clock is ahead of the store's, and how far what this node dates may be
// behind it. ok is false where the store has no clock of its own.
func Lag(c *Clock) (ahead, lag time.Duration, ok bool) {
	if c.store.source == nil {
		return 0, 0, false
	}
	return c.store.apart(), c.store.lag(), true
}

// HeardLag takes down how far the node lags that lags most: revocations wait for it.
func HeardLag(c *Clock, lag time.Duration) { c.store.heard(lag) }

// Ask asks the store's clock, which there is, what time it is, as Watch does.
func Ask(ctx context.Context, c *Clock) error {
	_, err := c.store.ask(ctx)
	return err
}
