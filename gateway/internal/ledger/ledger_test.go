package ledger

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestConfigIsRefusedWithAllComplaints(t *testing.T) {
	l, err := Open(t.Context(), Config{FlushEvery: -1})
	if l != nil || err == nil || !strings.Contains(err.Error(), "Store") || !strings.Contains(err.Error(), "FlushEvery") {
		t.Errorf("Open(nothing right) = %v, %v, want complaints about Store and FlushEvery", l, err)
	}
}

func TestLedgerSendsChargesWithinTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		l := opened(t, Config{Store: s, Path: t.TempDir()})
		synctest.Wait()
		charge(t, l, "app", 3)
		time.Sleep(time.Second - 1)
		wantStored(t, s, "app", 0)
		wantUsed(t, l, "app", 3)
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		wantStored(t, s, "app", 3)
		wantUsed(t, l, "app", 3)
		time.Sleep(time.Hour)
		if sent := s.attempts(); len(sent) != 1 || sent[0].Seq != 1 {
			t.Errorf("batches sent: %v, want one, number 1", sent)
		}
		charge(t, l, "app", 1)
		time.Sleep(time.Second)
		synctest.Wait()
		if sent := s.attempts(); len(sent) != 2 || sent[1] != (driver.Batch{Node: sent[0].Node, Seq: 2}) {
			t.Errorf("batches sent: %v, want a second one, number 2", sent)
		}
		if left := files(t, l.journal.folder, ofRecords); len(left) != 0 {
			t.Errorf("journal files left when all is acknowledged: %v", left)
		}
		l.drop()
	})
}

func TestFailedCallIsACallAndAnError(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir()})
	for _, failed := range []bool{true, false, true} {
		l.Charge("app", "ai", noon, failed)
	}
	closed(t, l)
	if calls, failed := stored(t, s, "app"); calls != 3 || failed != 2 {
		t.Errorf("the store holds %d calls and %d errors, want 3 and 2", calls, failed)
	}
}

func TestChargesOfManyGoroutinesAllCount(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir(), FlushEvery: time.Millisecond})
	var all sync.WaitGroup
	for g := range 8 {
		all.Go(func() {
			for i := range 500 {
				if err := l.Charge("app"+strconv.Itoa(i%3), "ai", noon, g == 0); err != nil {
					t.Errorf("Charge() = %v, want no error", err)
				}
			}
		})
	}
	all.Go(func() {
		for last := int64(0); last < 8*167; {
			n, err := used(t.Context(), l, "app0", dayOf(noon).From, dayOf(noon).To)
			if err != nil || n < last || n > 8*167 {
				t.Errorf("Used() = %d, %v after %d: it never falls and never exceeds what was charged", n, err, last)
				return
			}
			last = n
		}
	})
	all.Wait()
	closed(t, l)
	for app, want := range map[string]int64{"app0": 8 * 167, "app1": 8 * 167, "app2": 8 * 166} {
		wantStored(t, s, app, want)
	}
}

func TestLedgerRefusesWhatNoStoreAccepts(t *testing.T) {
	l := opened(t, Config{Store: newStore(), Path: t.TempDir()})
	for name, err := range map[string]error{
		"no application":                     l.Charge("", "ai", noon, false),
		"no product":                         l.Charge("app", "", noon, false),
		"a zero byte":                        l.Charge("app", "a\x00i", noon, false),
		"a zero byte behind more than ASCII": l.Charge("app", "\u00e9\x00", noon, false),
		"no UTF-8":                           l.Charge("app\xfe", "ai", noon, false),
		"an application of 256":              l.Charge(strings.Repeat("a", 256), "ai", noon, false),
		"a product of 256":                   l.Charge("app", strings.Repeat("a", 256), noon, false),
		"no time":                            l.Charge("app", "ai", time.Time{}, false),
		"a time before 1970":                 l.Charge("app", "ai", time.Unix(-1, 0), false),
		"a time beyond counting":             l.Charge("app", "ai", time.Unix(math.MaxUint32*3600+3600, 0), false),
	} {
		if err == nil {
			t.Errorf("%s: Charge() = no error, want one", name)
		}
	}
	if l.open != nil {
		t.Error("a refused charge has opened a batch")
	}
	longest := strings.Repeat("a", 255)
	if err := l.Charge(longest, longest, noon, false); err != nil {
		t.Errorf("Charge(names of 255 bytes) = %v, want no error", err)
	}
}

func TestLedgerChargesNothingAfterClose(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir()})
	charge(t, l, "app", 1)
	closed(t, l)
	if err := l.Charge("app", "ai", noon, false); !errors.Is(err, ErrClosed) {
		t.Errorf("Charge(closed) = %v, want ErrClosed", err)
	}
	closed(t, l)
	wantStored(t, s, "app", 1)
}

func TestLargeBatchIsSealedEarly(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, FlushEvery: time.Hour})
	for i := range batchRows + 1 { // beside two rows of the service
		l.Charge("app"+strconv.Itoa(i), "ai", noon, false)
	}
	if len(l.queue) != 1 || l.queue[0].rows != batchRows || l.open.rows != 5 {
		t.Errorf("%d batches are sealed and %d rows are open, want 1 of %d rows, and those of 3 applications and the service",
			len(l.queue), l.open.rows, batchRows)
	}
	closed(t, l)
	wantStored(t, s, "app0", 1)
	wantStored(t, s, "app"+strconv.Itoa(batchRows), 1)
}

func TestMemoryIsBoundedAndRowsAreKept(t *testing.T) {
	s := newStore()
	s.setFaults(errAway, nil)
	l := opened(t, Config{Store: s, FlushEvery: time.Hour})
	charge(t, l, "app", 1)
	l.mu.Lock()
	l.rows += maxRows - 1
	l.mu.Unlock()
	if err := l.Charge("another", "ai", noon, false); !errors.Is(err, ErrFull) {
		t.Errorf("Charge(a row too many) = %v, want ErrFull", err)
	}
	if err := l.Charge("app", "ai", noon, false); err != nil {
		t.Errorf("Charge(a row that is there) = %v, want no error", err)
	}
	l.mu.Lock()
	l.rows -= maxRows - 1
	l.mu.Unlock()
	s.setFaults(nil, nil)
	closed(t, l)
	wantStored(t, s, "app", 2)
	wantStored(t, s, "another", 0)
	if l.rows != 0 {
		t.Errorf("%d rows are held when all is acknowledged, want 0", l.rows)
	}
}

func TestNamesDoNotKeepTheirRequestInMemory(t *testing.T) {
	l := opened(t, Config{Store: newStore(), FlushEvery: time.Hour})
	request := []byte("app ai")
	text := string(request)
	l.Charge(text[:3], text[4:], noon, false)
	for app, sums := range l.open.apps {
		for at := range sums.all() {
			if sameMemory(app, text[:3]) || sameMemory(at.product, text[4:]) {
				t.Error("a row holds the caller's memory")
			}
		}
	}
}
