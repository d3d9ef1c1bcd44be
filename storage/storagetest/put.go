package storagetest

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func putting() []promise {
	return []promise{
		{name: "every field of a document comes back", test: docFields},
		{name: "a document without entries, data and end comes back as such", test: func(t testing.TB, b driver.Backend) {
			bare := driver.Doc{Kind: "thing", ID: "bare"}
			bare.Version = put(t, b, bare)
			sameDoc(t, get(t, b, "bare"), bare)
		}},
		{name: "a replaced document is the new one in every field", test: replaced},
		{name: "a removed document is gone, and its id free", test: func(t testing.TB, b driver.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			put(t, b, removal(d))
			gone(t, b, "a")
			put(t, b, doc("a"))
			get(t, b, "a")
		}},
		{name: "no document has a name that no one wrote", test: func(t testing.TB, b driver.Backend) {
			put(t, b, doc("a"))
			gone(t, b, "b", "A", "a ", strings.Repeat("a", driver.MaxName))
		}},
		{name: "one Put creates, replaces and removes, and gives all one version", test: mixedPut},
		{name: "versions rise through all kinds and ids, and through removals", test: versionsRise},
		{name: "32 Puts at once get 32 versions", test: manyVersions},
		{name: "of 32 creations of one id one wins", test: createRace},
		{name: "32 increments by compare-and-set are all counted", test: increments},
		{name: "a document may be as large as the limits say", test: largest},
	}
}

func sameDoc(t testing.TB, got, put driver.Doc) {
	t.Helper()
	if got.Kind != put.Kind || got.ID != put.ID || got.Version != put.Version || got.Deleted ||
		!slices.Equal(got.Index, put.Index) || !same(got.ExpiresAt, put.ExpiresAt) || !bytes.Equal(got.Data, put.Data) {
		t.Fatalf("document %q = %+v, want %+v, its time in UTC", put.ID, got, put)
	}
}

func docFields(t testing.TB, b driver.Backend) {
	d := driver.Doc{
		Kind: "kind é", ID: `id "\ 中`, Index: []string{"z=1", "a=é 中\u2028"},
		ExpiresAt: abroad(at(1).Add(1)), Data: []byte("\x00\x1f\xff{}"),
	}
	d.Version = put(t, b, doc("other"), d)
	got, err := b.Get(t.Context(), d.Kind, d.ID)
	want(t, "Get(kind, id)", err, nil)
	sameDoc(t, got, d)

	docs, _, err := b.List(t.Context(), d.Kind, driver.Is("z=1"), 1)
	want(t, "List(entry)", err, nil)
	if len(docs) != 1 {
		t.Fatalf("List(entry) = %d documents, want 1", len(docs))
	}
	sameDoc(t, docs[0], d)
}

func replaced(t testing.TB, b driver.Backend) {
	d := doc("a", "old")
	d.ExpiresAt = at(9)
	d.Version = put(t, b, d)
	d = driver.Doc{Kind: d.Kind, ID: d.ID, Version: d.Version, Index: []string{"new", "newer"}, Data: []byte("new")}
	d.Version = put(t, b, d)
	sameDoc(t, get(t, b, "a"), d)
}

func mixedPut(t testing.TB, b driver.Backend) {
	old, dead := doc("old", "entry"), doc("dead", "entry")
	old.Version = put(t, b, old)
	dead.Version = put(t, b, dead)
	fresh := doc("fresh", "entry")
	version := put(t, b, old, removal(dead), fresh)
	for _, id := range []string{"old", "fresh"} {
		if got := get(t, b, id).Version; got != version {
			t.Errorf("Get(%q).Version = %d, want %d, as Put answered", id, got, version)
		}
	}
	gone(t, b, "dead")
	lists(t, b, driver.Is("entry"), "fresh", "old")
}

func versionsRise(t testing.TB, b driver.Backend) {
	last := int64(0)
	rises := func(version int64) int64 {
		t.Helper()
		if version <= last {
			t.Fatalf("Put(document) = version %d behind %d, want rising", version, last)
		}
		last = version
		return version
	}
	for _, id := range []string{"a", "b"} {
		for _, kind := range []string{"thing", "other"} {
			d := driver.Doc{Kind: kind, ID: id}
			d.Version = rises(put(t, b, d))
			d.Version = rises(put(t, b, d))
			rises(put(t, b, removal(d)))
			rises(put(t, b, driver.Doc{Kind: kind, ID: id}))
		}
	}
}

func manyVersions(t testing.TB, b driver.Backend) {
	versions := make([]int64, 32)
	allNil(t, "Put(document)", together(len(versions), func(i int) (err error) {
		versions[i], err = b.Put(t.Context(), doc(fmt.Sprint(i)))
		return err
	}))
	slices.Sort(versions)
	if n := len(slices.Compact(versions)); n != 32 {
		t.Errorf("32 Puts at once got %d versions, want 32", n)
	}
}

func createRace(t testing.TB, b driver.Backend) {
	verdicts := together(32, func(i int) error {
		d := doc("a")
		d.Data = []byte{byte(i)}
		_, err := b.Put(t.Context(), doc(fmt.Sprint(i)), d)
		return err
	})
	oneWins(t, "Put(new a)", verdicts, driver.ErrExists)
	winner := slices.Index(verdicts, nil)
	if got := get(t, b, "a").Data[0]; int(got) != winner {
		t.Errorf("document a is of caller %d, but Put answered nil to caller %d", got, winner)
	}
	for i := range verdicts {
		if i != winner {
			gone(t, b, fmt.Sprint(i))
		}
	}
}

func increments(t testing.TB, b driver.Backend) {
	put(t, b, driver.Doc{Kind: "thing", ID: "counter", Data: []byte{0}})
	answers := together(32, func(int) error {
		for {
			d, err := b.Get(t.Context(), "thing", "counter")
			if err != nil {
				return err
			}
			d.Data[0]++
			if _, err := b.Put(t.Context(), d); !errors.Is(err, driver.ErrConflict) {
				return err
			}
		}
	})
	allNil(t, "Put(counter + 1)", answers)
	if got := get(t, b, "counter").Data[0]; got != 32 {
		t.Errorf("counter = %d, want 32", got)
	}
}

func largest(t testing.TB, b driver.Backend) {
	long := func(last int) string { return strings.Repeat("x", driver.MaxName-4) + fmt.Sprintf("%04d", last) }
	d := driver.Doc{Kind: long(0), ID: long(1), Data: bytes.Repeat([]byte("keystile"), driver.MaxData/8)}
	for i := range driver.MaxIndex {
		d.Index = append(d.Index, long(i))
	}
	many := []driver.Doc{d}
	for i := range driver.MaxPut - 1 {
		many = append(many, doc(fmt.Sprint(i)))
	}
	d.Version = put(t, b, many...)
	got, err := b.Get(t.Context(), d.Kind, d.ID)
	want(t, "Get(largest)", err, nil)
	sameDoc(t, got, d)
}
