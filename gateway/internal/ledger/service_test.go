package ledger

import (
	"encoding/binary"
	"fmt"
	"iter"
	"slices"
	"testing"
	"time"
)

func TestServiceIsCountedWithItsApplications(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir(), FlushEvery: time.Hour})
	for i, took := range []time.Duration{0, 1, time.Millisecond, time.Millisecond + 1, 30 * time.Millisecond,
		100 * time.Second, time.Hour} {
		if err := l.ChargeDetailed(fmt.Sprint("app", i), "ai", Detail{Took: took}, noon, i == 4); err != nil {
			t.Fatal(err)
		}
	}
	use(t, l, "app0", Detail{Took: 30 * time.Millisecond, User: "u1"}, true)
	want := map[Dimension][]string{
		OfService:        {"all 8 2"},
		OfProducts:       {"ai 7 1", "mcp 1 1"},
		OfLatency(""):    {"000001 2 0", "000002 1 0", "000050 2 2", "100000 1 0", "beyond 1 0"},
		OfLatency("ai"):  {"000001 2 0", "000002 1 0", "000050 1 1", "100000 1 0", "beyond 1 0"},
		OfLatency("mcp"): {"000050 1 1"},
	}
	for d, rows := range want {
		waiting, err := l.Series(t.Context(), always(By("", d)))
		if got := said(t, waiting, err); !slices.Equal(got, rows) {
			t.Errorf("%q: %q wait, want %q", d, got, rows)
		}
	}
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	for d, rows := range want {
		held, err := s.Usage(t.Context(), always(By("", d)))
		if got := said(t, held, err); !slices.Equal(got, rows) {
			t.Errorf("%q: the store holds %q, want %q", d, got, rows)
		}
	}
	closed(t, l)
}

// Journals of the versions before have no latencies; their calls are the service's too.
func TestJournalOfAnOlderVersionIsCountedWithoutLatencies(t *testing.T) {
	data, _ := small()
	data = appendRecord(data, &entry{"app", cell{product: "mcp", tool: "shop__order", user: "u1", hour: 1},
		amount{calls: 2, errors: 1}, 0})
	for i, at := 0, 0; at < len(data); i++ {
		if kind := data[at+1]; kind == kindTimed {
			t.Fatalf("record %d is of kind %d, which they did not write", i, kind)
		}
		at += headSize + int(binary.BigEndian.Uint16(data[at+2:]))
	}
	s := newStore()
	closed(t, opened(t, Config{Store: s, Path: left(t, data)}))
	wantStored(t, s, By("", OfService), 6)
	wantStored(t, s, By("", OfProducts), 6)
	wantStored(t, s, By("", OfLatency("")), 0)
}

func TestLatencyThatIsNoneIsNoRecord(t *testing.T) {
	good := appendRecord(nil, &entry{"app", cell{product: "ai", user: "u1", hour: 1}, amount{calls: 1}, 3})
	at := headSize + 4 + 2 // behind the hour and the numbers
	if good[at] != 3 {
		t.Fatalf("the range is not at %d of %x", at, good)
	}
	for _, wrong := range []byte{0, Ranges + 1, 255} {
		bad := slices.Clone(good)
		bad[at] = wrong
		binary.BigEndian.PutUint32(bad[4:], checksum(bad))
		if e, _, err := decode(bad); err == nil {
			t.Errorf("range %d is read as %+v", wrong, e)
		}
	}
	ofNobody := appendRecord(nil, &entry{"", cell{product: "ai", user: "u1", hour: 1}, amount{calls: 1}, 3})
	if e, _, err := decode(ofNobody); err == nil {
		t.Errorf("a user without an application is read as %+v", e)
	}
	for s := span(1); s <= Ranges; s++ {
		e := entry{"", cell{product: "ai", hour: 1}, amount{calls: 1}, s}
		if got, _, err := decode(appendRecord(nil, &e)); err != nil || got != e {
			t.Errorf("range %d is read as %+v, %v", s, got, err)
		}
		if i, ok := RangeOf(s.name()); !ok || i != int(s)-1 {
			t.Errorf("range %d is named %s, which is %d", s, s.name(), i)
		}
	}
}

// Stored batches are told once, also those of a journal that another process has left.
func TestStoredIsToldEachCallOnce(t *testing.T) {
	s, folder := newStore(), t.TempDir()
	var told int64
	config := Config{Store: s, Path: folder, FlushEvery: time.Hour, Stored: func(calls iter.Seq[Call]) {
		for c := range calls {
			told += c.Calls
			if c.App != "app" || c.Product != "mcp" || !c.At.Equal(noon.Truncate(time.Hour)) {
				t.Errorf("told %+v", c)
			}
		}
	}}
	l := opened(t, config)
	use(t, l, "app", Detail{Took: time.Second, User: "u1"}, false)
	if err := l.flush(t.Context()); err != nil || told != 1 {
		t.Fatalf("flush() = %v, told %d", err, told)
	}
	use(t, l, "app", Detail{Took: time.Second}, false)
	s.setFaults(nil, errAway) // it counts, and its answer is lost
	if err := l.flush(t.Context()); err == nil || told != 1 {
		t.Fatalf("flush() = %v, told %d", err, told)
	}
	l.drop()
	s.setFaults(nil, nil)
	closed(t, opened(t, config))
	closed(t, opened(t, config))
	if told != 2 {
		t.Errorf("told %d calls, want 2", told)
	}
}
