package ledger

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

var noon = time.Date(2026, 8, 1, 12, 30, 0, 0, time.UTC)

var errAway = errors.New("the store is away")

// faulty is a store that can be made to fail, and keeps what it was given.
type faulty struct {
	Store
	mu        sync.Mutex
	before    error         // Count and Usage fail without effect
	after     error         // Count fails when it has counted
	hang      chan struct{} // Count waits for it, whatever its context says
	sent      []driver.Batch
	requested int // how often Usage was called
}

func newStore() *faulty { return &faulty{Store: apps{memory.New()}} }

// apps reads the usage of several applications one after the other.
type apps struct{ *memory.Store }

func (a apps) UsageOf(ctx context.Context, ids []string, q driver.UsageQuery) ([]driver.Count, error) {
	return usageOf(ctx, a.Usage, ids, q)
}

func (f *faulty) UsageOf(ctx context.Context, ids []string, q driver.UsageQuery) ([]driver.Count, error) {
	return usageOf(ctx, f.Usage, ids, q)
}

func usageOf(ctx context.Context, usage func(context.Context, driver.UsageQuery) ([]driver.Count, error), ids []string,
	q driver.UsageQuery) (all []driver.Count, err error) {
	for _, q.AppID = range ids {
		rows, err := usage(ctx, q)
		if err != nil {
			return nil, err
		}
		all = append(all, rows...)
	}
	return all, nil
}

func (f *faulty) setFaults(before, after error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.before, f.after = before, after
}

func (f *faulty) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	f.mu.Lock()
	before, after, hang := f.before, f.after, f.hang
	f.sent = append(f.sent, b)
	f.mu.Unlock()
	if hang != nil {
		<-hang
	}
	if before != nil {
		return before
	}
	if err := f.Store.Count(ctx, b, counts); err != nil {
		return err
	}
	return after
}

func (f *faulty) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	f.mu.Lock()
	before := f.before
	f.requested++
	f.mu.Unlock()
	if before != nil {
		return nil, before
	}
	return f.Store.Usage(ctx, q)
}

func (f *faulty) attempts() []driver.Batch {
	f.mu.Lock()
	defer f.mu.Unlock()
	return append([]driver.Batch{}, f.sent...)
}

// stored returns how many calls of an application the store holds.
func stored(t testing.TB, s Store, app string) (calls, failed int64) {
	t.Helper()
	rows, err := s.Usage(t.Context(), always(app))
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		calls, failed = calls+row.Calls, failed+row.Errors
	}
	return calls, failed
}

func always(app string) driver.UsageQuery {
	return driver.UsageQuery{AppID: app, From: time.Unix(0, 0), To: time.Unix(1<<33, 0)}
}

// opened is a Ledger as the program has it: mapped where the disk of the tests can.
func opened(t testing.TB, c Config) *Ledger { return openedWith(t, c, (*journal).tryMapping) }

// openedOn is a Ledger whose files are made so, and written.
func openedOn(t testing.TB, c Config, create func(string) (file, error)) *Ledger {
	return openedWith(t, c, func(j *journal) { j.create = create })
}

func openedWith(t testing.TB, c Config, prepare func(*journal)) *Ledger {
	t.Helper()
	if c.Log == nil {
		c.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
	}
	l, err := open(t.Context(), c, prepare)
	if err != nil {
		t.Fatalf("Open() = %v, want no error", err)
	}
	t.Cleanup(l.drop)
	return l
}

// drop leaves everything as a killed process does.
func (l *Ledger) drop() {
	l.mu.Lock()
	l.closed = true
	l.mu.Unlock()
	l.stop()
	l.running.Wait()
	if l.journal != nil {
		l.journal.lock.Close()
	}
}

func charge(t testing.TB, l *Ledger, app string, n int) {
	t.Helper()
	for range n {
		if err := l.Charge(app, "ai", noon, false); err != nil {
			t.Fatalf("Charge() = %v, want no error", err)
		}
	}
}

func closed(t testing.TB, l *Ledger) {
	t.Helper()
	if err := l.Close(t.Context()); err != nil {
		t.Fatalf("Close() = %v, want no error", err)
	}
}

func wantUsed(t testing.TB, l *Ledger, app string, want int64) {
	t.Helper()
	got, err := used(t.Context(), l, app, dayOf(noon).From, dayOf(noon).To)
	if err != nil || got != want {
		t.Errorf("Used(%s) = %d, %v, want %d", app, got, err, want)
	}
}

func wantStored(t testing.TB, s Store, app string, want int64) {
	t.Helper()
	if got, _ := stored(t, s, app); got != want {
		t.Errorf("the store holds %d calls of %s, want %d", got, app, want)
	}
}

// files is the names in a folder that end so.
func files(t testing.TB, folder, end string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasSuffix(e.Name(), end) {
			names = append(names, filepath.Join(folder, e.Name()))
		}
	}
	return names
}

// lines is a log that can be searched.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) times(part string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Count(l.text.String(), part)
}

func (l *lines) log() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func sameMemory(a, b string) bool { return unsafe.StringData(a) == unsafe.StringData(b) }

// used is the sum of a series by the hour.
func used(ctx context.Context, l *Ledger, app string, from, to time.Time) (int64, error) {
	rows, err := l.Series(ctx, driver.UsageQuery{AppID: app, From: from, To: to})
	var sum driver.Count
	for _, row := range rows {
		sum = sum.Plus(row)
	}
	return sum.Calls, err
}

// day is a UTC day; To is the next one.
type day struct{ From, To time.Time }

func dayOf(at time.Time) day { return day{driver.Day(at), driver.Day(at).AddDate(0, 0, 1)} }
