package redis

import (
	"context"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/internal/limit"
	"github.com/keystile/keystile/storage/counters/internal/local"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
	"github.com/keystile/keystile/storage/counters/redis/internal/script"
)

// Counters count for all nodes that have the same server and prefix. Make them with Open. They are safe for
// concurrent use.
type Counters struct {
	o    Options
	at   string // where the server is: see Describe
	link *link.Link

	// The counts of this node, by which it judges while the server is away.
	apps      *limit.Limiter
	addresses counters.Limiter
	events    *local.Counter
	delays    *local.Delays

	alone    atomic.Int64 // acts that were judged by this node
	notTaken atomic.Int64 // acts that could not be taken back
}

var (
	appScript      = link.NewScript(script.App)
	takeScript     = link.NewScript(script.Take)
	waitScript     = link.NewScript(script.Wait)
	undoScript     = link.NewScript(script.Undo)
	widerScript    = link.NewScript(script.Wider)
	attemptsScript = link.NewScript(script.Attempts)
	delaysScript   = link.NewScript(script.Delays)
)

// Open makes Counters on the server of an address. It fails only for an address or Options that cannot be
// meant: a server that is away now is asked again later, and until then this node counts alone. Close ends them.
func Open(ctx context.Context, address string, o Options) (*Counters, error) {
	target, err := o.complete(address)
	if err != nil {
		return nil, err
	}
	apps, err := limit.New(limit.Config{Window: counters.Window})
	if err != nil {
		return nil, err
	}
	c := &Counters{
		o: o, at: placeOf(target), apps: apps, addresses: counters.NewLimiter(), events: new(local.Counter),
		delays: local.NewDelays(),
	}
	names := script.Keys{Prefix: o.Prefix}
	c.link = link.Start(ctx, link.Config{Servers: o.servers(target), Mark: names.Mark, Marker: script.Marker,
		Timeout: o.Timeout, Log: o.Log})
	return c, nil
}

// Close ends the connection, and returns nil, so that it is an io.Closer as a backend is. This node counts alone
// afterwards.
func (c *Counters) Close() error {
	c.link.Close()
	return nil
}

// Limiter counts the requests of applications and addresses.
func (c *Counters) Limiter() counters.Limiter { return limiter{c} }

// Counter counts events of clients.
func (c *Counters) Counter() counters.Counter { return counter{c} }

// Accounts counts failed attempts by account, and delays them as sign-in does by itself.
func (c *Counters) Accounts() counters.Accounts { return newAccounts(c) }

// Addresses counts failed attempts by address. Two that have the same times are one.
func (c *Counters) Addresses(lock counters.Lock) counters.Addresses { return newAddresses(c, lock) }

// share is the part of a limit that this node keeps by itself.
func (c *Counters) share(limit int) int { return max(1, limit/max(1, c.o.Nodes())) }

// keys names keys; ok is false while nobody has told the seed.
//
// The seed in them is random and lives in the server, in the mark: a reader of the server's memory sees the
// counts anyway, and a seed in the configuration would be one more secret to distribute. A node that finds the
// mark gone puts its own seed back, so that all nodes go on to agree.
func (c *Counters) keys() (k script.Keys, ok bool) {
	seed := c.link.Seed()
	if seed == nil || !c.link.Up() {
		return k, false
	}
	return script.Keys{Prefix: c.o.Prefix, Seed: *seed, Tags: c.o.tags}, true
}

// do runs a script, whose answer has so many numbers. The first argument is the time.
func (c *Counters) do(s link.Script, n int, keys []string, args ...string) ([]int64, error) {
	args[0] = c.stamp()
	answer, err := c.link.Do(s, keys, args)
	if err == nil && len(answer) < n {
		err = errShort
	}
	return answer, err
}

// stamp returns the base of stamps. A stamp is the server's time, and one microsecond more than the last where
// that is needed to tell them apart, so that an undo takes back exactly its own.
func (c *Counters) stamp() string {
	if c.o.clock == nil {
		return ""
	}
	return strconv.FormatInt(c.o.clock().UnixMicro(), 10)
}

func micros(d time.Duration) string { return strconv.FormatInt(d.Microseconds(), 10) }
func millis(d time.Duration) string { return strconv.FormatInt(d.Milliseconds(), 10) }

func inMicros(n int64) time.Duration { return time.Duration(max(n, 1)) * time.Microsecond }
func inMillis(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// both has an event judged by the server. Where it does not answer, this node judges by its share; for a window
// after it has come back, both do. Events that the server admits are counted here too.
func (c *Counters) both(window time.Duration, limit int, here func(limit int) held, there func() (held, error)) held {
	if c.link.Returning(window) {
		own := here(c.share(limit))
		if !own.v.OK {
			c.alone.Add(1)
			return own.of(limit)
		}
		theirs, err := there()
		switch {
		case err != nil:
			c.alone.Add(1)
			return own.of(limit)
		case !theirs.v.OK:
			own.undo()
			return theirs
		}
		theirs.v.Remaining = min(theirs.v.Remaining, own.v.Remaining)
		return held{theirs.v, func() { theirs.undo(); own.undo() }}
	}
	theirs, err := there()
	if err != nil {
		c.alone.Add(1)
		return here(c.share(limit)).of(limit)
	}
	if !theirs.v.OK {
		return theirs
	}
	own := here(limit)
	return held{theirs.v, func() { theirs.undo(); own.undo() }}
}

// held is a verdict and what takes it back.
type held struct {
	v    counters.Verdict
	undo func()
}

// of has a verdict by a share speak of the whole limit.
func (h held) of(limit int) held {
	h.v.Limit = limit
	return h
}
