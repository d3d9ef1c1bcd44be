package planted

import (
	"context"
	"net/netip"
	"runtime"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// pause lets the others go first, as a call over a network does.
func pause() {
	for range 8 {
		runtime.Gosched()
	}
}

// crowdBugs let callers in between two steps.
func crowdBugs() []bug {
	return []bug{
		{"a request is checked, and then counted", "many callers/of many requests at once",
			func(countertest.Clock) func(*parts) {
				all := newLogs()
				return func(p *parts) {
					p.allow = func(_ context.Context, id string, limit int, now time.Time) (v counters.Verdict) {
						all.with(id, func(l *log) {
							l.forget(now.Add(-window))
							trial := log{events: append([]time.Time(nil), l.events...)}
							v = trial.take(limit, now)
						})
						pause()
						if v.OK {
							all.with(id, func(l *log) { l.events = append(l.events, now) })
						}
						return v
					}
				}
			}},
		{"an address is checked, and then counted", "many callers/of many requests of one address",
			func(countertest.Clock) func(*parts) {
				var mu sync.Mutex
				counts := map[string]int{}
				return func(p *parts) {
					p.hold = func(_ context.Context, from netip.Addr, per int, _ time.Time) (counters.Verdict, func()) {
						key := ladder(from)[0].key
						mu.Lock()
						n := counts[key]
						mu.Unlock()
						pause()
						if n >= per {
							return counters.Verdict{Limit: per, Reset: window, RetryAfter: window}, func() {}
						}
						mu.Lock()
						counts[key]++
						mu.Unlock()
						return counters.Verdict{OK: true, Limit: per, Remaining: per - n - 1, Reset: window}, func() {}
					}
				}
			}},
		{"what is taken back is read, and then written", "many callers/many who take back what",
			func(countertest.Clock) func(*parts) {
				h := &holder{all: map[string][]held{}, rungs: ladder}
				h.undo = func(h *holder, r request) {
					for _, key := range r.keys {
						var left []held
						for _, e := range h.all[key] {
							if e.serial != r.serial {
								left = append(left, e)
							}
						}
						h.mu.Unlock()
						pause()
						h.mu.Lock()
						h.all[key] = left
					}
				}
				return func(p *parts) { p.hold = h.hold }
			}},
		{"requests of one moment are one", "many callers/many who take back take back their own", holding(func(h *holder) {
			h.undo = func(h *holder, r request) {
				for _, key := range r.keys {
					h.all[key] = nil
				}
			}
		})},
		{"an attempt is checked, and then under way", "many callers/of many attempts", guarding(flaws{gap: true})},
		{"an event is asked for, and then counted", "many callers/of many events",
			adding(func(add, wait addFunc) (addFunc, addFunc) {
				return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
					if w := wait(ctx, name, client, limit, window); w > 0 {
						return w
					}
					pause()
					add(ctx, name, client, limit, window)
					return 0
				}, wait
			})},
		{"an account lets everybody through while one is asked", "many callers/once an account is delayed",
			delaying(slips{crowd: true})},
		{"what one node has just counted another learns a second later", "apart/a node that joins",
			func(clock countertest.Clock) func(*parts) {
				nodes := 0
				return func(p *parts) {
					if nodes++; nodes > 2 {
						own := apart(counters.New())
						p.allow, p.hold = own.allow, own.hold
					}
				}
			}},
	}
}
