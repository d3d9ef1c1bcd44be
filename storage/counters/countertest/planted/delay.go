package planted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// delayer is the delay of accounts as one would write it down, but for what is wrong with it.
type delayer struct {
	mu    sync.Mutex
	clock countertest.Clock
	all   map[string]*delayed
	slips
}

type delayed struct {
	failed   []time.Time
	inFlight int
	delay    time.Duration
	until    time.Time
}

// slips name what may be wrong with a delayer.
type slips struct {
	after, unseen int // more than ten failures; attempts in flight that are not seen
	grow          func(delay time.Duration) time.Duration
	extends       bool // an attempt that waits makes the wait longer
	crowd         bool // more than one at a time once there is a delay
	resets, frees bool // a success: forgets failures, ends the delay
	knownFree     bool // failures in known browsers do not count
	knownDouble   bool // they count twice
	stays         bool // the delay outlasts the failures
	asking        bool // asking how long to wait counts as a failure
	silent        bool // it says that nobody waits
	deaf          bool // clearing does nothing
	halfDeaf      bool // clearing ends the delay alone
	abandons      bool // clearing forgets attempts in flight
	within        func(d *delayed, now time.Time)
	key           func(account [32]byte) string
}

const delayWithin = 5 * time.Minute

func delaying(s slips) plant {
	return func(clock countertest.Clock) func(*parts) {
		d := &delayer{clock: clock, all: map[string]*delayed{}, slips: s}
		return func(p *parts) { p.delays = &delays{d.begin, d.end, d.known, d.wait, d.clear} }
	}
}

func (d *delayer) now() time.Time {
	if d.clock == nil {
		return time.Now()
	}
	return d.clock.Now()
}

func (d *delayer) of(account [32]byte, now time.Time) *delayed {
	key := string(account[:])
	if d.key != nil {
		key = d.key(account)
	}
	a := d.all[key]
	if a == nil {
		a = &delayed{}
		d.all[key] = a
	}
	if d.within != nil {
		d.within(a, now)
	} else {
		a.failed = slices.DeleteFunc(a.failed, func(at time.Time) bool { return now.Sub(at) >= delayWithin })
	}
	if len(a.failed) == 0 && !d.stays {
		a.delay = 0
	}
	return a
}

func (d *delayer) begin(_ context.Context, account [32]byte) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	a := d.of(account, now)
	switch {
	case now.Before(a.until):
		wait := a.until.Sub(now)
		if d.extends {
			a.until = now.Add(a.delay)
		}
		return wait
	case a.delay > 0 && a.inFlight > 0 && !d.crowd, a.delay == 0 &&
		len(a.failed)+max(0, a.inFlight-d.unseen) >= 10+d.after:
		return time.Second
	}
	a.inFlight++
	return 0
}

func (d *delayer) end(_ context.Context, account [32]byte, failed bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	a := d.of(account, now)
	a.inFlight = max(0, a.inFlight-1)
	switch {
	case failed:
		d.fail(a, now)
	case d.resets:
		a.failed = nil
	case d.frees:
		a.delay, a.until = 0, time.Time{}
	}
}

func (d *delayer) known(_ context.Context, account [32]byte) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	a := d.of(account, now)
	if !d.knownFree {
		d.fail(a, now)
	}
	if d.knownDouble {
		d.fail(a, now)
	}
}

func (d *delayer) wait(_ context.Context, account [32]byte) (time.Duration, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	now := d.now()
	a := d.of(account, now)
	wait := max(0, a.until.Sub(now))
	if d.asking {
		d.fail(a, now)
	}
	if d.silent {
		return 0, true
	}
	return wait, true
}

func (d *delayer) clear(_ context.Context, account [32]byte) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	a := d.of(account, d.now())
	had := len(a.failed) > 0
	if d.deaf {
		return had
	}
	if a.delay, a.until = 0, (time.Time{}); !d.halfDeaf {
		a.failed = nil
	}
	if d.abandons {
		a.inFlight = 0
	}
	return had
}

func (d *delayer) fail(a *delayed, now time.Time) {
	a.failed = append(a.failed, now)
	if a.delay == 0 && len(a.failed) < 10+d.after {
		return
	}
	if a.delay = min(max(time.Second, 2*a.delay), time.Minute); d.grow != nil {
		a.delay = d.grow(a.delay)
	}
	a.until = now.Add(a.delay)
}

// delayBugs delay accounts in another way.
func delayBugs() []bug {
	const tenth, success, five = "delays/the tenth failure", "delays/a success does not reset",
		"delays/failures count for five"
	return []bug{
		{"the eleventh failure delays", tenth, delaying(slips{after: 1})},
		{"the ninth failure delays", tenth, delaying(slips{after: -1})},
		{"every delay is a second", tenth, delaying(slips{grow: func(time.Duration) time.Duration { return time.Second }})},
		{"delays grow without end", tenth, delaying(slips{grow: func(d time.Duration) time.Duration {
			if d == time.Minute {
				return 2 * time.Minute
			}
			return d
		}})},
		{"the first delay is two seconds", tenth,
			delaying(slips{grow: func(d time.Duration) time.Duration { return max(2*time.Second, d) }})},
		{"delays end at half a minute", tenth,
			delaying(slips{grow: func(d time.Duration) time.Duration { return min(d, 30*time.Second) }})},
		{"an attempt that waits begins the delay anew", "delays/an attempt that has to wait",
			delaying(slips{extends: true, grow: func(d time.Duration) time.Duration { return d }})},
		{"after a delay all are let through at once", "delays/once there is a delay", delaying(slips{crowd: true})},
		{"attempts under way do not count", "delays/attempts under way", delaying(slips{unseen: 1000})},
		{"a success resets the count", success, delaying(slips{resets: true})},
		{"a success ends the delay", success, delaying(slips{frees: true})},
		{"failures in known browsers do not count", "delays/failures in known browsers", delaying(slips{knownFree: true})},
		{"failures in known browsers count twice", "delays/failures in known browsers", delaying(slips{knownDouble: true})},
		{"the delay stays when the failures have left", "delays/the delay ends", delaying(slips{stays: true})},
		{"failures leave five minutes after the first of them", five, delaying(slips{within: func(a *delayed, now time.Time) {
			if len(a.failed) > 0 && now.Sub(a.failed[0]) >= delayWithin {
				a.failed = nil
			}
		}})},
		{"failures stay until five minutes pass without one", five, delaying(slips{within: func(a *delayed, now time.Time) {
			if n := len(a.failed); n > 0 && now.Sub(a.failed[n-1]) >= delayWithin {
				a.failed = nil
			}
		}})},
		{"failures never leave", "delays/nine failures", delaying(slips{within: func(*delayed, time.Time) {}})},
		{"accounts are found by half of their hash", "delays/each account",
			delaying(slips{key: func(account [32]byte) string { return string(account[:16]) }})},
		{"accounts are found up to a zero byte", "delays/each account", delaying(slips{key: func(account [32]byte) string {
			return string(account[:max(0, slices.Index(account[:], 0))])
		}})},
		{"asking how long to wait counts", "delays/how long an account waits", delaying(slips{asking: true})},
		{"nobody is said to wait", "delays/how long an account waits", delaying(slips{silent: true})},
		{"clearing does nothing", "delays/an account that is cleared", delaying(slips{deaf: true})},
		{"clearing leaves the failures", "delays/an account that is cleared", delaying(slips{halfDeaf: true})},
		{"clearing lets more in beside those in flight", "delays/attempts in flight go on", delaying(slips{abandons: true})},
		{"each node delays alone", tenth, func(countertest.Clock) func(*parts) {
			return func(p *parts) { p.delays = apart(counters.New()).delays }
		}},
	}
}
