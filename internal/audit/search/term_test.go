package search

import (
	"testing"

	"github.com/keystile/keystile/storage/event"
	"github.com/keystile/keystile/storage/memory"
)

// Terms of one record are not kept for the next.
func TestHasherKeepsWhatRecurs(t *testing.T) {
	h := newHasher([16]byte{1})
	seen := map[uint32]bool{}
	for i := range 100 {
		e := event.Event{RequestID: string(rune('a' + i)), App: "app", User: "user", Kind: event.Call, Status: 200}
		for _, term := range h.terms(nil, &e) {
			seen[term] = true
		}
	}
	if len(seen) != 104 || len(h.known) != 4 {
		t.Errorf("%d terms, of which it keeps %d, want 104 and 4", len(seen), len(h.known))
	}
}

// An index that is made anew has another key, which all terms obey from then on.
func TestTermsObeyTheKeyOfTheirIndex(t *testing.T) {
	o := newOffice(t, memory.New())
	o.grow(t, 3*segmentSize)
	x := &Indexer{Store: o, Log: quiet}
	index := func() {
		t.Helper()
		for busy := true; busy; {
			var err error
			if busy, err = x.Turn(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	index()
	if err := Reindex(t.Context(), o); err != nil {
		t.Fatal(err)
	}
	index()
	h, err := loadHead(t.Context(), o)
	if err != nil || len(h.segments) == 0 {
		t.Fatalf("the index has %d segments, %v", len(h.segments), err)
	}
	wanted := o.all[0]
	for wanted.RequestID == "" {
		wanted = o.all[wanted.Seq]
	}
	page, err := Find(t.Context(), o, event.Query{RequestID: wanted.RequestID})
	if err != nil || len(page.Entries) != 1 || page.Entries[0].Seq != wanted.Seq {
		t.Errorf("found %v, %v, want record %d", page.Entries, err, wanted.Seq)
	}
}
