package storagetest

import (
	"errors"
	"testing"

	"github.com/keystile/keystile/storage/driver"
)

func conflicts() []promise {
	return []promise{
		{name: "creating what is there: ErrExists, and it stays", test: func(t testing.TB, b driver.Backend) {
			d := doc("a", "entry")
			d.Version = put(t, b, d)
			inTheWay(t, b, "a", driver.ErrExists, driver.Doc{Kind: "thing", ID: "a", Data: []byte("other")})
			sameDoc(t, get(t, b, "a"), d)
		}},
		{name: "replacing a version that is no more: ErrConflict, and the newer stays", test: staleReplace},
		{name: "replacing a version that has not been yet: ErrConflict", test: func(t testing.TB, b driver.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			ahead := d
			ahead.Version++
			inTheWay(t, b, "a", driver.ErrConflict, ahead)
			sameDoc(t, get(t, b, "a"), d)
		}},
		{name: "removing a version that is no more: ErrConflict, and the newer stays",
			test: func(t testing.TB, b driver.Backend) {
				d := doc("a")
				d.Version = put(t, b, d)
				stale := removal(d)
				d.Version = put(t, b, d)
				inTheWay(t, b, "a", driver.ErrConflict, stale)
				sameDoc(t, get(t, b, "a"), d)
			}},
		{name: "replacing or removing what is gone: ErrConflict", test: func(t testing.TB, b driver.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			put(t, b, removal(d))
			inTheWay(t, b, "a", driver.ErrConflict, d)
			inTheWay(t, b, "a", driver.ErrConflict, removal(d))
			never := doc("never")
			never.Version = 1
			inTheWay(t, b, "never", driver.ErrConflict, never)
			gone(t, b, "a", "never")
		}},
		{name: "a document that is removed and made again never meets its old version", test: madeAgain},
		{name: "one document in the way keeps all of them from being written", test: allOrNothing},
		{name: "a document twice in one Put, too much, or a name out of order: ErrInvalid", test: invalid},
	}
}

// inTheWay checks that a Put is refused, and that the error names the document.
func inTheWay(t testing.TB, b driver.Backend, id string, verdict error, docs ...driver.Doc) {
	t.Helper()
	_, err := b.Put(t.Context(), docs...)
	want(t, "Put(documents)", err, verdict)
	var in *driver.PutError
	if !errors.As(err, &in) {
		t.Fatalf("Put(documents) = %T, want a *PutError", err)
	}
	if in.Kind != "thing" || in.ID != id {
		t.Fatalf("Put(documents) names %s %q, want thing %q", in.Kind, in.ID, id)
	}
}

func staleReplace(t testing.TB, b driver.Backend) {
	d := doc("a", "old")
	d.Version = put(t, b, d)
	stale := d
	stale.Index = []string{"stale"}
	d.Index = []string{"new"}
	d.Version = put(t, b, d)
	inTheWay(t, b, "a", driver.ErrConflict, stale)
	sameDoc(t, get(t, b, "a"), d)
	lists(t, b, driver.Is("stale"))
	lists(t, b, driver.Is("new"), "a")
}

func madeAgain(t testing.TB, b driver.Backend) {
	old := doc("a")
	old.Version = put(t, b, old)
	put(t, b, removal(old))
	d := doc("a")
	d.Version = put(t, b, d)
	inTheWay(t, b, "a", driver.ErrConflict, old)
	inTheWay(t, b, "a", driver.ErrConflict, removal(old))
	sameDoc(t, get(t, b, "a"), d)
}

func allOrNothing(t testing.TB, b driver.Backend) {
	kept, replaced, dead := doc("kept", "entry"), doc("replaced", "entry"), doc("dead", "entry")
	kept.Version = put(t, b, kept, replaced, dead)
	replaced.Version, dead.Version = kept.Version, kept.Version
	stale := replaced
	replaced.Version = put(t, b, replaced)

	changed := kept
	changed.Index = []string{"changed"}
	for _, c := range []struct {
		id      string
		verdict error
		way     driver.Doc
	}{
		{"kept", driver.ErrExists, doc("kept")},
		{"replaced", driver.ErrConflict, stale},
		{"replaced", driver.ErrConflict, removal(stale)},
		{"never", driver.ErrConflict, driver.Doc{Kind: "thing", ID: "never", Version: 1}},
	} {
		docs := []driver.Doc{doc("first", "entry"), removal(dead), c.way, doc("last", "entry")}
		if c.id != "kept" {
			docs = append([]driver.Doc{changed}, docs...)
		}
		inTheWay(t, b, c.id, c.verdict, docs...)
		for _, d := range []driver.Doc{kept, replaced, dead} {
			sameDoc(t, get(t, b, d.ID), d)
		}
		gone(t, b, "first", "last", "never")
		lists(t, b, driver.Is("entry"), "dead", "kept", "replaced")
		lists(t, b, driver.Is("changed"))
	}
}

func invalid(t testing.TB, b driver.Backend) {
	for call, docs := range map[string][]driver.Doc{
		"a document twice": {doc("a"), doc("b"), doc("a")},
		"too many":         make([]driver.Doc, driver.MaxPut+1),
		"too much data":    {doc("a"), {Kind: "thing", ID: "b", Data: make([]byte, driver.MaxData+1)}},
		"no id":            {doc("a"), doc("")},
		"0x00 in an id":    {doc("a"), doc("b\x00")},
		"0x1F in an entry": {doc("a"), doc("b", "entry"+driver.Separator)},
		"removal of any":   {doc("a"), {Kind: "thing", ID: "b", Deleted: true}},
	} {
		_, err := b.Put(t.Context(), docs...)
		want(t, "Put("+call+")", err, driver.ErrInvalid)
		gone(t, b, "a", "b")
	}
}
