package storagetest

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func revocationFeed() []promise {
	return []promise{
		{name: "every field of a revocation comes back", test: feedFields},
		{name: "Seq rises in the order of the calls, and within a call", test: feedOrder},
		{name: "a page holds up to n and goes on behind after", test: feedPages},
		{name: "the reader who follows beside 8 writers misses nothing", test: followRevocations},
		{name: "a joined revocation leaves its old Seq and takes a new one", test: joinedSeq},
		{name: "joining keeps the later Before and the later Until, whichever call brought them", test: joinedFields},
		{name: "revocations of one call join each other", test: joinedWithin},
		{name: "revocations that differ in kind or id stay apart", test: stayApart},
	}
}

func grantEnd(id string) driver.Revocation {
	return driver.Revocation{Kind: driver.RevokeGrant, ID: id, Until: at(600)}
}

func sameRevocation(t testing.TB, got, put driver.Revocation) {
	t.Helper()
	if got.Kind != put.Kind || got.ID != put.ID || !same(got.Before, put.Before) || !same(got.Until, put.Until) {
		t.Errorf("Revocations(after) = %+v, want %+v, in UTC", got, put)
	}
}

func feedFields(t testing.TB, b driver.Backend) {
	puts := []driver.Revocation{
		{Kind: driver.RevokeUser, ID: `é "\ 中`, Before: abroad(at(1).Add(1)), Until: abroad(at(2).Add(2))},
		{Kind: driver.RevokeJTI, ID: "never forgotten"},
		{Kind: driver.RevokeApp, ID: "app", Until: at(3)},
	}
	revoke(t, b, puts...)
	got := feed(t, b, 0)
	if len(got) != len(puts) {
		t.Fatalf("Revocations(0) = %d revocations, want %d", len(got), len(puts))
	}
	for i, put := range puts {
		sameRevocation(t, got[i], put)
	}
}

func feedOrder(t testing.TB, b driver.Backend) {
	revoke(t, b, grantEnd("c"))
	revoke(t, b, grantEnd("b"), grantEnd("d"))
	revoke(t, b, grantEnd("a"))
	wantFeed(t, feed(t, b, 0), "c", "b", "d", "a")
}

// wantFeed checks that a feed holds these ids, and that its Seq rise from above 0.
func wantFeed(t testing.TB, got []driver.Revocation, ids ...string) {
	t.Helper()
	var have []string
	last := uint64(0)
	for _, r := range got {
		if r.Seq <= last {
			t.Fatalf("Revocations(after): Seq %d behind %d, want rising", r.Seq, last)
		}
		last = r.Seq
		have = append(have, r.ID)
	}
	if !slices.Equal(have, ids) {
		t.Fatalf("Revocations(after) = %q, want %q", have, ids)
	}
}

func feedPages(t testing.TB, b driver.Backend) {
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		revoke(t, b, grantEnd(id))
	}
	all := feed(t, b, 0)
	wantFeed(t, all, "a", "b", "c", "d", "e")
	page, err := b.Revocations(t.Context(), all[0].Seq, 3)
	want(t, "Revocations(first, 3)", err, nil)
	wantFeed(t, page, "b", "c", "d")
	wantFeed(t, feed(t, b, page[2].Seq), "e")
	wantFeed(t, feed(t, b, all[4].Seq))
	wantFeed(t, feed(t, b, all[4].Seq+1000))
}

func followRevocations(t testing.TB, b driver.Backend) {
	const writers, each = 8, 40
	var seen []driver.Revocation
	after := uint64(0)
	answers := meanwhile(writers, each/2, func(i, j int) error {
		return b.Revoke(t.Context(), grantEnd(fmt.Sprintf("%d.%d", i, 2*j)), grantEnd(fmt.Sprintf("%d.%d", i, 2*j+1)))
	}, func() {
		for page := []driver.Revocation{{}}; len(page) > 0; {
			var err error
			page, err = b.Revocations(t.Context(), after, 7)
			want(t, "Revocations(after, 7)", err, nil)
			for _, r := range page {
				if r.Seq <= after {
					t.Fatalf("Revocations(%d, 7) holds Seq %d behind it, want rising", after, r.Seq)
				}
				after = r.Seq
			}
			seen = append(seen, page...)
		}
	})
	allNil(t, "Revoke(two)", answers)
	wantFeed(t, feed(t, b, 0), revocationIDs(seen)...)
	if len(seen) != writers*each {
		t.Fatalf("the reader saw %d revocations, want %d", len(seen), writers*each)
	}
}

func revocationIDs(rs []driver.Revocation) []string {
	var ids []string
	for _, r := range rs {
		ids = append(ids, r.ID)
	}
	return ids
}

func joinedSeq(t testing.TB, b driver.Backend) {
	revoke(t, b, grantEnd("a"), grantEnd("b"))
	before := feed(t, b, 0)
	revoke(t, b, grantEnd("a"))
	wantFeed(t, feed(t, b, 0), "b", "a")
	wantFeed(t, feed(t, b, before[1].Seq), "a")
}

func joinedFields(t testing.TB, b driver.Backend) {
	user := func(before, until time.Time) driver.Revocation {
		return driver.Revocation{Kind: driver.RevokeUser, ID: "u", Before: before, Until: until}
	}
	for _, step := range []struct{ put, joined driver.Revocation }{
		{user(at(5), at(50)), user(at(5), at(50))},
		{user(at(4), at(60)), user(at(5), at(60))},
		{user(at(6), at(40)), user(at(6), at(60))},
		{user(time.Time{}, at(1)), user(at(6), at(60))},
		{user(at(6).Add(1), at(60).Add(1)), user(at(6).Add(1), at(60).Add(1))},
		{user(at(1), time.Time{}), user(at(6).Add(1), time.Time{})}, // no Until is the latest
		{user(at(1), at(90)), user(at(6).Add(1), time.Time{})},
	} {
		revoke(t, b, step.put)
		got := feed(t, b, 0)
		wantFeed(t, got, "u")
		sameRevocation(t, got[0], step.joined)
	}
}

func joinedWithin(t testing.TB, b driver.Backend) {
	early, late := grantEnd("a"), grantEnd("a")
	early.Until, late.Until = at(1), at(2)
	revoke(t, b, late, grantEnd("b"), early)
	got := feed(t, b, 0)
	wantFeed(t, got, "b", "a")
	sameRevocation(t, got[1], late)
}

func stayApart(t testing.TB, b driver.Backend) {
	kinds := []string{driver.RevokeGrant, driver.RevokeJTI, driver.RevokeApp, driver.RevokeUser, driver.RevokeConsent}
	var ids []string
	for _, kind := range kinds {
		for _, id := range []string{"x", "X", "x ", "x1"} {
			revoke(t, b, driver.Revocation{Kind: kind, ID: id, Until: at(1)})
			ids = append(ids, id)
		}
	}
	wantFeed(t, feed(t, b, 0), ids...)
}
