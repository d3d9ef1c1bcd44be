package planted

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// log is a rate as one would write it down.
type log struct {
	events []time.Time
	limit  int       // that it was first asked for
	tokens float64   // of a bucket
	filled time.Time // the bucket
}

// logs are all of them, by key.
type logs struct {
	mu  sync.Mutex
	all map[string]*log
}

func newLogs() *logs { return &logs{all: map[string]*log{}} }

// with runs something on the log of a key.
func (l *logs) with(key string, do func(*log)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all[key] == nil {
		l.all[key] = &log{}
	}
	do(l.all[key])
}

const window = counters.Window

// forget drops the events up to a moment.
func (l *log) forget(until time.Time) {
	l.events = slices.DeleteFunc(l.events, func(at time.Time) bool { return !at.After(until) })
}

// take admits an event if fewer than limit are left, and answers as it should be answered.
func (l *log) take(limit int, now time.Time) counters.Verdict {
	switch n := len(l.events); {
	case limit == counters.Unlimited:
		return counters.Verdict{OK: true, Limit: limit, Remaining: limit}
	case limit <= 0:
		return counters.Verdict{Reset: window, RetryAfter: window}
	case n >= limit:
		wait := l.events[n-limit].Add(window).Sub(now)
		return counters.Verdict{Limit: limit, Reset: wait, RetryAfter: wait}
	}
	l.events = append(l.events, now)
	return counters.Verdict{OK: true, Limit: limit, Remaining: limit - len(l.events),
		Reset: l.events[0].Add(window).Sub(now)}
}

// rate puts another count of applications in the place of the right one.
func rate(take func(l *log, limit int, now time.Time) counters.Verdict) plant {
	return func(countertest.Clock) func(*parts) {
		all := newLogs()
		return func(p *parts) {
			p.allow = func(_ context.Context, id string, limit int, now time.Time) (v counters.Verdict) {
				all.with(id, func(l *log) { v = take(l, limit, now) })
				return v
			}
		}
	}
}

// fromFirst forgets everything a window after the first event.
func fromFirst(l *log, now time.Time, window time.Duration) {
	if len(l.events) > 0 && now.Sub(l.events[0]) >= window {
		l.events = nil
	}
}

// bucket admits what a bucket of tokens has, which fills bit by bit.
func bucket(l *log, limit int, now time.Time) counters.Verdict {
	if limit <= 0 {
		return l.take(limit, now)
	}
	if l.filled.IsZero() {
		l.tokens, l.filled = float64(limit), now
	}
	l.tokens = min(float64(limit), l.tokens+now.Sub(l.filled).Seconds()*float64(limit)/window.Seconds())
	if l.filled = now; l.tokens < 1 {
		wait := time.Duration((1 - l.tokens) * float64(window) / float64(limit))
		return counters.Verdict{Limit: limit, Reset: wait, RetryAfter: wait}
	}
	l.tokens--
	return counters.Verdict{OK: true, Limit: limit, Remaining: int(l.tokens), Reset: window}
}

// rateBugs count applications in another way.
func rateBugs() []bug {
	const exact, burst, bits = "rates/no minute holds more", "rates/a minute that begins anew",
		"rates/an allowance does not grow back"
	const last, refused, silence = "rates/what came last", "rates/what is refused", "rates/after a minute of silence"
	right := func(until func(l *log, now time.Time)) plant {
		return rate(func(l *log, limit int, now time.Time) counters.Verdict { until(l, now); return l.take(limit, now) })
	}
	return []bug{
		{"windows are the minutes of the clock", burst,
			right(func(l *log, now time.Time) { l.forget(time.Unix(0, now.UnixNano()/int64(window)*int64(window)-1)) })},
		{"a window begins with its first request", last, right(func(l *log, now time.Time) { fromFirst(l, now, window) })},
		{"a bucket of tokens", bits, rate(bucket)},
		{"half of the last minute and of this one", burst, rate(func(l *log, limit int, now time.Time) counters.Verdict {
			minute := time.Unix(0, now.UnixNano()/int64(window)*int64(window))
			l.forget(minute.Add(-window))
			v := l.take(2*limit, now)
			before := 0
			for _, at := range l.events {
				if at.Before(minute) {
					before++
				}
			}
			share := 1 - now.Sub(minute).Seconds()/window.Seconds()
			if float64(before)*share+float64(len(l.events)-before) > float64(limit) && v.OK {
				l.events = l.events[:len(l.events)-1]
				return counters.Verdict{Limit: limit, Reset: time.Second, RetryAfter: time.Second}
			}
			return v
		})},
		{"a key is forgotten half a minute after its last request", exact, right(func(l *log, now time.Time) {
			if n := len(l.events); n > 0 && now.Sub(l.events[n-1]) >= window/2 {
				l.events = nil
			}
			l.forget(now.Add(-window))
		})},
		{"requests leave two seconds early", "rates/a retry is admitted",
			right(func(l *log, now time.Time) { l.forget(now.Add(-window + 2*time.Second)) })},
		{"requests leave two seconds late", exact,
			right(func(l *log, now time.Time) { l.forget(now.Add(-window - 2*time.Second)) })},
		{"requests never leave", silence, right(func(*log, time.Time) {})},
		{"refused requests count", refused, rate(func(l *log, limit int, now time.Time) counters.Verdict {
			l.forget(now.Add(-window))
			v := l.take(limit, now)
			if !v.OK {
				l.events = append(l.events, now)
			}
			return v
		})},
		{"one more than the limit is admitted", "rates/a flood of one application",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				return l.take(limit+1, now)
			})},
		{"one less than the limit is admitted", "rates/a flood of one application",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				return l.take(limit-1, now)
			})},
		{"a limit is remembered from the first request", "limits/the limit of a call",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				if l.forget(now.Add(-window)); l.limit == 0 {
					l.limit = limit
				}
				return l.take(l.limit, now)
			})},
		{"only as many requests are kept as the limit of the call", "limits/what is admitted under a large limit",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				v := l.take(limit, now)
				if limit > 0 {
					l.events = l.events[max(0, len(l.events)-limit):]
				}
				return v
			})},
		{"no more than a thousand requests are kept", "rates/a large limit",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				l.events = l.events[max(0, len(l.events)-1000):]
				return l.take(limit, now)
			})},
		{"what has no limit is counted", "limits/without a limit",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				if l.forget(now.Add(-window)); limit == counters.Unlimited {
					l.events = append(l.events, now)
				}
				return l.take(limit, now)
			})},
		{"every limit below 0 is none", "limits/a limit of nothing",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				return l.take(max(limit, counters.Unlimited), now)
			})},
		{"a limit of 0 is none", "limits/a limit of nothing", rate(func(l *log, limit int, now time.Time) counters.Verdict {
			if l.forget(now.Add(-window)); limit == 0 {
				limit = counters.Unlimited
			}
			return l.take(limit, now)
		})},
		{"limits are 16 bits", "limits/the largest limits", rate(func(l *log, limit int, now time.Time) counters.Verdict {
			l.forget(now.Add(-window))
			return l.take(int(int16(limit)), now)
		})},
	}
}
