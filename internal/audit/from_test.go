package audit

import (
	"net/netip"
	"reflect"
	"testing"
)

// An address and its text make the same record.
func TestAddressIsWrittenAsItsText(t *testing.T) {
	s := &fakeStore{}
	trail := opened(t, s)
	texts := []string{"192.0.2.1", "2001:db8::1", "::ffff:192.0.2.1", "fe80::1%eth0",
		"2001:db8:ffff:ffff:ffff:ffff:ffff:ffff"}
	addresses := []netip.Addr{{}}
	for _, text := range texts {
		addresses = append(addresses, netip.MustParseAddr(text))
	}
	for _, from := range addresses {
		for _, e := range []Event{{Kind: "call", App: "a", Detail: "d"}, {Kind: "call", User: "u", Anonymous: true}} {
			text := e
			text.IP = from.String()
			trail.Note(text)
			trail.NoteFrom(&e, from)
		}
	}
	closed(t, trail)
	var got []Event
	for _, r := range s.records {
		if e, err := Decode(r); err != nil {
			t.Fatal(err)
		} else if e.Kind == "call" {
			got = append(got, e)
		}
	}
	if len(got) != 4*len(addresses) {
		t.Fatalf("%d records, want %d", len(got), 4*len(addresses))
	}
	for i := 0; i < len(got); i += 2 {
		a, b := got[i], got[i+1]
		if a.At = b.At; !reflect.DeepEqual(a, b) || b.IP != addresses[i/4].String() {
			t.Errorf("as a text %+v, as an address %+v", a, b)
		}
	}
}

func TestNotingACallAllocatesNothing(t *testing.T) {
	trail := &Trail{limit: queueSize, wake: make(chan struct{}, 1), hurry: make(chan struct{}, 1)}
	trail.waiting.slots, trail.waiting.text = make([]slot, 0, 1000), make([]byte, 0, 100_000)
	e, from := numbered(1), netip.MustParseAddr("2001:db8::1")
	if n := testing.AllocsPerRun(100, func() { trail.NoteFrom(&e, from) }); n != 0 {
		t.Errorf("NoteFrom() allocates %v times", n)
	}
}

func TestSealingARecordMakesNoGarbage(t *testing.T) {
	e := numbered(1)
	f := flusher{chain: newChain(digest{})}
	if n := testing.AllocsPerRun(10, func() {
		f.taken.reset()
		for range 100 {
			f.taken.add(&e, nil)
		}
		f.taken.next, f.taken.rest, f.batch = 0, string(f.taken.text), f.batch[:0]
		f.fill()
	}); n > 10 { // what a batch costs
		t.Errorf("100 records are %v allocations", n)
	}
}
