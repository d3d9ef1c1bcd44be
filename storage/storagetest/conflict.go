package storagetest

import (
	"errors"
	"testing"

	"github.com/keystile/keystile/storage"
)

func conflicts() []promise {
	return []promise{
		{"creating what is there: ErrExists, and it stays", func(t *testing.T, b storage.Backend) {
			d := doc("a", "entry")
			d.Version = put(t, b, d)
			inTheWay(t, b, "a", storage.ErrExists, storage.Doc{Kind: "thing", ID: "a", Data: []byte("other")})
			sameDoc(t, get(t, b, "a"), d)
		}},
		{"replacing a version that is no more: ErrConflict, and the newer stays", staleReplace},
		{"replacing a version that has not been yet: ErrConflict", func(t *testing.T, b storage.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			ahead := d
			ahead.Version++
			inTheWay(t, b, "a", storage.ErrConflict, ahead)
			sameDoc(t, get(t, b, "a"), d)
		}},
		{"removing a version that is no more: ErrConflict, and the newer stays", func(t *testing.T, b storage.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			stale := removal(d)
			d.Version = put(t, b, d)
			inTheWay(t, b, "a", storage.ErrConflict, stale)
			sameDoc(t, get(t, b, "a"), d)
		}},
		{"replacing or removing what is gone: ErrConflict", func(t *testing.T, b storage.Backend) {
			d := doc("a")
			d.Version = put(t, b, d)
			put(t, b, removal(d))
			inTheWay(t, b, "a", storage.ErrConflict, d)
			inTheWay(t, b, "a", storage.ErrConflict, removal(d))
			never := doc("never")
			never.Version = 1
			inTheWay(t, b, "never", storage.ErrConflict, never)
			gone(t, b, "a", "never")
		}},
		{"a document that is removed and made again never meets its old version", madeAgain},
		{"one document in the way keeps all of them from being written", allOrNothing},
		{"a document twice in one Put, too much, or a name out of order: ErrInvalid", invalid},
	}
}

// inTheWay says that a Put is refused, and that the error names the document.
func inTheWay(t *testing.T, b storage.Backend, id string, verdict error, docs ...storage.Doc) {
	t.Helper()
	_, err := b.Put(t.Context(), docs...)
	want(t, "Put(documents)", err, verdict)
	var in *storage.PutError
	if !errors.As(err, &in) {
		t.Fatalf("Put(documents) = %T, want a *PutError", err)
	}
	if in.Kind != "thing" || in.ID != id {
		t.Fatalf("Put(documents) names %s %q, want thing %q", in.Kind, in.ID, id)
	}
}

func staleReplace(t *testing.T, b storage.Backend) {
	d := doc("a", "old")
	d.Version = put(t, b, d)
	stale := d
	stale.Index = []string{"stale"}
	d.Index = []string{"new"}
	d.Version = put(t, b, d)
	inTheWay(t, b, "a", storage.ErrConflict, stale)
	sameDoc(t, get(t, b, "a"), d)
	lists(t, b, storage.Is("stale"))
	lists(t, b, storage.Is("new"), "a")
}

func madeAgain(t *testing.T, b storage.Backend) {
	old := doc("a")
	old.Version = put(t, b, old)
	put(t, b, removal(old))
	d := doc("a")
	d.Version = put(t, b, d)
	inTheWay(t, b, "a", storage.ErrConflict, old)
	inTheWay(t, b, "a", storage.ErrConflict, removal(old))
	sameDoc(t, get(t, b, "a"), d)
}

func allOrNothing(t *testing.T, b storage.Backend) {
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
		way     storage.Doc
	}{
		{"kept", storage.ErrExists, doc("kept")},
		{"replaced", storage.ErrConflict, stale},
		{"replaced", storage.ErrConflict, removal(stale)},
		{"never", storage.ErrConflict, storage.Doc{Kind: "thing", ID: "never", Version: 1}},
	} {
		docs := []storage.Doc{doc("first", "entry"), removal(dead), c.way, doc("last", "entry")}
		if c.id != "kept" {
			docs = append([]storage.Doc{changed}, docs...)
		}
		inTheWay(t, b, c.id, c.verdict, docs...)
		for _, d := range []storage.Doc{kept, replaced, dead} {
			sameDoc(t, get(t, b, d.ID), d)
		}
		gone(t, b, "first", "last", "never")
		lists(t, b, storage.Is("entry"), "dead", "kept", "replaced")
		lists(t, b, storage.Is("changed"))
	}
}

func invalid(t *testing.T, b storage.Backend) {
	for call, docs := range map[string][]storage.Doc{
		"a document twice": {doc("a"), doc("b"), doc("a")},
		"too many":         make([]storage.Doc, storage.MaxPut+1),
		"too much data":    {doc("a"), {Kind: "thing", ID: "b", Data: make([]byte, storage.MaxData+1)}},
		"no id":            {doc("a"), doc("")},
		"0x00 in an id":    {doc("a"), doc("b\x00")},
		"0x1F in an entry": {doc("a"), doc("b", "entry"+storage.Separator)},
		"removal of any":   {doc("a"), {Kind: "thing", ID: "b", Deleted: true}},
	} {
		_, err := b.Put(t.Context(), docs...)
		want(t, "Put("+call+")", err, storage.ErrInvalid)
		gone(t, b, "a", "b")
	}
}
