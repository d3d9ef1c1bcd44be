package planted

import (
	"context"
	"net/netip"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/keystile/keystile/storage/counters"
	"github.com/keystile/keystile/storage/counters/countertest"
)

// each plants the same in every node, which share nothing by it.
func each(spoil func(p *parts)) plant {
	return func(countertest.Clock) func(*parts) { return spoil }
}

// told changes the verdicts about applications.
func told(change func(v *counters.Verdict)) plant {
	return each(func(p *parts) {
		allow := p.allow
		p.allow = func(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
			v := allow(ctx, id, limit, now)
			change(&v)
			return v
		}
	})
}

// refusedWait changes what refusals say.
func refusedWait(change func(wait time.Duration) time.Duration) plant {
	return told(func(v *counters.Verdict) {
		if !v.OK {
			v.RetryAfter = change(v.RetryAfter)
			v.Reset = v.RetryAfter
		}
	})
}

// verdictBugs say something else than what is.
func verdictBugs() []bug {
	const say, retry = "rates/Remaining, Reset and RetryAfter", "rates/a retry is admitted"
	return []bug{
		{"RetryAfter is in whole seconds, rounded down", retry,
			refusedWait(func(w time.Duration) time.Duration { return w.Truncate(time.Second) })},
		{"RetryAfter is in whole seconds, rounded up", retry,
			refusedWait(func(w time.Duration) time.Duration { return (w + time.Second - 1).Truncate(time.Second) })},
		{"RetryAfter is a hundredth of a second too short", retry,
			refusedWait(func(w time.Duration) time.Duration { return max(1, w-10*time.Millisecond) })},
		{"RetryAfter is always a minute", say, refusedWait(func(time.Duration) time.Duration { return window })},
		{"RetryAfter waits for the oldest under any limit", "limits/under a smaller limit",
			rate(func(l *log, limit int, now time.Time) counters.Verdict {
				l.forget(now.Add(-window))
				v := l.take(limit, now)
				if !v.OK && limit > 0 {
					v.Reset = l.events[0].Add(window).Sub(now)
					v.RetryAfter = v.Reset
				}
				return v
			})},
		{"an admitted request has a RetryAfter", say, told(func(v *counters.Verdict) { v.RetryAfter = v.Reset })},
		{"Remaining is what there was before", say, told(func(v *counters.Verdict) {
			if v.OK {
				v.Remaining++
			}
		})},
		{"Reset is always a minute", say, told(func(v *counters.Verdict) { v.Reset = window })},
		{"Reset is when the newest leaves", say, rate(func(l *log, limit int, now time.Time) counters.Verdict {
			l.forget(now.Add(-window))
			v := l.take(limit, now)
			v.Reset = window
			return v
		})},
		{"a verdict has no Limit", say, told(func(v *counters.Verdict) { v.Limit = 0 })},
		{"a context that has ended is refused", "contexts/what is asked", each(func(p *parts) {
			allow := p.allow
			p.allow = func(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
				if ctx.Err() != nil {
					return counters.Verdict{Limit: limit, Reset: window, RetryAfter: window}
				}
				return allow(ctx, id, limit, now)
			}
		})},
		{"a context that has ended is admitted and not counted", "contexts/what is asked", each(func(p *parts) {
			allow := p.allow
			p.allow = func(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
				if ctx.Err() != nil {
					return counters.Verdict{OK: true, Limit: limit, Remaining: limit - 1, Reset: window}
				}
				return allow(ctx, id, limit, now)
			}
		})},
		{"each node counts alone", "rates/a flood of one application", func(countertest.Clock) func(*parts) {
			return func(p *parts) { p.allow = counters.New().Limiter().Allow }
		}},
		{"each node counts addresses alone", "addresses/each address", func(countertest.Clock) func(*parts) {
			return func(p *parts) { p.hold = counters.New().Limiter().HoldAddress }
		}},
	}
}

// folds make one text of those that keys take for the same.
var folds = []struct {
	name string
	fold func(string) string
}{
	{"without case", strings.ToLower},
	{"without the blanks around them", strings.TrimSpace},
	{"up to a zero byte", func(s string) string { s, _, _ = strings.Cut(s, "\x00"); return s }},
	{"up to a line's end", func(s string) string { s, _, _ = strings.Cut(s, "\n"); return s }},
	{"up to a blank", func(s string) string { s, _, _ = strings.Cut(s, " "); return s }},
	{"up to 64 bytes", func(s string) string { return s[:min(len(s), 64)] }},
	{"up to 4095 bytes", func(s string) string { return s[:min(len(s), 4095)] }},
	{"by what is in braces", func(s string) string {
		if _, rest, ok := strings.Cut(s, "{"); ok {
			if in, _, ok := strings.Cut(rest, "}"); ok && in != "" {
				return in
			}
		}
		return s
	}},
	{"as valid UTF-8", func(s string) string {
		if utf8.ValidString(s) {
			return s
		}
		return strings.ToValidUTF8(s, "\ufffd")
	}},
	{"with signs of languages made plain", strings.NewReplacer("\u212a", "K", "\u212b", "Å", "a\u0301", "á", "ſ",
		"s").Replace},
	{"by their length", func(s string) string { return strings.Repeat("x", len(s)) }},
}

// nameBugs count under names that meet.
func nameBugs() (bugs []bug) {
	for _, f := range folds {
		bugs = append(bugs, bug{"applications are counted " + f.name, "texts/applications of any name", each(func(p *parts) {
			allow := p.allow
			p.allow = func(ctx context.Context, id string, limit int, now time.Time) counters.Verdict {
				return allow(ctx, f.fold(id), limit, now)
			}
		})}, bug{"counts are found " + f.name, "texts/counts of any name", each(func(p *parts) {
			add, wait := p.add, p.wait
			p.add = func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				return add(ctx, f.fold(name), client, limit, window)
			}
			p.wait = func(ctx context.Context, name string, client netip.Prefix, limit int, window time.Duration) time.Duration {
				return wait(ctx, f.fold(name), client, limit, window)
			}
		})})
	}
	return append(bugs, bug{"applications and addresses have the same keys", "apart/applications, addresses",
		each(func(p *parts) {
			allow := p.allow
			p.hold = func(ctx context.Context, from netip.Addr, per int, now time.Time) (counters.Verdict, func()) {
				return allow(ctx, from.String(), per, now), func() {}
			}
		})}, bug{"all applications share one count", "rates/each application", each(func(p *parts) {
		allow := p.allow
		p.allow = func(ctx context.Context, _ string, limit int, now time.Time) counters.Verdict {
			return allow(ctx, "app", limit, now)
		}
	})})
}
