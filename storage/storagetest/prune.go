package storagetest

import (
	"fmt"
	"math"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func pruning() []promise {
	return []promise{
		{name: "the oldest records go, up to a Seq, and the others stay as they are", test: pruneThrough},
		{name: "about n go in one call, the lowest first, and it says how many until there are none", test: pruneSteps},
		{name: "through may be 0, or a Seq that nobody was given yet", test: func(t testing.TB, b driver.Backend) {
			prune(t, b, 0, 9, 0)
			prune(t, b, 7, 9, 0)
			record(t, b, "a", "b")
			prune(t, b, 0, 9, 0)
			wantTrail(t, trail(t, b, 0, 9), "a", "b")
			prune(t, b, math.MaxInt64, 9, 2)
			wantTrail(t, trail(t, b, 0, 9))
		}},
		{name: "a Seq is not given again when its record is pruned", test: func(t testing.TB, b driver.Backend) {
			record(t, b, "a", "b")
			old := trail(t, b, 0, 9)
			prune(t, b, old[1].Seq, 9, 2)
			record(t, b, "c")
			wantTrail(t, trail(t, b, old[1].Seq, 9), "c")
			wantTrail(t, trail(t, b, 0, 9), "c")
		}},
		{name: "Appended is 0 for ever, or the last Seq, through every Prune", test: lastAppended},
		{name: "a document, a token and a revocation are no records", test: func(t testing.TB, b driver.Backend) {
			x := token("a")
			issue(t, b, x)
			put(t, b, doc("a", "all"))
			revoke(t, b, grantEnd("b"))
			record(t, b, "a")
			prune(t, b, math.MaxInt64, 9, 1)
			sameToken(t, read(t, b, x.Key), x)
			get(t, b, "a")
			wantFeed(t, feed(t, b, 0), "b")
		}},
		{name: "whoever appends beside it loses nothing", test: pruneBeside},
	}
}

func prune(t testing.TB, b driver.Backend, through uint64, n, removed int) {
	t.Helper()
	got, err := b.Prune(t.Context(), through, n)
	want(t, fmt.Sprintf("Prune(%d, %d)", through, n), err, nil)
	if got != removed {
		t.Fatalf("Prune(%d, %d) removed %d, want %d", through, n, got, removed)
	}
}

func pruneThrough(t testing.TB, b driver.Backend) {
	record(t, b, "a", "b")
	record(t, b, "c", "d", "e")
	all := trail(t, b, 0, 9)
	prune(t, b, all[2].Seq, 9, 3)
	left := trail(t, b, 0, 9)
	wantTrail(t, left, "d", "e")
	for i, r := range left {
		if r.Seq != all[i+3].Seq || !same(r.At, all[i+3].At) {
			t.Errorf("Records(0)[%d] = %+v behind a Prune, want %+v", i, r, all[i+3])
		}
	}
	wantTrail(t, trail(t, b, all[1].Seq, 9), "d", "e")
	wantTrail(t, trail(t, b, all[3].Seq, 9), "e")
	prune(t, b, all[2].Seq, 9, 0)
}

func pruneSteps(t testing.TB, b driver.Backend) {
	const all, n = 50, 7
	for i := range all {
		record(t, b, fmt.Sprint(i))
	}
	through := trail(t, b, 0, all)[all-4].Seq
	for total := 0; ; {
		removed, err := b.Prune(t.Context(), through, n)
		want(t, "Prune(through, 7)", err, nil)
		total += removed
		left := trail(t, b, 0, all)
		if removed > 3*n || len(left) != all-total || len(left) < 3 || string(left[0].Data) != fmt.Sprint(total) {
			t.Fatalf("Prune(through, %d) removed %d, %d in all, and left %d that begin with %q", n, removed, total, len(left),
				left[0].Data)
		}
		if removed == 0 {
			wantTrail(t, left, "47", "48", "49")
			return
		}
	}
}

// appended checks that a Backend answers what it must: always 0, or the Seq of the last record.
func appended(t testing.TB, b driver.Backend, last uint64) (knows bool) {
	t.Helper()
	got, err := b.Appended(t.Context())
	want(t, "Appended()", err, nil)
	if got != 0 && got != last {
		t.Fatalf("Appended() = %d behind Seq %d, want that or 0", got, last)
	}
	return got != 0
}

func lastAppended(t testing.TB, b driver.Backend) {
	appended(t, b, 0)
	record(t, b, "a")
	knows := appended(t, b, trail(t, b, 0, 9)[0].Seq)
	record(t, b, "b", "c", "d")
	all := trail(t, b, 0, 9)
	for _, r := range all {
		prune(t, b, r.Seq, 9, 1)
		if appended(t, b, all[3].Seq) != knows {
			t.Fatal("Appended() = 0 now and the last Seq then, want one of them always")
		}
	}
	for i, r := range all {
		if knows && r.Seq != all[0].Seq+uint64(i) {
			t.Errorf("Records(0)[%d] has Seq %d behind %d: whose Seqs have gaps answers 0 to Appended()", i, r.Seq, all[0].Seq)
		}
	}
}

func pruneBeside(t testing.TB, b driver.Backend) {
	const writers, each = 4, 20
	seen, after := 0, uint64(0)
	answers := meanwhile(writers, each, func(i, j int) error {
		return b.Append(t.Context(), driver.Record{Data: fmt.Append(nil, i, " ", j)})
	}, func() {
		for _, r := range trail(t, b, after, 7) {
			after = r.Seq
			seen++
		}
		_, err := b.Prune(t.Context(), after, 3)
		want(t, "Prune(seen, 3)", err, nil)
	})
	allNil(t, "Append(one)", answers)
	if seen += len(trail(t, b, after, driver.Page)); seen != writers*each {
		t.Errorf("%d records were seen beside a Prune of those seen before, want %d", seen, writers*each)
	}
}
