package ledger

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func use(t testing.TB, l *Ledger, app string, by Detail, failed bool) {
	t.Helper()
	if err := l.ChargeDetailed(app, "mcp", by, noon, failed); err != nil {
		t.Fatalf("ChargeDetailed() = %v, want no error", err)
	}
}

// said is the rows of a dimension, as name calls errors.
func said(t testing.TB, rows []driver.Count, err error) (out []string) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		out = append(out, fmt.Sprint(row.Product, " ", row.Calls, " ", row.Errors))
	}
	return out
}

func TestCallIsSummedUpInEveryDimensionThatItHasANameIn(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir(), FlushEvery: time.Hour})
	use(t, l, "app", Detail{Tool: "shop__order", User: "u1"}, false)
	use(t, l, "app", Detail{Tool: "shop__order", User: "u2"}, true)
	use(t, l, "app", Detail{Tool: "shop__list", User: "u1"}, false)
	use(t, l, "app", Detail{Tool: "mail__send"}, false)
	use(t, l, "app", Detail{User: "u1", Agent: "planner"}, false)
	use(t, l, "app", Detail{Agent: "planner"}, true)
	use(t, l, "other", Detail{Tool: "shop__order", User: "u1"}, false)
	want := map[Dimension][]string{
		ByProduct: {"mcp 6 2"},
		ByUser:    {"u1 3 0", "u2 1 1"},
		ByTool:    {"mail__send 1 0", "shop__list 1 0", "shop__order 2 1"},
		ByMember:  {"mail 1 0", "shop 3 1"},
		ByAgent:   {"planner 2 1"},
	}
	for d, rows := range want {
		waiting, err := l.Series(t.Context(), always(By("app", d)))
		if got := said(t, waiting, err); !slices.Equal(got, rows) {
			t.Errorf("%q: %q wait, want %q", d, got, rows)
		}
	}
	closed(t, l)
	for d, rows := range want {
		held, err := s.Usage(t.Context(), always(By("app", d)))
		if got := said(t, held, err); !slices.Equal(got, rows) {
			t.Errorf("%q: the store holds %q, want %q", d, got, rows)
		}
	}
}

func TestBatchThatIsSentAgainIsTheSameInEveryDimension(t *testing.T) {
	s, folder := newStore(), t.TempDir()
	s.setFaults(nil, errAway) // it counts, and its answer is lost
	l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
	for i := range 50 {
		use(t, l, "app", Detail{Tool: fmt.Sprintf("m%d__t", i%7), User: fmt.Sprint("u", i%11), Agent: fmt.Sprint("a", i%3)},
			false)
	}
	first := l.open.counts()
	if err := l.flush(t.Context()); !errors.Is(err, errAway) {
		t.Fatalf("flush() = %v, want the store's error", err)
	}
	l.drop()
	s.setFaults(nil, nil)
	l = openedOn(t, Config{Store: s, Path: folder, FlushEvery: time.Hour}, createFile)
	if b := l.oldest(); b != nil && !slices.Equal(b.counts(), first) {
		t.Error("the journal is another batch than the one that was sent")
	}
	closed(t, l)
	for _, d := range dimensions {
		wantStored(t, s, By("app", d), 50)
	}
}

func TestJournalHoldsRecordsOfAllKinds(t *testing.T) {
	data := appendRecord(nil, &entry{"app", cell{product: "mcp", hour: 1}, amount{calls: 1}, 0})
	data = appendRecord(data, &entry{"app", cell{product: "mcp", tool: "shop__order", user: "u1", hour: 1},
		amount{calls: 2, errors: 1}, 0})
	data = appendRecord(data, &entry{"app", cell{product: "ai", user: "u1", hour: 1}, amount{calls: 4}, 0})
	data = appendRecord(data, &entry{"app", cell{product: "ai", hour: 1}, amount{calls: 8}, 3})
	data = appendRecord(data, &entry{"app", cell{product: "ai", agent: "planner", hour: 1}, amount{calls: 16}, 0})
	data = appendRecord(data, &entry{"app", cell{product: "mcp", tool: "shop__order", user: "u1", agent: "planner",
		hour: 1}, amount{calls: 32, errors: 1}, 4})
	for cut := range len(data) + 1 {
		if _, err := replay(data[:cut], func(entry) {}); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
	}
	s := newStore()
	closed(t, opened(t, Config{Store: s, Path: left(t, data)}))
	wantStored(t, s, "app", 63)
	wantStored(t, s, By("app", ByUser), 38)
	wantStored(t, s, By("app", ByTool), 34)
	wantStored(t, s, By("app", ByAgent), 48)
	wantStored(t, s, By("", OfLatency("")), 40)
}

// A record that an older version may have to read has an agent only where there is one to count.
func TestRecordHasAnAgentWhereOneActs(t *testing.T) {
	with := entry{"app", cell{product: "ai", agent: "planner", hour: 1}, amount{calls: 1}, 0}
	without := with
	without.agent = ""
	if kind := appendRecord(nil, &without)[1]; kind != kindCalls {
		t.Errorf("a call of the application is of kind %d", kind)
	}
	good := appendRecord(nil, &with)
	if e, size, err := decode(good); err != nil || size != len(good) || e != with {
		t.Errorf("it reads back as %+v, %v, want %+v", e, err, with)
	}
	at := headSize + 4 + 2 + 1 + 3 // behind the hour, the numbers, the range and three lengths
	if good[at] != byte(len("planner")) {
		t.Fatalf("the length of the agent is not at %d of %x", at, good)
	}
	for _, wrong := range []byte{0, byte(len(good)), 255} {
		bad := slices.Clone(good)
		bad[at] = wrong
		binary.BigEndian.PutUint32(bad[4:], checksum(bad))
		if e, _, err := decode(bad); err == nil {
			t.Errorf("an agent of %d bytes is read as %+v", wrong, e)
		}
	}
}

func TestDetailThatIsNoNameRefusesNoCall(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, FlushEvery: time.Hour})
	for _, bad := range []string{"\xff", "a\x00", strings.Repeat("u", maxName+1)} {
		use(t, l, "app", Detail{Tool: bad, User: bad, Agent: bad}, false)
	}
	closed(t, l)
	wantStored(t, s, "app", 3)
	wantStored(t, s, By("app", ByUser), 0)
	wantStored(t, s, By("app", ByAgent), 0)
}

// The longest names fit into a record and into what a store takes.
func TestLongestDetailIsCounted(t *testing.T) {
	long := strings.Repeat("x", maxName)
	s, folder := newStore(), t.TempDir()
	l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
	by := Detail{Tool: long, User: long, Agent: long, Took: time.Second}
	if err := l.ChargeDetailed(long, long, by, noon, false); err != nil {
		t.Fatal(err)
	}
	if cap(l.record) != recordSize {
		t.Errorf("a record takes %d bytes, want %d at most", cap(l.record), recordSize)
	}
	l.drop()
	closed(t, opened(t, Config{Store: s, Path: folder}))
	wantStored(t, s, By(long, ByMember), 1)
}

func TestAlmostFullMemoryLeavesDetailsOutAndCountsOn(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, FlushEvery: time.Hour})
	use(t, l, "app", Detail{User: "known"}, false)
	l.mu.Lock()
	l.rows += maxDetailed
	l.mu.Unlock()
	use(t, l, "app", Detail{User: "new", Agent: "new"}, false)
	use(t, l, "app", Detail{User: "known"}, false)
	l.mu.Lock()
	l.rows -= maxDetailed
	l.mu.Unlock()
	closed(t, l)
	wantStored(t, s, "app", 3)
	rows, err := s.Usage(t.Context(), always(By("app", ByUser)))
	if got := said(t, rows, err); !slices.Equal(got, []string{"known 2 0"}) {
		t.Errorf("the users are %q, want those known before", got)
	}
}

func TestWatchCountsWhatIsChargedFromThenOn(t *testing.T) {
	var n atomic.Int64
	known := map[string]*atomic.Int64{}
	s := newStore()
	l := opened(t, Config{Store: s, FlushEvery: time.Hour, Watched: func(app string) *atomic.Int64 { return known[app] }})
	charge(t, l, "app", 3)
	known["app"] = &n
	l.Watch("app", &n)
	charge(t, l, "app", 2)
	charge(t, l, "other", 5)
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	charge(t, l, "app", 4) // of the next batch
	if n.Load() != 6 {
		t.Errorf("watched %d calls, want 6", n.Load())
	}
	closed(t, l)
}
