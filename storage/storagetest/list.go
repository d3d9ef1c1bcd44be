package storagetest

import (
	"fmt"
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func listing() []promise {
	return []promise{
		{name: "an entry finds exactly the documents that have it", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "owner=u1"), doc("b", "owner=u1", "all"), doc("c", "all"), doc("d"))
			lists(t, b, driver.Is("owner=u1"), "a", "b")
			lists(t, b, driver.Is("all"), "b", "c")
			lists(t, b, driver.Is("owner=u2"))
		}},
		{name: "an entry does not find its neighbours: u1 is not u10, nor U1", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "owner=u"), doc("b", "owner=u1"), doc("c", "owner=u10"), doc("d", "owner=u1 "),
				doc("e", "owner=U1"), doc("f", "owner=u1\x01"), doc("g", "owner=u1!"), doc("h", "owner=ú1"))
			lists(t, b, driver.Is("owner=u1"), "b")
			lists(t, b, driver.Is("owner=u"), "a")
		}},
		{name: "kinds do not mix", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "all"), driver.Doc{Kind: "thing2", ID: "b", Index: []string{"all"}},
				driver.Doc{Kind: "thin", ID: "c", Index: []string{"all", "gall"}})
			lists(t, b, driver.Is("all"), "a")
			lists(t, b, driver.Between("\x01", "\U0010ffff"), "a")
		}},
		{name: "the order is by bytes: of the entry, then of the id", test: byteOrder},
		{name: "from counts, to does not: what is due", test: due},
		{name: "an empty or a reversed span holds nothing", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "m"))
			lists(t, b, driver.Between("m", "m"))
			lists(t, b, driver.Between("n", "m"))
			lists(t, b, driver.Between("", ""))
		}},
		{name: "a document is listed once for each of its entries in the span", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "tag=x", "tag=z"), doc("b", "tag=y"))
			lists(t, b, driver.Between("tag=", "tag=~"), "a", "b", "a")
		}},
		{name: "an entry that is given twice lists once", test: func(t testing.TB, b driver.Backend) {
			d := doc("a", "x", "x")
			d.Version = put(t, b, d)
			lists(t, b, driver.Is("x"), "a")
			put(t, b, removal(d))
			lists(t, b, driver.Is("x"))
		}},
		{name: "a replaced document leaves the entries it has no more", test: entriesFollow},
		{name: "a removed document leaves all its entries", test: entriesEnd},
		{name: "a page never shows half a Put", test: handOver},
	}
}

func byteOrder(t testing.TB, b driver.Backend) {
	put(t, b,
		doc("b", "a"), doc("B", "a"), doc("10", "a"), doc("9", "a"), doc("é", "a"), doc("~", "a"), doc("中", "a"),
		doc("𐍈", "a"), doc("\uffee", "a"),
		doc("1", "a "), doc("0", "a!"), doc("2", "A"), doc("3", "é"), doc("4", "z"), doc("5", "a\x01"))
	lists(t, b, driver.Between("A", "\U0010ffff"),
		"2", "5", "10", "9", "B", "b", "~", "é", "中", "\uffee", "𐍈", "1", "0", "4", "3")
}

func due(t testing.TB, b driver.Backend) {
	for i := range 10 {
		put(t, b, doc(fmt.Sprint("delivery", 9-i), fmt.Sprintf("due=%04d", i)))
	}
	lists(t, b, driver.Between("due=0000", "due=0003"), "delivery9", "delivery8", "delivery7")
	lists(t, b, driver.Between("due=0003", "due=0004"), "delivery6")
	lists(t, b, driver.Between("due=0007", "due>"), "delivery2", "delivery1", "delivery0")
}

func entriesFollow(t testing.TB, b driver.Backend) {
	d := doc("a", "x", "y")
	d.Version = put(t, b, d, doc("b", "x"))
	d.Index = []string{"z", "y"}
	d.Version = put(t, b, d)
	lists(t, b, driver.Is("x"), "b")
	lists(t, b, driver.Is("y"), "a")
	lists(t, b, driver.Is("z"), "a")
	d.Index = nil
	put(t, b, d)
	lists(t, b, driver.Between("a", "zz"), "b")
}

func entriesEnd(t testing.TB, b driver.Backend) {
	d := doc("a", "x", "y")
	d.Version = put(t, b, d)
	put(t, b, removal(d))
	lists(t, b, driver.Between("a", "z"))
	put(t, b, doc("a", "y"))
	lists(t, b, driver.Is("x"))
	lists(t, b, driver.Is("y"), "a")
}

// handOver moves an entry between two documents, each time in one Put.
func handOver(t testing.TB, b driver.Backend) {
	from, to := doc("a", "holder"), doc("b")
	from.Version = put(t, b, from, to)
	to.Version = from.Version
	answers := meanwhile(1, 50, func(int, int) error {
		from.Index, to.Index = to.Index, from.Index
		version, err := b.Put(t.Context(), from, to)
		from.Version, to.Version = version, version
		return err
	}, func() {
		docs, _, err := b.List(t.Context(), "thing", driver.Is("holder"), 10)
		want(t, "List(holder)", err, nil)
		if len(docs) != 1 || !slices.Equal(docs[0].Index, []string{"holder"}) {
			t.Fatalf("List(holder) = %+v beside a Put that hands the entry over, want one", docs)
		}
	})
	allNil(t, "Put(from, to)", answers)
}

func paging() []promise {
	return []promise{
		{name: "pages of every size cover every document once and in order", test: pagesCover},
		{name: "the page that ends the span has no next, also when it is full", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "x"), doc("b", "x"), doc("c", "y"))
			docs, next, err := b.List(t.Context(), "thing", driver.Is("x"), 2)
			want(t, "List(x, 2)", err, nil)
			if got := idsOf(docs); !slices.Equal(got, []string{"a", "b"}) || next != "" {
				t.Fatalf("List(x, 2) = %q, next %q, want a, b and no next", got, next)
			}
		}},
		{name: "After goes on behind the document it names, which may be gone", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a", "x"), doc("b", "x"), doc("b1", "x"), doc("c", "x"))
			span := driver.Is("x")
			for stop, ids := range map[string][]string{"a": {"b", "b1", "c"}, "b": {"b1", "c"}, "b0": {"b1", "c"}, "c": nil} {
				span.From = driver.After("x", stop)
				lists(t, b, span, ids...)
			}
		}},
		{name: "a walk goes on when the document it stopped at is removed", test: func(t testing.TB, b driver.Backend) {
			d := doc("b", "x")
			d.Version = put(t, b, doc("a", "x"), d, doc("c", "x"))
			span := driver.Is("x")
			_, next, err := b.List(t.Context(), "thing", span, 1)
			want(t, "List(x, 1)", err, nil)
			put(t, b, removal(d))
			span.From = next
			lists(t, b, span, "c")
		}},
		{name: "a walk misses nothing when what it has shown is removed, and repeats nothing when more is put before",
			test: func(t testing.TB, b driver.Backend) {
				d := doc("a", "x")
				d.Version = put(t, b, d, doc("b", "x"), doc("c", "x"))
				span := driver.Is("x")
				_, next, err := b.List(t.Context(), "thing", span, 1)
				want(t, "List(x, 1)", err, nil)
				put(t, b, removal(d))
				span.From = next
				lists(t, b, span, "b", "c")
				put(t, b, doc("0", "x"), doc("1", "x"), doc("2", "x"))
				lists(t, b, span, "b", "c")
			}},
	}
}

func pagesCover(t testing.TB, b driver.Backend) {
	var ids []string
	for i := range 12 {
		ids = append(ids, fmt.Sprintf("%02d", i))
		put(t, b, doc(ids[i], "x"), driver.Doc{Kind: "other", ID: ids[i], Index: []string{"x"}})
	}
	put(t, b, doc("before", "w"), doc("behind", "y"))
	for n := 1; n <= len(ids)+1; n++ {
		var walked []string
		span := driver.Is("x")
		for {
			docs, next, err := b.List(t.Context(), "thing", span, n)
			want(t, "List(x, n)", err, nil)
			if len(docs) > n || len(docs) == 0 || len(walked) > len(ids) {
				t.Fatalf("List(x, %d) = %d documents after %d of %d", n, len(docs), len(walked), len(ids))
			}
			walked = append(walked, idsOf(docs)...)
			if next == "" {
				break
			}
			span.From = next
		}
		if !slices.Equal(walked, ids) {
			t.Fatalf("pages of %d cover %q, want %q", n, walked, ids)
		}
	}
}
