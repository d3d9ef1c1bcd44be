package storagetest

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// gathering are promises of a driver.Gatherer. A Backend that is none keeps them by not being asked.
func gathering() []promise {
	return []promise{
		{name: "documents that are named come whole, each once and in the order of their ids", test: gathered(gatherNamed)},
		{name: "what is not there, or is no name, is left out", test: gathered(gatherMissing)},
		{name: "several questions are answered in their order, each of its own kind", test: gathered(gatherKinds)},
		{name: "a list is answered as List answers it, page by page", test: gathered(gatherLists)},
		{name: "a page of ids is answered in one call", test: gathered(gatherPage)},
		{name: "names that look alike are different", test: gathered(gatherAlike)},
		{name: "an answer is all of one moment", test: gathered(gatherMoment)},
		{name: "what a Put has answered is seen, and a canceled call answers all or the context's error",
			test: gathered(gatherFresh)},
	}
}

func gathered(test func(testing.TB, driver.Backend, driver.Gatherer)) func(testing.TB, driver.Backend) {
	return func(t testing.TB, b driver.Backend) {
		if g, ok := driver.As[driver.Gatherer](b); ok {
			test(t, b, g)
		}
	}
}

// gather asks, and holds the number of answers to that of the questions.
func gather(t testing.TB, g driver.Gatherer, asks ...driver.Ask) []driver.Answer {
	t.Helper()
	all, err := g.Gather(t.Context(), asks...)
	want(t, fmt.Sprintf("Gather(%d questions)", len(asks)), err, nil)
	if len(all) != len(asks) {
		t.Fatalf("Gather(%d questions) = %d answers", len(asks), len(all))
	}
	return all
}

// wantGathered checks that an answer has these documents, in this order, and nothing behind them.
func wantGathered(t testing.TB, a driver.Answer, ids ...string) {
	t.Helper()
	if got := idsOf(a.Docs); !slices.Equal(got, ids) || a.Next != "" {
		t.Fatalf("Gather answers %.200q, next %q, want %.200q and no next", got, a.Next, ids)
	}
}

func things(ids ...string) driver.Ask { return driver.Ask{Kind: "thing", IDs: ids} }

func gatherNamed(t testing.TB, b driver.Backend, g driver.Gatherer) {
	full := driver.Doc{Kind: "thing", ID: "é 中", Index: []string{"z=1", "a=é"}, ExpiresAt: abroad(at(1).Add(1)),
		Data: []byte("\x00\x1f\xff{}")}
	bare, other := driver.Doc{Kind: "thing", ID: "B"}, doc("a", "x")
	version := put(t, b, full, bare, doc("c"), other)
	full.Version, bare.Version, other.Version = version, version, version
	asked := []string{full.ID, "B", full.ID, "a"}
	kept := slices.Clone(asked)
	got := gather(t, g, driver.Ask{Kind: "thing", IDs: asked, Span: driver.Is("x"), N: 1})[0]
	if !slices.Equal(asked, kept) {
		t.Errorf("Gather has changed the ids it was handed to %q", asked)
	}
	wantGathered(t, got, "B", "a", full.ID)
	for i, d := range []driver.Doc{bare, other, full} {
		sameDoc(t, got.Docs[i], d)
	}
	spoil(got.Docs[2])
	sameDoc(t, gather(t, g, things(full.ID))[0].Docs[0], full)
}

func gatherMissing(t testing.TB, b driver.Backend, g driver.Gatherer) {
	if all := gather(t, g); len(all) > 0 {
		t.Errorf("Gather() = %+v", all)
	}
	wantGathered(t, gather(t, g, things("a"))[0])
	gone := doc("b", "all")
	gone.Version = put(t, b, doc("a", "all"), gone, doc("\ufffd"))
	put(t, b, removal(gone))
	all := gather(t, g, things("b", "a", "nobody", "", "a\x00", "a\x1f", "\xff", strings.Repeat("a", driver.MaxName+1)),
		things("", "\xff"), driver.Ask{Kind: "nothing", IDs: []string{"a"}},
		driver.Ask{Kind: "thing"}, driver.Ask{Kind: "thing", Span: driver.Is("all")},
		driver.Ask{Kind: "thing", Span: driver.Is("none"), N: 9}, driver.Ask{Kind: "\xff", IDs: []string{"a"}})
	wantGathered(t, all[0], "a")
	for _, a := range all[1:] {
		wantGathered(t, a)
	}
}

func gatherKinds(t testing.TB, b driver.Backend, g driver.Gatherer) {
	a, c := driver.Doc{Kind: "other", ID: "a", Index: []string{"all"}},
		driver.Doc{Kind: "other", ID: "c", Data: []byte("c")}
	version := put(t, b, doc("a", "all"), doc("b", "all"), a, c)
	a.Version, c.Version = version, version
	all := gather(t, g, driver.Ask{Kind: "other", IDs: []string{"c", "b", "a"}},
		driver.Ask{Kind: "thing", Span: driver.Is("all"), N: 9}, things("nobody"), things("b", "c"),
		driver.Ask{Kind: "other", Span: driver.Is("all"), N: 9}, things("a"), things("a"),
		driver.Ask{Kind: "thing", Span: driver.Is("all"), N: 1})
	for i, ids := range [][]string{{"a", "c"}, {"a", "b"}, nil, {"b"}, {"a"}, {"a"}, {"a"}} {
		wantGathered(t, all[i], ids...)
	}
	sameDoc(t, all[0].Docs[0], a)
	sameDoc(t, all[0].Docs[1], c)
	if last := all[driver.MaxAsks-1]; len(last.Docs) != 1 || last.Docs[0].ID != "a" || last.Next == "" {
		t.Errorf("the last of %d answers is %+v, want one document and a next", driver.MaxAsks, last)
	}
}

func gatherLists(t testing.TB, b driver.Backend, g driver.Gatherer) {
	put(t, b, doc("c", "x", "xx"), doc("a", "x"), doc("b", "x", "y"),
		driver.Doc{Kind: "other", ID: "a", Index: []string{"x"}})
	for _, span := range []driver.Span{driver.Is("x"), driver.Between("x", "z"), driver.Between("x", "x"),
		driver.Between("\x01", "\xff"), {From: driver.After("x", "a"), To: "\xff"}} {
		for n := 1; n < 8; n++ {
			for from := span.From; ; {
				ask := driver.Span{From: from, To: span.To}
				docs, next, err := b.List(t.Context(), "thing", ask, n)
				want(t, "List(span)", err, nil)
				all := gather(t, g, driver.Ask{Kind: "thing", Span: ask, N: n}, driver.Ask{Kind: "other", Span: ask, N: n})
				if a := all[0]; !slices.Equal(idsOf(a.Docs), idsOf(docs)) || a.Next != next {
					t.Fatalf("Gather(%q, %d) = %q, next %q, where List has %q, next %q", ask, n, idsOf(a.Docs), a.Next, idsOf(docs),
						next)
				}
				if from = next; next == "" {
					break
				}
			}
		}
	}
}

func gatherPage(t testing.TB, b driver.Backend, g driver.Gatherer) {
	var ids []string
	for part := range driver.Page / driver.MaxPut {
		var docs []driver.Doc
		for i := range driver.MaxPut {
			docs = append(docs, doc(fmt.Sprintf("%04d", part*driver.MaxPut+i), "all"))
			ids = append(ids, docs[i].ID)
		}
		put(t, b, docs...)
	}
	all := gather(t, g, things(shuffled(ids)...))
	wantGathered(t, all[0], ids...)
	for _, d := range all[0].Docs {
		if !bytes.Equal(d.Data, []byte("data of "+d.ID)) {
			t.Fatalf("%s has the data %q", d.ID, d.Data)
		}
	}
	wantGathered(t, gather(t, g, driver.Ask{Kind: "thing", Span: driver.Is("all"), N: driver.Page})[0], ids...)
}

func gatherAlike(t testing.TB, b driver.Backend, g driver.Gatherer) {
	all := traps()
	slices.Sort(all)
	all = slices.Compact(all)
	var some []string
	for part := range slices.Chunk(shuffled(all), driver.MaxPut) {
		var docs []driver.Doc
		for i, text := range part {
			if i%2 == 0 {
				docs, some = append(docs, doc(text)), append(some, text)
			}
		}
		put(t, b, docs...)
	}
	slices.Sort(some)
	wantGathered(t, gather(t, g, things(all...))[0], some...)
}

// gatherMoment moves an entry from one document to another, over and over: whoever reads twice, or lists and
// then looks up, sees one of them as it was before and the other as it is after.
func gatherMoment(t testing.TB, b driver.Backend, g driver.Gatherer) {
	x, y := doc("x", "here"), doc("y")
	x.Version = put(t, b, x, y)
	y.Version = x.Version
	done := make(chan bool)
	list := driver.Ask{Kind: "thing", Span: driver.Is("here"), N: 9}
	allNil(t, "Put(x, y) and Gather(list, names, list)", together(2, func(i int) error {
		if i == 0 {
			for !over(done) {
				x.Index, y.Index = y.Index, x.Index
				version, err := b.Put(t.Context(), x, y)
				if err != nil {
					return err
				}
				x.Version, y.Version = version, version
			}
			return nil
		}
		defer close(done)
		for range 40 {
			all, err := g.Gather(t.Context(), list, things("x", "y"), list)
			if err != nil {
				return err
			}
			var docs []driver.Doc
			for _, a := range all {
				docs = append(docs, a.Docs...)
			}
			if len(docs) != 4 || slices.ContainsFunc(docs, func(d driver.Doc) bool { return d.Version != docs[0].Version }) {
				t.Errorf("Gather(list, names, list) = %+v, want all of one Put", all)
				return nil
			}
		}
		return nil
	}))
}

func gatherFresh(t testing.TB, b driver.Backend, g driver.Gatherer) {
	var docs []driver.Doc
	for i := range driver.MaxPut {
		docs = append(docs, doc(fmt.Sprintf("%03d", i), "all"))
	}
	ids := idsOf(docs)
	for round := range rounds {
		version := put(t, b, docs...)
		for i := range docs {
			docs[i].Version = version
		}
		for _, d := range gather(t, g, things(ids...))[0].Docs {
			sameDoc(t, d, docs[slices.Index(ids, d.ID)])
		}
		cut(t, round, func(ctx context.Context) error {
			all, err := g.Gather(ctx, things(ids...), driver.Ask{Kind: "thing", Span: driver.Is("all"), N: driver.Page})
			if err == nil && (len(all) != 2 || len(all[0].Docs) != len(ids) || len(all[1].Docs) != len(ids)) {
				t.Errorf("Gather, canceled, answers nil and %d answers", len(all))
			}
			return err
		})
	}
}
