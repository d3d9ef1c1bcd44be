package redis

import (
	"context"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
)

// counter implements counters.Counter, and the Counters of oauth and legacy.
type counter struct{ c *Counters }

func (n counter) Add(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	if limit <= 0 || window < time.Millisecond {
		return max(window, 0)
	}
	c := n.c
	return c.both(window, limit, func(limit int) held {
		wait, undo := c.events.Add(name, client, limit, window)
		return held{counters.Verdict{OK: wait == 0, Remaining: limit, RetryAfter: wait}, undo}
	}, func() (held, error) {
		return c.take(eventOf(name, client, window), limit)
	}).v.RetryAfter
}

func (n counter) Wait(_ context.Context, name string, client netip.Prefix, limit int,
	window time.Duration) time.Duration {
	if limit <= 0 || window < time.Millisecond {
		return max(window, 0)
	}
	c, own := n.c, time.Duration(0)
	if c.link.Returning(window) {
		own = c.events.Wait(name, client, c.share(limit), window)
	}
	theirs, err := c.wait(eventOf(name, client, window), limit)
	if err != nil {
		c.alone.Add(1)
		return c.events.Wait(name, client, c.share(limit), window)
	}
	return max(own, theirs)
}

// eventOf has events of windows of different lengths never share a bucket, which ends as a whole.
func eventOf(name string, client netip.Prefix, window time.Duration) event {
	return event{kind: "c" + millis(window) + "-", name: name, client: client, window: window}
}

// wait says how long take would refuse.
func (c *Counters) wait(e event, limit int) (time.Duration, error) {
	keys, ok := c.keys()
	if !ok {
		return 0, link.ErrDown
	}
	p := keys.Client(e.kind, e.name, e.client)
	r, err := c.do(waitScript, 2, []string{p.Bucket, p.List}, "", micros(e.window), strconv.Itoa(limit), p.Field)
	switch {
	case err != nil:
		return 0, err
	case r[1] > 0:
		return inMicros(r[1]), nil
	case r[0] == 1:
		return 0, nil
	}
	h, err := c.wider(keys, e, limit, surroundings(e.client), false)
	return h.v.RetryAfter, err
}
