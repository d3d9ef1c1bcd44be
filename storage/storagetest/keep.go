package storagetest

import (
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func keeping() []promise {
	return []promise{
		{name: "a document whose end was moved on", test: func(t testing.TB, b driver.Backend) { endMoves(t, b, at(9)) }},
		{name: "a document whose end was taken off", test: func(t testing.TB,
			b driver.Backend) {
			endMoves(t, b, time.Time{})
		}},
		{name: "a document that was removed and made again", test: func(t testing.TB, b driver.Backend) {
			_, d := ending(at(5))
			d.Version = put(t, b, d)
			put(t, b, removal(d))
			d.Version, d.ExpiresAt = 0, at(9)
			put(t, b, d)
			sweep(t, b, at(5), 0)
			get(t, b, d.ID)
			sweep(t, b, at(9), 1)
		}},
		{name: "but not a document whose end was moved back", test: func(t testing.TB, b driver.Backend) {
			_, d := ending(at(9))
			d.Version = put(t, b, d)
			d.ExpiresAt = at(5)
			put(t, b, d)
			sweep(t, b, at(5), 1)
			gone(t, b, d.ID)
			sweep(t, b, at(9), 0)
		}},
		{name: "a revocation that was joined by a later one", test: joinedLater},
		{name: "a revocation without an end that one with an end has joined", test: func(t testing.TB, b driver.Backend) {
			never := grantEnd("grant a")
			never.Until = time.Time{}
			revoke(t, b, never)
			revoke(t, b, grantEnd("grant a"))
			sweep(t, b, at(0).AddDate(100, 0, 0), 0)
			wantFeed(t, feed(t, b, 0), "grant a")
		}},
		{name: "audit and usage", test: func(t testing.TB, b driver.Backend) {
			record(t, b, "a")
			count(t, b, "node", 1, calls("ai", at(0), 1))
			sweep(t, b, driver.Hour(at(0)).Add(driver.UsageHours), 0)
			wantTrail(t, trail(t, b, 0, 9), "a")
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 1))
			sweep(t, b, at(0).AddDate(100, 0, 0), 1)
			wantTrail(t, trail(t, b, 0, 9), "a")
			usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 1))
		}},
		{name: "the number of a batch whose hours are gone", test: func(t testing.TB, b driver.Backend) {
			count(t, b, "node", 1, calls("ai", at(0), 1))
			sweep(t, b, at(0).AddDate(100, 0, 0), 1)
			count(t, b, "node", 1, calls("ai", at(0), 1))
			usage(t, b, hours("app"))
			usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 1))
		}},
	}
}

func endMoves(t testing.TB, b driver.Backend, to time.Time) {
	_, d := ending(at(5))
	d.Version = put(t, b, d)
	d.ExpiresAt = to
	d.Version = put(t, b, d)
	sweep(t, b, at(5), 0)
	sameDoc(t, get(t, b, d.ID), d)
	if !to.IsZero() {
		sweep(t, b, to, 1)
		gone(t, b, d.ID)
	}
	sweep(t, b, at(0).AddDate(100, 0, 0), 0)
}

func joinedLater(t testing.TB, b driver.Backend) {
	early, late := grantEnd("grant a"), grantEnd("grant a")
	early.Until, late.Until = at(5), at(9)
	revoke(t, b, early)
	revoke(t, b, late)
	revoke(t, b, early)
	x := token("a")
	issue(t, b, x)
	sweep(t, b, at(5), 0)
	wantFeed(t, feed(t, b, 0), "grant a")
	want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(6)), driver.ErrRevoked)
	sweep(t, b, at(9), 1)
	wantFeed(t, feed(t, b, 0))
}
