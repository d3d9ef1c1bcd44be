package storagetest

import (
	"fmt"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

// leavings are promises about what is left of a call that was refused at its last step:
// nothing, wherever one looks.
func leavings() []promise {
	return []promise{
		{name: "a Put whose last document is in the way leaves no document, entry, version or end", test: putLeaves},
		{name: "an Exchange whose last successor is taken leaves no token, and no end", test: exchangeLeaves},
		{name: "an Issue whose last key is taken leaves no token, and no end", test: issueLeaves},
		{name: "a Count that was seen before leaves no row of any application, hour or day", test: countLeaves},
		{name: "of 16 at once, those who are refused leave nothing, and the others all they wrote", test: refusedBeside},
	}
}

func putLeaves(t testing.TB, b driver.Backend) {
	kept, dead, way := doc("kept", "old"), doc("dead", "old"), doc("way", "old")
	kept.ExpiresAt, dead.ExpiresAt, way.ExpiresAt = at(100), at(100), at(100)
	first := put(t, b, kept, dead, way)
	kept.Version, dead.Version = first, first
	stale := way
	stale.Version = first
	way.Version = first
	way.Version = put(t, b, way)

	newer, fresh := kept, doc("fresh", "new")
	newer.Index, newer.Data, newer.ExpiresAt = []string{"new"}, []byte("newer"), at(5)
	fresh.ExpiresAt = at(5)
	never := driver.Doc{Kind: "thing", ID: "never", Version: first}
	for i, last := range []driver.Doc{{Kind: "thing", ID: "way", Index: []string{"new"}, ExpiresAt: at(5)}, stale,
		removal(stale), never, removal(never)} {
		verdict := driver.ErrConflict
		if i == 0 {
			verdict = driver.ErrExists
		}
		inTheWay(t, b, last.ID, verdict, newer, removal(dead), fresh, last)
		for _, d := range []driver.Doc{kept, dead, way} {
			sameDoc(t, get(t, b, d.ID), d)
		}
		gone(t, b, "fresh", "never")
		lists(t, b, driver.Is("old"), "dead", "kept", "way")
		lists(t, b, driver.Is("new"))
		sweep(t, b, at(99), 0) // no end was moved, none is noted
	}
	put(t, b, newer, removal(dead), fresh) // and what was read is still good
	lists(t, b, driver.Is("new"), "fresh", "kept")
	sweep(t, b, at(5), 2)
	sweep(t, b, at(100), 1)
	lists(t, b, driver.Between("a", "z"))
}

func exchangeLeaves(t testing.TB, b driver.Backend) {
	code, taken, nexts := token("a"), token("b"), family(3, "a")
	issue(t, b, code, taken)
	for i := range nexts {
		nexts[i].ExpiresAt = at(5)
	}
	want(t, "Exchange(code, fresh, fresh, fresh, taken)", b.Exchange(t.Context(), code.Key, at(1),
		append(nexts, taken)...), driver.ErrExists)
	absent(t, b, nexts...)
	for _, x := range []driver.Token{code, taken} {
		sameToken(t, read(t, b, x.Key), x)
	}
	sweep(t, b, at(59), 0)
	issue(t, b, nexts[0])
	want(t, "Exchange(code, fresh)", b.Exchange(t.Context(), code.Key, at(2), nexts[1]), nil)
	code.SpentAt = at(2)
	sameToken(t, read(t, b, code.Key), code)
	sweep(t, b, at(59), 2)
	sweep(t, b, at(60), 2)
}

func issueLeaves(t testing.TB, b driver.Backend) {
	taken, fresh := token("b"), family(3, "a")
	issue(t, b, taken)
	for i := range fresh {
		fresh[i].ExpiresAt = at(5)
	}
	want(t, "Issue(fresh, fresh, fresh, taken)", b.Issue(t.Context(), append(fresh, taken)...), driver.ErrExists)
	absent(t, b, fresh...)
	sweep(t, b, at(59), 0)
	for _, x := range fresh {
		want(t, "Exchange(key of what was refused)", b.Exchange(t.Context(), x.Key, at(1)), driver.ErrNotFound)
	}
	issue(t, b, fresh...)
	sweep(t, b, at(5), 3)
	sweep(t, b, at(60), 1)
}

func countLeaves(t testing.TB, b driver.Backend) {
	count(t, b, "node", 5, calls("ai", at(0), 10))
	other := calls("ai", at(0), 10)
	other.AppID = "other"
	for _, seq := range []uint64{5, 4, 1} {
		count(t, b, "node", seq, calls("ai", at(0), 10), calls("new", at(0), 10), calls("ai", at(60), 10),
			calls("ai", at(24*60), 10), other)
		usage(t, b, hours("app"), calls("ai", driver.Hour(at(0)), 10))
		usage(t, b, days("app"), calls("ai", driver.Day(at(0)), 10))
		usage(t, b, hours("other"))
		usage(t, b, days("other"))
	}
	sweep(t, b, at(0).AddDate(100, 0, 0), 1)
}

// refusedBeside catches writers who gather calls into one transaction, and cannot take one of
// them back.
func refusedBeside(t testing.TB, b driver.Backend) {
	taken := token("taken")
	issue(t, b, taken)
	put(t, b, doc("taken"))
	for round := range 4 {
		entry := fmt.Sprint("round ", round)
		tokens, nexts := family(16, "a"), family(16, "a")
		issue(t, b, tokens...)
		answers := together(16, func(i int) error {
			refused := i%2 == 1
			switch i % 8 {
			case 0, 1, 2, 3:
				docs := []driver.Doc{doc(fmt.Sprint(entry, i), entry), doc(fmt.Sprint(entry, " too ", i), entry)}
				if refused {
					docs = append(docs, doc("taken", entry))
				}
				_, err := b.Put(t.Context(), docs...)
				return err
			case 4, 5:
				next := []driver.Token{nexts[i]}
				if refused {
					next = append(next, taken)
				}
				return b.Exchange(t.Context(), tokens[i].Key, at(1), next...)
			}
			some := []driver.Token{nexts[i]}
			if refused {
				some = append(some, taken)
			}
			return b.Issue(t.Context(), some...)
		})
		for i, err := range answers {
			verdict := []error{nil, driver.ErrExists}[i%2]
			want(t, fmt.Sprintf("call %d of 16", i), err, verdict)
			if i%8 < 4 {
				continue
			}
			if verdict != nil {
				absent(t, b, nexts[i])
				sameToken(t, read(t, b, tokens[i].Key), tokens[i])
				continue
			}
			sameToken(t, read(t, b, nexts[i].Key), nexts[i])
		}
		page, _, err := b.List(t.Context(), "thing", driver.Is(entry), driver.Page)
		if want(t, "List(entry)", err, nil); len(page) != 8 {
			t.Fatalf("List(entry) = %d documents of four Puts of two, want 8", len(page))
		}
	}
}
