package planted

import (
	"context"
	"net/netip"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

type (
	addFunc = func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration
)

// adding changes how events are counted and asked for, in every node.
func adding(change func(add, wait addFunc) (addFunc, addFunc)) plant {
	return each(func(p *parts) { p.add, p.wait = change(p.add, p.wait) })
}

// asked changes what both are asked.
func asked(change func(name *string, client *netip.Prefix, limit *int, window *time.Duration)) plant {
	return adding(func(add, wait addFunc) (addFunc, addFunc) {
		changed := func(do addFunc) addFunc {
			return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				change(&name, &client, &limit, &window)
				return do(ctx, name, client, limit, window)
			}
		}
		return changed(add), changed(wait)
	})
}

// counted puts another count in the place of the right one.
func counted(until func(l *log, now time.Time, window time.Duration), refused func(l *log, now time.Time)) plant {
	return func(clock countertest.Clock) func(*parts) {
		all := newLogs()
		do := func(name string, client netip.Prefix, limit int, window time.Duration, count bool) (wait time.Duration) {
			now := time.Now()
			if clock != nil {
				now = clock.Now()
			}
			if limit <= 0 {
				return window
			}
			all.with(client.String()+" "+name, func(l *log) {
				until(l, now, window)
				if n := len(l.events) - limit; n >= 0 {
					if wait = l.events[n].Add(window).Sub(now); count && refused != nil {
						refused(l, now)
					}
					return
				}
				if count {
					l.events = append(l.events, now)
				}
			})
			return wait
		}
		return func(p *parts) {
			p.add = func(_ context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				return do(name, client, limit, window, true)
			}
			p.wait = func(_ context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				return do(name, client, limit, window, false)
			}
		}
	}
}

// countBugs count events in another way.
func countBugs() []bug {
	const exact, ask, limit, names = "counts/no window holds more", "counts/to ask counts nothing",
		"counts/the limit of a call", "counts/names and clients"
	return []bug{
		{"a window of events begins with its first", exact, counted(fromFirst, nil)},
		{"windows of events are those of the clock", exact, counted(func(l *log, now time.Time, window time.Duration) {
			l.forget(time.Unix(0, now.UnixNano()/int64(window)*int64(window)-1))
		}, nil)},
		{"every window is a minute", "counts/a window may be",
			asked(func(_ *string, _ *netip.Prefix, _ *int, window *time.Duration) { *window = time.Minute })},
		{"windows are whole seconds", "counts/a window may be",
			asked(func(_ *string, _ *netip.Prefix, _ *int, window *time.Duration) {
				*window = max(time.Second, window.Truncate(time.Second))
			})},
		{"a window is an hour at most", "counts/a window may be",
			asked(func(_ *string, _ *netip.Prefix, _ *int, window *time.Duration) { *window = min(*window, time.Hour) })},
		{"events that are refused count", "counts/what is refused",
			counted(func(l *log, now time.Time, window time.Duration) { l.forget(now.Add(-window)) },
				func(l *log, now time.Time) { l.events = append(l.events, now) })},
		{"to ask counts", ask, adding(func(add, _ addFunc) (addFunc, addFunc) { return add, add })},
		{"to ask is never to wait", ask, adding(func(add, _ addFunc) (addFunc, addFunc) {
			return add, func(context.Context, string, netip.Prefix, int, time.Duration) time.Duration { return 0 }
		})},
		{"who is refused is told the whole window", exact, adding(func(add, wait addFunc) (addFunc, addFunc) {
			whole := func(do addFunc) addFunc {
				return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
					if do(ctx, name, client, limit, window) > 0 {
						return window
					}
					return 0
				}
			}
			return whole(add), whole(wait)
		})},
		{"one event more is counted", exact,
			asked(func(_ *string, _ *netip.Prefix, limit *int, _ *time.Duration) { *limit++ })},
		{"a count has the limit that it was first asked for", limit, func(countertest.Clock) func(*parts) {
			first := 0
			return asked(func(_ *string, _ *netip.Prefix, limit *int, _ *time.Duration) {
				if first == 0 {
					first = *limit
				}
				*limit = first
			})(nil)
		}},
		{"different limits are counted apart", limit, adding(func(add, wait addFunc) (addFunc, addFunc) {
			of := func(do addFunc) addFunc {
				return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
					return do(ctx, name+string(rune('a'+limit)), client, limit, window)
				}
			}
			return of(add), of(wait)
		})},
		{"a limit of 0 is none", "counts/a limit of nothing", adding(func(add, wait addFunc) (addFunc, addFunc) {
			return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				if limit <= 0 {
					return 0
				}
				return add(ctx, name, client, limit, window)
			}, wait
		})},
		{"events are counted by client alone", names,
			asked(func(name *string, _ *netip.Prefix, _ *int, _ *time.Duration) { *name = "" })},
		{"events are counted by name alone", names,
			asked(func(_ *string, client *netip.Prefix, _ *int, _ *time.Duration) { *client = netip.Prefix{} })},
		{"what is refused counts for the next address", "counts/each client has one",
			adding(func(add, wait addFunc) (addFunc, addFunc) {
				return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
					refused := add(ctx, name, client, limit, window)
					if refused > 0 && client.IsValid() {
						add(ctx, name, netip.PrefixFrom(client.Addr().Next(), client.Bits()), limit, window)
					}
					return refused
				}, wait
			})},
		{"a name has one count once it was refused", "counts/each client has one", func(countertest.Clock) func(*parts) {
			full := map[string]time.Duration{}
			var mu sync.Mutex
			return adding(func(add, wait addFunc) (addFunc, addFunc) {
				return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
					mu.Lock()
					defer mu.Unlock()
					if wait := full[name]; wait > 0 {
						return wait
					}
					full[name] = add(ctx, name, client, limit, window)
					return full[name]
				}, wait
			})(nil)
		}},
		{"networks are counted by their first address", "counts/a network is counted apart",
			asked(func(_ *string, client *netip.Prefix, _ *int, _ *time.Duration) {
				*client = netip.PrefixFrom(client.Addr(), client.Addr().BitLen())
			})},
		{"an ended context is not counted", "contexts/what is asked", adding(func(add, wait addFunc) (addFunc, addFunc) {
			return func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				if ctx.Err() != nil {
					return 0
				}
				return add(ctx, name, client, limit, window)
			}, wait
		})},
		{"each node counts events alone", exact, func(countertest.Clock) func(*parts) {
			return func(p *parts) {
				own := counters.New().Counter()
				p.add, p.wait = own.Add, own.Wait
			}
		}},
	}
}
