package redis

import (
	"context"
	"errors"
	"net/netip"
	"strconv"
	"time"

	"github.com/keystile/keystile/internal/network"
	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/redis/internal/link"
)

var errShort = errors.New("redis: a script answered something else than it should")

// kindOfAddress begins the keys of requests that nobody known has made.
const kindOfAddress = "a"

// limiter implements counters.Limiter.
type limiter struct{ c *Counters }

func (l limiter) Allow(_ context.Context, clientID string, limit int, now time.Time) counters.Verdict {
	if v, ok := plain(limit); ok {
		return v
	}
	c := l.c
	return c.both(counters.Window, limit, func(limit int) held {
		v := c.apps.Allow(clientID, limit, now)
		return held{counters.Verdict{OK: v.OK, Limit: v.Limit, Remaining: v.Remaining, Reset: v.Reset,
			RetryAfter: v.RetryAfter},
			func() { c.apps.Cancel(v.Receipt) }}
	}, func() (held, error) {
		keys, ok := c.keys()
		if !ok {
			return held{}, link.ErrDown
		}
		r, err := c.do(appScript, 3, []string{keys.App(clientID)}, "", micros(counters.Window), strconv.Itoa(limit))
		if err != nil {
			return held{}, err
		}
		return held{verdict(limit, r), func() {}}, nil
	}).v
}

func (l limiter) HoldAddress(_ context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
	if v, ok := plain(per); ok {
		return v, func() {}
	}
	c := l.c
	h := c.both(counters.Window, per, func(limit int) held {
		v, undo := c.addresses.HoldAddress(context.Background(), from, limit, now)
		return held{v, undo}
	}, func() (held, error) {
		return c.take(event{kind: kindOfAddress, client: network.Of(from), window: counters.Window, around: true}, per)
	})
	return h.v, h.undo
}

// plain answers for limits that need no count.
func plain(limit int) (v counters.Verdict, ok bool) {
	switch {
	case limit == counters.Unlimited:
		return counters.Verdict{OK: true, Limit: limit, Remaining: limit}, true
	case limit <= 0:
		return counters.Verdict{Reset: counters.Window, RetryAfter: counters.Window}, true
	}
	return v, false
}

// verdict reads an answer: admitted, remaining, microseconds.
func verdict(limit int, r []int64) counters.Verdict {
	v := counters.Verdict{OK: r[0] == 1, Limit: limit, Remaining: int(r[1]), Reset: inMicros(r[2])}
	if !v.OK {
		v.RetryAfter = v.Reset
	}
	return v
}
