package audit

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/event"
)

// minQueue is a queue that is soon full, in bytes.
const minQueue = 64 << 10

var errAway = errors.New("the store is away")

// fakeStore is a store that can be told to fail. Its Seqs have gaps.
type fakeStore struct {
	mu      sync.Mutex
	records []driver.Record
	appends int
	reads   int
	before  func() error // asked before each call
	after   func() error // asked after each Append that was done
}

func (s *fakeStore) Append(ctx context.Context, records ...driver.Record) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.appends++
	if err := errors.Join(ask(s.before), ctx.Err()); err != nil {
		return err
	}
	for _, r := range records {
		r.Seq = uint64(len(s.records)+1) * 10
		r.Data = slices.Clone(r.Data)
		s.records = append(s.records, r)
	}
	return ask(s.after)
}

func (s *fakeStore) Records(ctx context.Context, after uint64, n int) (page []driver.Record, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads++
	if err := ask(s.before); err != nil {
		return nil, err
	}
	from, _ := slices.BinarySearchFunc(s.records, after+1, func(r driver.Record,
		seq uint64) int {
		return int(r.Seq) - int(seq)
	})
	for _, r := range s.records[from:min(from+n, len(s.records))] {
		r.Data = slices.Clone(r.Data)
		page = append(page, r)
	}
	return page, nil
}

func ask(hook func() error) error {
	if hook == nil {
		return nil
	}
	return hook()
}

// fail makes all calls fail until it is called with nil.
func (s *fakeStore) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before = func() error { return err }
}

func opened(t testing.TB, store Store, change ...func(*Config)) *Trail {
	t.Helper()
	config := Config{Store: store, Log: slog.New(slog.DiscardHandler)}
	for _, c := range change {
		c(&config)
	}
	trail, err := Open(t.Context(), config)
	if err != nil {
		t.Fatalf("Open() = %v, want no error", err)
	}
	return trail
}

func closed(t testing.TB, trail *Trail) {
	t.Helper()
	if err := trail.Close(context.Background()); err != nil {
		t.Fatalf("Close() = %v, want no error", err)
	}
}

// whole verifies a trail that must have no break and returns what it says, by kind and
// request id, without what stands twice.
func whole(t testing.TB, store Archive, kept ...Head) (Report, []entry) {
	t.Helper()
	var entries []entry
	report, err := walk(context.Background(), store, kept, func(_ driver.Record, e entry) error {
		entries = append(entries, e)
		return nil
	})
	if err != nil || report.Err() != nil {
		t.Fatalf("Verify() = %v, %v, want a whole trail", report.Err(), err)
	}
	return report, entries
}

// lines says what a trail holds: kinds, or the request ids of what was noted.
func lines(entries []entry) string {
	var out []string
	for _, e := range entries {
		switch {
		case e.Lost > 0:
			out = append(out, e.Kind+" "+strconv.FormatUint(e.Lost, 10))
		case e.RequestID != "":
			out = append(out, e.RequestID)
		default:
			out = append(out, e.Kind)
		}
	}
	return strings.Join(out, ",")
}

func wantLines(t testing.TB, store Archive, want string) {
	t.Helper()
	if _, entries := whole(t, store); lines(entries) != want {
		t.Errorf("the trail holds %s, want %s", lines(entries), want)
	}
}

func numbered(i int) Event {
	return Event{
		At: time.Date(2026, 8, 1, 12, 0, 0, i, time.UTC), Kind: event.Call, RequestID: "r" + strconv.Itoa(i),
		App: "app1", User: "u1", Product: "ai", Method: "POST", Path: "/api/v1/chat",
		Status: 200, Latency: 1500 * time.Microsecond, Bytes: 42, IP: "203.0.113.7",
	}
}
