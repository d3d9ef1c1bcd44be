package planted

import (
	"context"
	"errors"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

// timed changes the times that are kept in one place, on their way in.
type timed struct {
	of     string
	caught string // by years, by zones; by digits: every digit of a nanosecond
	plant  func(change func(time.Time) time.Time) func(*parts)
}

// kept are the places where a time is kept.
func kept() []timed {
	tokens := func(pick func(*driver.Token) []*time.Time) func(func(time.Time) time.Time) func(*parts) {
		return func(change func(time.Time) time.Time) func(*parts) {
			each := func(tokens []driver.Token) []driver.Token {
				tokens = append([]driver.Token(nil), tokens...)
				for i := range tokens {
					for _, at := range pick(&tokens[i]) {
						*at = change(*at)
					}
				}
				return tokens
			}
			return func(b *parts) {
				issue, exchange := b.issue, b.exchange
				b.issue = func(ctx context.Context, tokens ...driver.Token) error { return issue(ctx, each(tokens)...) }
				b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
					return exchange(ctx, key, at, each(next)...)
				}
			}
		}
	}
	revocations := func(pick func(*driver.Revocation) *time.Time) func(func(time.Time) time.Time) func(*parts) {
		return func(change func(time.Time) time.Time) func(*parts) {
			return func(b *parts) {
				revoke := b.revoke
				b.revoke = func(ctx context.Context, rs ...driver.Revocation) error {
					rs = append([]driver.Revocation(nil), rs...)
					for i := range rs {
						at := pick(&rs[i])
						*at = change(*at)
					}
					return revoke(ctx, rs...)
				}
			}
		}
	}
	const token, revocation = "times/every time of a token", "times/Before and Until of a revocation"
	return []timed{
		{"the end of a token", token, tokens(func(t *driver.Token) []*time.Time { return []*time.Time{&t.ExpiresAt} })},
		{"when a token was granted", token, tokens(func(t *driver.Token) []*time.Time { return []*time.Time{&t.GrantedAt} })},
		{"when a token was issued", token, tokens(func(t *driver.Token) []*time.Time { return []*time.Time{&t.IssuedAt} })},
		{"when a user signed in", token, tokens(func(t *driver.Token) []*time.Time { return []*time.Time{&t.AuthTime} })},
		{"Before", revocation, revocations(func(r *driver.Revocation) *time.Time { return &r.Before })},
		{"Until", revocation, revocations(func(r *driver.Revocation) *time.Time { return &r.Until })},
		{"when a token was spent", token, func(change func(time.Time) time.Time) func(*parts) {
			return func(b *parts) {
				exchange := b.exchange
				b.exchange = func(ctx context.Context, key driver.Key, at time.Time, next ...driver.Token) error {
					return exchange(ctx, key, change(at), next...)
				}
			}
		}},
		{"the end of a document", "times/the end of a document", func(change func(time.Time) time.Time) func(*parts) {
			return foldDocs(func(d *driver.Doc) { d.ExpiresAt = change(d.ExpiresAt) })
		}},
		{"the time of a record", "times/the time of an audit record", func(change func(time.Time) time.Time) func(*parts) {
			return func(b *parts) {
				add := b.append
				b.append = func(ctx context.Context, records ...driver.Record) error {
					records = append([]driver.Record(nil), records...)
					for i := range records {
						records[i].At = change(records[i].At)
					}
					return add(ctx, records...)
				}
			}
		}},
	}
}

// clocks do to a time what columns do that are not made for all of them.
var clocks = []struct {
	name   string
	digits bool // every digit of a nanosecond sees it
	change func(time.Time) time.Time
}{
	{"is cut to microseconds", true, func(t time.Time) time.Time { return t.Truncate(time.Microsecond) }},
	{"is rounded to microseconds", true, func(t time.Time) time.Time { return t.Round(time.Microsecond) }},
	{"is 64 bits of nanoseconds", false, func(t time.Time) time.Time {
		if t.IsZero() {
			return t
		}
		return time.Unix(0, t.UnixNano()).UTC()
	}},
	{"is kept as its clock shows it, without the zone", false, func(t time.Time) time.Time {
		y, m, d := t.Date()
		return time.Date(y, m, d, t.Hour(), t.Minute(), t.Second(), t.Nanosecond(), time.UTC)
	}},
	{"has no year 1", false, func(t time.Time) time.Time {
		if t.Year() <= 1 {
			return time.Time{}
		}
		return t
	}},
	{"ends with the year 2262", false, func(t time.Time) time.Time {
		if last := time.Unix(0, 1<<63-1); t.After(last) {
			return last
		}
		return t
	}},
}

// clockBugs keep times in columns that do not hold them all.
func clockBugs() (bugs []bug) {
	for _, place := range kept() {
		for _, c := range clocks {
			caught := place.caught
			if c.digits && place.of != "when a token was spent" {
				caught = "times/every digit"
			}
			bugs = append(bugs, bug{name: place.of + " " + c.name, caught: caught, plant: place.plant(c.change)})
		}
	}
	return append(bugs, comparedBugs()...)
}

func comparedBugs() []bug {
	const granted, years, digits = "times/GrantedAt and Before are compared", "times/a sweep may be in the year",
		"times/every digit"
	covers := func(less func(granted, before time.Time) bool) func(*parts) {
		return judging(func(r driver.Revocation, t driver.Token) bool {
			before := r.Before
			r.Before = t.GrantedAt.Add(1)
			return r.Covers(t) && (r.Kind == driver.RevokeGrant || less(t.GrantedAt, before))
		})
	}
	zoneless := clocks[3].change
	return []bug{
		{name: "GrantedAt and Before are compared as texts of any width", caught: granted,
			plant: covers(func(g, b time.Time) bool {
				return g.UTC().Format(time.RFC3339Nano) < b.UTC().Format(time.RFC3339Nano)
			})},
		{name: "GrantedAt and Before are compared as 64 bits of nanoseconds", caught: granted,
			plant: covers(func(g, b time.Time) bool { return g.UnixNano() < b.UnixNano() })},
		{name: "GrantedAt and Before are compared by the microsecond", caught: granted,
			plant: covers(func(g, b time.Time) bool { return g.Truncate(1000).Before(b.Truncate(1000)) })},
		{name: "GrantedAt and Before are compared as 32 bits of seconds", caught: granted,
			plant: covers(func(g, b time.Time) bool {
				return int32(g.Unix()) < int32(b.Unix()) || g.Unix() == b.Unix() && g.Before(b)
			})},
		{name: "GrantedAt and Before are compared as floating point", caught: granted,
			plant: covers(func(g, b time.Time) bool {
				return float64(g.Unix())+float64(g.Nanosecond())/1e9 < float64(b.Unix())+float64(b.Nanosecond())/1e9
			})},
		{name: "a sweep knows no moment before 1970", caught: years, plant: swept(func(at time.Time, n int) (time.Time, int) {
			if at.Unix() < 0 {
				return time.Unix(0, 0).UTC(), n
			}
			return at, n
		})},
		{name: "a sweep ends with the year 2262", caught: years,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return clocks[5].change(at), n })},
		{name: "a sweep is at what the caller's clock shows", caught: years,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return zoneless(at), n })},
		{name: "a sweep is at a microsecond", caught: digits,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return at.Truncate(time.Microsecond), n })},
		{name: "a sweep is rounded to a microsecond", caught: digits,
			plant: swept(func(at time.Time, n int) (time.Time, int) { return at.Round(time.Microsecond), n })},
		{name: "a sweep in the year 1 takes every hour", caught: years, plant: func(b *parts) {
			usage, sweep := b.usage, b.sweep
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				removed, err := sweep(ctx, at, n)
				if at.Add(-driver.UsageHours).Year() < 1 {
					rows, _ := usage(ctx, driver.UsageQuery{AppID: "app", To: time.Unix(0, 0)})
					removed += len(rows)
				}
				return removed, err
			}
		}},
		{name: "a sweep at the zero time takes what has no end", caught: "times/what has no end", plant: func(b *parts) {
			sweep := b.sweep
			b.sweep = func(ctx context.Context, at time.Time, n int) (int, error) {
				removed, err := sweep(ctx, at, n)
				if at.IsZero() {
					removed += 2
				}
				return removed, err
			}
		}},
		{name: "what has no end is as if it ended in 9999", caught: "times/what has no end",
			plant: foldDocs(func(d *driver.Doc) {
				if d.ExpiresAt.IsZero() {
					d.ExpiresAt = time.Date(9999, 12, 31, 0, 0, 0, 0, time.UTC)
				}
			})},
		{name: "times of a year with five digits are refused", caught: "times/the end of a document", plant: putting(
			func(_ context.Context, _ *parts, right func(...driver.Doc) (int64, error), docs []driver.Doc) (int64, error) {
				for _, d := range docs {
					if _, err := d.ExpiresAt.MarshalText(); err != nil {
						return 0, errors.Join(errBytes, err)
					}
				}
				return right(docs...)
			})},
		{name: "the hours of usage end with the year 2262", caught: "times/hours and days of usage",
			plant: eachCount(func(c *driver.Count) { c.At = clocks[5].change(c.At) })},
		{name: "the hours of usage are 64 bits of nanoseconds", caught: "times/hours and days of usage",
			plant: eachCount(func(c *driver.Count) { c.At = clocks[2].change(c.At) })},
		{name: "the hours of usage are those of the caller's clock", caught: "times/hours and days of usage",
			plant: eachCount(func(c *driver.Count) { c.At = zoneless(c.At) })},
		{name: "usage is asked for by the caller's clock", caught: "times/hours and days of usage",
			plant: queriedHour(func(q *driver.UsageQuery) { q.From, q.To = zoneless(q.From), zoneless(q.To) })},
		{name: "usage is asked for until 2262", caught: "times/hours and days of usage",
			plant: queriedHour(func(q *driver.UsageQuery) { q.To = clocks[5].change(q.To) })},
		{name: "usage is asked for by the microsecond", caught: "Usage/from counts, to does not",
			plant: queriedHour(func(q *driver.UsageQuery) { q.From, q.To = q.From.Truncate(1000), q.To.Truncate(1000) })},
	}
}
