package planted

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// table holds a few of many keys.
type table struct {
	mu   sync.Mutex
	size int
	n    map[string]int
	line []string // in the order in which they came
}

// tabled counts addresses in a table that does something wrong when it is full; applications too, if both.
func tabled(both bool, full func(t *table, key string) (under string)) plant {
	return func(countertest.Clock) func(*parts) {
		t := &table{size: 1000, n: map[string]int{}}
		take := func(key string, limit int) counters.Verdict {
			t.mu.Lock()
			defer t.mu.Unlock()
			if _, known := t.n[key]; !known && len(t.n) >= t.size {
				key = full(t, key)
			}
			if key == "" || t.n[key] >= limit {
				return counters.Verdict{Limit: limit, Reset: window, RetryAfter: window}
			}
			if t.n[key] == 0 {
				t.line = append(t.line, key)
			}
			t.n[key]++
			return counters.Verdict{OK: true, Limit: limit, Remaining: limit - t.n[key], Reset: window}
		}
		return func(p *parts) {
			p.hold = func(_ context.Context, from netip.Addr, per int, _ time.Time) (counters.Verdict, func()) {
				return take("address "+ladder(from)[0].key, per), func() {}
			}
			if both {
				p.allow = func(_ context.Context, id string, limit int, _ time.Time) counters.Verdict {
					return take("app "+id, limit)
				}
			}
		}
	}
}

// fullBugs do something else when tables are full.
func fullBugs() []bug {
	refuse := func(*table, string) string { return "" }
	oldest := func(t *table, key string) string {
		delete(t.n, t.line[0])
		t.line = t.line[1:]
		return key
	}
	one := func(*table, string) string { return "everybody else" }
	return []bug{
		{"applications find no place in a table full of addresses", "full tables/a flood of addresses displaces",
			tabled(true, refuse)},
		{"addresses displace applications", "full tables/a flood of addresses displaces", tabled(true, oldest)},
		{"a full table refuses whom it does not know", "full tables/a flood of addresses refuses", tabled(false, refuse)},
		{"beyond a full table all have one count", "full tables/a flood of addresses refuses", tabled(false, one)},
		{"a full table forgets who has been there longest", "full tables/an address that is counted", tabled(false, oldest)},
		{"a full table is emptied", "full tables/an address that is counted",
			tabled(false, func(t *table, key string) string { clear(t.n); return key })},
		{"beyond a full table nobody is counted", "full tables/beyond the table strangers", each(func(p *parts) {
			p.hold = func(_ context.Context, _ netip.Addr, per int, _ time.Time) (counters.Verdict, func()) {
				return counters.Verdict{OK: true, Limit: per, Remaining: per - 1, Reset: window}, func() {}
			}
		})},
		{"a full table of failures forgets who is locked", "full tables/addresses that fail",
			func(clock countertest.Clock) func(*parts) {
				inner := guarding(flaws{key: func(ip netip.Addr) string { return ladder(ip)[0].key }})(clock)
				var mu sync.Mutex
				seen := map[string]bool{}
				return func(p *parts) {
					inner(p)
					make := p.locks
					p.locks = func(c counters.Lock) *locks {
						l := make(c)
						begin, forget := l.begin, l.clear
						l.begin = func(ctx context.Context, ip netip.Addr) time.Duration {
							mu.Lock()
							defer mu.Unlock()
							seen[ladder(ip)[0].key] = true
							if len(seen) > 1000 {
								for key := range seen {
									if from, err := netip.ParsePrefix(key); err == nil {
										forget(ctx, from.Addr())
									} else if from, err := netip.ParseAddr(key); err == nil {
										forget(ctx, from)
									}
								}
								clear(seen)
							}
							return begin(ctx, ip)
						}
						return l
					}
				}
			}},
	}
}
