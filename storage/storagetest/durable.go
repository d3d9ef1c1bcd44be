package storagetest

import (
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// reopening returns the promises that RunDurable holds a Backend to.
func reopening() chapter {
	return chapter{"reopening", []promise{
		{name: "every answered write is there after reopening", lives: everythingKept},
		{name: "fields are there after reopening", lives: fieldsKept},
		{name: "what was removed or swept stays away", lives: removalsKept},
		{name: "versions and Seq rise on, although all they were given to is gone", lives: numbersGoOn},
		{name: "a batch that was counted is not counted again", lives: batchesKept},
		{name: "of 50 times, every write that was answered beside Close is there", lives: closeKept},
	}}
}

// during runs one life of a Backend, from open to Close.
func during(t testing.TB, open func() driver.Backend, life func(b driver.Backend)) {
	t.Helper()
	b := open()
	life(b)
	want(t, "Close()", b.Close(), nil)
}

func everythingKept(t testing.TB, open func() driver.Backend) {
	old, next, d := token("a"), full(t), doc("a", "x", "y")
	d.ExpiresAt = at(5)
	during(t, open, func(b driver.Backend) {
		issue(t, b, old)
		want(t, "Exchange(token, next)", b.Exchange(t.Context(), old.Key, at(1), next), nil)
		revoke(t, b, grantEnd("a"), grantEnd("b"), grantEnd("a"))
		d.Version = put(t, b, d)
		count(t, b, "node", 1, calls("ai", at(0), 10))
		record(t, b, "first", "last")
	})
	old.SpentAt = at(1)
	for range 2 {
		during(t, open, func(b driver.Backend) {
			sameToken(t, read(t, b, old.Key), old)
			sameToken(t, read(t, b, next.Key), next)
			want(t, "Exchange(spent)", b.Exchange(t.Context(), old.Key, at(2)), driver.ErrSpent)
			wantFeed(t, feed(t, b, 0), "b", "a")
			x := token("a")
			x.Grant = "a"
			issue(t, b, x)
			want(t, "Exchange(revoked)", b.Exchange(t.Context(), x.Key, at(2)), driver.ErrRevoked)
			sameDoc(t, get(t, b, "a"), d)
			lists(t, b, driver.Between("a", "z"), "a", "a")
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 10))
			usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 10))
			wantTrail(t, trail(t, b, 0, 9), "first", "last")
		})
	}
}

func removalsKept(t testing.TB, open func() driver.Backend) {
	x, swept := ending(at(5))
	d := doc("removed", "all")
	during(t, open, func(b driver.Backend) {
		issue(t, b, x)
		d.Version = put(t, b, d, swept)
		put(t, b, removal(d))
		revoke(t, b, grantEnd("a"))
		sweep(t, b, at(600), 3)
		record(t, b, "pruned", "kept")
		prune(t, b, trail(t, b, 0, 1)[0].Seq, 9, 1)
	})
	during(t, open, func(b driver.Backend) {
		absent(t, b, x)
		gone(t, b, d.ID, swept.ID)
		lists(t, b, driver.Is("all"))
		wantFeed(t, feed(t, b, 0))
		wantTrail(t, trail(t, b, 0, 9), "kept")
		sweep(t, b, at(600), 0)
		inTheWay(t, b, d.ID, driver.ErrConflict, d)
	})
}

func numbersGoOn(t testing.TB, open func() driver.Backend) {
	var version int64
	var revoked, recorded uint64
	for life := range 4 {
		during(t, open, func(b driver.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			revoke(t, b, grantEnd("a"))
			record(t, b, fmt.Sprint(life))
			r, a := feed(t, b, revoked), trail(t, b, recorded, 9)
			wantFeed(t, r, "a")
			wantTrail(t, a, fmt.Sprint(life))
			if d.Version <= version || r[0].Seq <= revoked || a[0].Seq <= recorded {
				t.Errorf("life %d: version %d, Seq %d and %d, want more than %d, %d and %d",
					life, d.Version, r[0].Seq, a[0].Seq, version, revoked, recorded)
			}
			version, revoked, recorded = put(t, b, removal(d)), r[0].Seq, a[0].Seq
			sweep(t, b, at(600), 1)
			prune(t, b, recorded, 9, 1)
			appended(t, b, recorded)
		})
	}
}

func batchesKept(t testing.TB, open func() driver.Backend) {
	for range 3 {
		during(t, open, func(b driver.Backend) {
			count(t, b, "node", 5, calls("ai", at(0), 10))
			count(t, b, "node", 4, calls("ai", at(0), 10))
			usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 10))
		})
	}
}

func closeKept(t testing.TB, open func() driver.Backend) {
	for round := range 50 {
		answered := closeAmid(t, open(), round)
		during(t, open, func(b driver.Backend) {
			for _, id := range answered {
				put(t, b, removal(get(t, b, id)))
			}
		})
	}
}

func fieldsKept(t testing.TB, open func() driver.Backend) {
	r := driver.Revocation{Kind: driver.RevokeUser, ID: "u", Before: at(7).Add(1), Until: at(600).Add(1)}
	during(t, open, func(b driver.Backend) {
		revoke(t, b, r)
		want(t, "Append(record)", b.Append(t.Context(), driver.Record{At: at(3).Add(1), Data: []byte("a")}), nil)
	})
	during(t, open, func(b driver.Backend) {
		got, page := feed(t, b, 0), trail(t, b, 0, 9)
		wantFeed(t, got, "u")
		sameRevocation(t, got[0], r)
		wantTrail(t, page, "a")
		if !same(page[0].At, at(3).Add(1)) {
			t.Errorf("Records(0)[0].At = %v, want %v", page[0].At, at(3).Add(1))
		}
	})
}
