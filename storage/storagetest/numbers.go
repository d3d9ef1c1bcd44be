package storagetest

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// numbers are promises about the largest numbers: those of the contract end at 2^63-1, where
// those of SQL do, but a reader may ask for what is behind any number of 64 bits.
func numbers() []promise {
	return []promise{
		{name: "a batch may have the number 2^63-1, and behind it nothing is counted", test: largestBatch},
		{name: "a reader may ask for what is behind any number, and is shown nothing", test: behindAll},
		{name: "Prune may go through any number", test: func(t testing.TB, b driver.Backend) {
			for _, through := range []uint64{math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64} {
				record(t, b, "a", "b")
				prune(t, b, through, driver.Page, 2)
				wantTrail(t, trail(t, b, 0, 9))
			}
		}},
		{name: "no document has the version 2^63-1 yet", test: func(t testing.TB, b driver.Backend) {
			d := doc("a", "entry")
			d.Version = put(t, b, d)
			for _, id := range []string{"a", "never"} {
				ahead := doc(id, "ahead")
				ahead.Version = math.MaxInt64
				inTheWay(t, b, id, driver.ErrConflict, ahead)
				inTheWay(t, b, id, driver.ErrConflict, removal(ahead))
			}
			sameDoc(t, get(t, b, "a"), d)
			lists(t, b, driver.Is("ahead"))
		}},
		{name: "the numbers that a Backend gives begin at 1 or more and are no larger than 2^63-1", test: givenNumbers},
		{name: "sums stop at the largest number within one batch, and go on for others", test: sumsInOneBatch},
		{name: "sums stop at the largest number from batch to batch, of the day before those of its hours",
			test: sumsOverBatches},
		{name: "a page holds 1,000, of an Append of 1,000 and of what is listed", test: fullPages},
	}
}

func largestBatch(t testing.TB, b driver.Backend) {
	hour := driver.Hour(at(0))
	count(t, b, "node", math.MaxInt64-1, calls("ai", at(0), 1))
	count(t, b, "node", math.MaxInt64, calls("ai", at(0), 2))
	for _, seq := range []uint64{math.MaxInt64, math.MaxInt64 - 1, 1} {
		count(t, b, "node", seq, calls("ai", at(0), 100))
	}
	usage(t, b, hours("app"), calls("ai", hour, 3))
	// As text, 9 is more than 10.
	// As 32 bits, 2^32 is less than 2^31; as floating point, 2^53+1 is no more than 2^53.
	for _, seq := range []uint64{9, 10, 99, 100, 1 << 31, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1 << 53, 1<<53 + 1} {
		count(t, b, "digits", seq, calls("ai", at(0), 10))
	}
	usage(t, b, days("app"), driver.Count{AppID: "app", Product: "ai", At: driver.Day(at(0)), Calls: 103, Errors: 10})
}

func behindAll(t testing.TB, b driver.Backend) {
	record(t, b, "a", "b")
	revoke(t, b, grantEnd("a"), grantEnd("b"))
	for _, after := range []uint64{math.MaxInt64 - 1, math.MaxInt64, math.MaxInt64 + 1, math.MaxUint64 - 1,
		math.MaxUint64} {
		wantTrail(t, trail(t, b, after, driver.Page))
		wantFeed(t, feed(t, b, after))
	}
}

func givenNumbers(t testing.TB, b driver.Backend) {
	for i := range 3 {
		if version := put(t, b, doc(fmt.Sprint(i))); version < 1 {
			t.Errorf("Put(document) = version %d, want 1 or more", version)
		}
		record(t, b, "a")
		revoke(t, b, grantEnd(fmt.Sprint(i)))
	}
	for _, r := range trail(t, b, 0, 9) {
		if r.Seq < 1 || r.Seq > math.MaxInt64 {
			t.Errorf("Records(0) holds Seq %d", r.Seq)
		}
	}
	for _, r := range feed(t, b, 0) {
		if r.Seq < 1 || r.Seq > math.MaxInt64 {
			t.Errorf("Revocations(0) holds Seq %d", r.Seq)
		}
	}
}

func sumsInOneBatch(t testing.TB, b driver.Backend) {
	most := driver.Count{AppID: "app", Product: "most", At: at(0), Calls: math.MaxInt64, Errors: math.MaxInt64 - 3}
	few := driver.Count{AppID: "app", Product: "most", At: at(0), Calls: 1, Errors: 1}
	count(t, b, "node", 1, most, few, calls("other", at(0), 10), most, few, calls("other", at(60), 20))
	most.Errors = math.MaxInt64
	hour, day := driver.Hour(at(0)), driver.Day(at(0))
	at := func(c driver.Count, row driver.Count) driver.Count { c.At = row.At; return c }
	usage(t, b, hours("app"), at(most, driver.Count{At: hour}), calls("other", hour, 10),
		calls("other", hour.Add(3600e9), 20))
	usage(t, b, days("app"), at(most, driver.Count{At: day}), calls("other", day, 30))
	count(t, b, "node", 2, few)
	usage(t, b, hours("app"), at(most, driver.Count{At: hour}), calls("other", hour, 10),
		calls("other", hour.Add(3600e9), 20))
}

func sumsOverBatches(t testing.TB, b driver.Backend) {
	half := driver.Count{AppID: "app", Product: "ai", Calls: math.MaxInt64/2 + 1, Errors: math.MaxInt64 / 2}
	hour, day := driver.Hour(at(0)), driver.Day(at(0))
	for i, minutes := range []int{0, 60, 1} { // two in one hour, one in the next
		half.At = at(minutes)
		count(t, b, fmt.Sprint("node", i), 1, half)
	}
	first, second, whole := half, half, half
	first.At, first.Calls, first.Errors = hour, math.MaxInt64, math.MaxInt64-1
	second.At = hour.Add(3600e9)
	whole.At, whole.Calls, whole.Errors = day, math.MaxInt64, math.MaxInt64
	usage(t, b, hours("app"), first, second)
	usage(t, b, days("app"), whole)
}

func fullPages(t testing.TB, b driver.Backend) {
	var records []driver.Record
	for i := range driver.Page + 1 {
		records = append(records, driver.Record{At: at(i), Data: fmt.Append(nil, i)})
	}
	want(t, "Append(1,001)", b.Append(t.Context(), records...), nil)
	page := trail(t, b, 0, driver.Page)
	if len(page) != driver.Page {
		t.Fatalf("Records(0, %d) = %d records, want all of them", driver.Page, len(page))
	}
	wantTrail(t, trail(t, b, page[driver.Page-1].Seq, driver.Page), "1000")
	var ids []string
	var docs []driver.Doc
	for i := range driver.Page + 1 {
		ids = append(ids, fmt.Sprintf("%04d", i))
		if docs = append(docs, doc(ids[i], "all")); len(docs) == driver.MaxPut || i == driver.Page {
			put(t, b, docs...)
			docs = nil
		}
	}
	got, next, err := b.List(t.Context(), "thing", driver.Is("all"), driver.Page)
	if want(t, "List(all, 1000)", err, nil); !slices.Equal(idsOf(got), ids[:driver.Page]) || next == "" {
		t.Fatalf("List(all, %d) = %d documents, next %q", driver.Page, len(got), next)
	}
	lists(t, b, driver.Between(next, driver.Is("all").To), ids[driver.Page])
}
