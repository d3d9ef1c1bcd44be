package storagetest

import (
	"slices"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func copying() []promise {
	return []promise{
		{name: "tokens that were handed in may be changed", test: func(t testing.TB, b driver.Backend) {
			first, last := token("a"), token("a")
			in, next := []driver.Token{first}, []driver.Token{last}
			issue(t, b, in...)
			in[0].UserID, in[0].Key = "another", token("b").Key
			sameToken(t, read(t, b, first.Key), first)
			want(t, "Exchange(token, next)", b.Exchange(t.Context(), first.Key, at(1), next...), nil)
			next[0] = token("b")
			sameToken(t, read(t, b, last.Key), last)
		}},
		{name: "documents that were handed in may be changed", test: func(t testing.TB, b driver.Backend) {
			d := driver.Doc{Kind: "thing", ID: "a", Index: []string{"x", "y"}, Data: []byte("data")}
			d.Version = put(t, b, d)
			kept := copyDoc(d)
			spoil(d)
			sameDoc(t, get(t, b, "a"), kept)
			lists(t, b, driver.Is("x"), "a")
			lists(t, b, driver.Is("spoilt"))
		}},
		{name: "documents that were handed out may be changed", test: handedOut},
		{name: "records that were handed in or out may be changed", test: func(t testing.TB, b driver.Backend) {
			in := []driver.Record{{At: at(0), Data: []byte("data")}}
			want(t, "Append(record)", b.Append(t.Context(), in...), nil)
			in[0].Data[0], in[0].At = '!', at(9)
			for range 2 {
				out := trail(t, b, 0, 1)
				wantTrail(t, out, "data")
				out[0].Data[0] = '!'
			}
		}},
		{name: "lists that were handed out may be changed", test: func(t testing.TB, b driver.Backend) {
			revoke(t, b, grantEnd("a"), grantEnd("b"))
			feed(t, b, 0)[0].ID = "spoilt"
			wantFeed(t, feed(t, b, 0), "a", "b")
			record(t, b, "a", "b")
			trail(t, b, 0, 9)[0] = driver.Record{}
			wantTrail(t, trail(t, b, 0, 9), "a", "b")
		}},
	}
}

func handedOut(t testing.TB, b driver.Backend) {
	d := driver.Doc{Kind: "thing", ID: "a", Index: []string{"x", "x2"}, Data: []byte("data")}
	d.Version = put(t, b, d)
	spoil(get(t, b, "a"))
	sameDoc(t, get(t, b, "a"), d)
	docs, _, err := b.List(t.Context(), "thing", driver.Between("x", "y"), 2)
	want(t, "List(x to y)", err, nil)
	spoil(docs[0])
	if len(docs) == 2 {
		sameDoc(t, docs[1], d) // one document, listed twice: two copies
	}
	sameDoc(t, get(t, b, "a"), d)
}

func copyDoc(d driver.Doc) driver.Doc {
	d.Index, d.Data = slices.Clone(d.Index), slices.Clone(d.Data)
	return d
}

// spoil changes whatever memory a document shares with others.
func spoil(d driver.Doc) {
	for i := range d.Index {
		d.Index[i] = "spoilt"
	}
	for i := range d.Data {
		d.Data[i] = '!'
	}
}
