package ledger

import (
	"context"
	"math"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestChargeIsSeenByTheNextRead(t *testing.T) {
	for _, path := range []string{"", filepath.Join(t.TempDir(), "journal")} {
		l := opened(t, Config{Store: newStore(), Path: path, FlushEvery: time.Hour})
		for n := range int64(5) {
			charge(t, l, "app", 1)
			wantUsed(t, l, "app", n+1)
			wantUsed(t, l, "another", 0)
		}
	}
}

func TestCallCountsInTheHourItWasMade(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir()})
	midnight := time.Date(2026, 9, 1, 0, 0, 0, 0, time.UTC)
	tokyo := time.FixedZone("", 9*3600)
	for _, at := range []time.Time{midnight.Add(-1), midnight, midnight.In(tokyo), midnight.Add(time.Hour - 1),
		midnight.Add(time.Hour)} {
		l.Charge("app", "ai", at, false)
	}
	for round := range 2 {
		for _, c := range []struct {
			from, to time.Time
			want     int64
		}{
			{midnight.Add(-time.Hour), midnight, 1},
			{midnight, midnight.Add(time.Hour), 3},
			{midnight.Add(time.Hour), midnight.Add(2 * time.Hour), 1},
			{dayOf(midnight.Add(-1)).From, dayOf(midnight.Add(-1)).To, 1},
			{dayOf(midnight).From, dayOf(midnight).To, 4},
		} {
			if got, err := used(t.Context(), l, "app", c.from, c.to); got != c.want || err != nil {
				t.Errorf("round %d: Used(%v, %v) = %d, %v, want %d", round, c.from, c.to, got, err, c.want)
			}
		}
		closed(t, l)
	}
}

func TestSeriesIsOrderedAndHasEachRowOnce(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, FlushEvery: time.Hour})
	work := func() {
		for _, product := range []string{"mcp", "ai"} {
			for _, hour := range []int{30, 1, 0} {
				l.Charge("app", product, noon.Add(time.Duration(hour)*time.Hour), false)
			}
		}
	}
	work()
	if err := l.flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	work()
	q := always("app")
	q.Daily = true
	rows, err := l.Series(t.Context(), q)
	first, second := dayOf(noon).From, dayOf(noon).To
	want := []driver.Count{
		{AppID: "app", Product: "ai", At: first, Calls: 4}, {AppID: "app", Product: "mcp", At: first, Calls: 4},
		{AppID: "app", Product: "ai", At: second, Calls: 2}, {AppID: "app", Product: "mcp", At: second, Calls: 2},
	}
	if err != nil || len(rows) != len(want) {
		t.Fatalf("Series() = %v, %v, want %v", rows, err, want)
	}
	for i, row := range rows {
		if row != want[i] {
			t.Errorf("Series()[%d] = %v, want %v", i, row, want[i])
		}
	}
	q.Daily, q.Product = false, "mcp"
	if rows, err := l.Series(t.Context(), q); err != nil || len(rows) != 3 || rows[0].Calls != 2 ||
		rows[0].Product != "mcp" {
		t.Errorf("Series(hours of mcp) = %v, %v, want 3 rows of 2 calls", rows, err)
	}
}

func TestCountsStopAtTheLargestNumber(t *testing.T) {
	s := newStore()
	l := opened(t, Config{Store: s, Path: t.TempDir(), FlushEvery: time.Hour})
	huge := driver.Count{AppID: "app", Product: "ai", At: driver.Hour(noon), Calls: math.MaxInt64 - 1}
	if err := s.Count(t.Context(), driver.Batch{Node: "another", Seq: 1}, []driver.Count{huge}); err != nil {
		t.Fatal(err)
	}
	charge(t, l, "app", 3)
	wantUsed(t, l, "app", math.MaxInt64)
	closed(t, l)
	wantStored(t, s, "app", math.MaxInt64)
}

func TestJournalOfTheLargestNumbersDoesNotOverflow(t *testing.T) {
	huge := appendRecord(nil, &entry{"app", cell{product: "ai", hour: 1},
		amount{calls: math.MaxInt64, errors: math.MaxInt64}, 0})
	got := counted(t, left(t, append(huge, huge...)), &lines{})["ai"]
	if got.Calls != math.MaxInt64 || got.Errors != math.MaxInt64 {
		t.Errorf("%d calls and %d errors are counted, want the largest number of both", got.Calls, got.Errors)
	}
}

func TestLedgerReadSeesNoBatchTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := slow{newStore(), make(chan struct{})}
		l := opened(t, Config{Store: s})
		synctest.Wait()
		charge(t, l, "app", 2)
		go func() {
			time.Sleep(5 * time.Second)
			if n := len(s.attempts()); n != 0 {
				t.Errorf("%d batches were sent amid a read, want none", n)
			}
			close(s.usage)
		}()
		wantUsed(t, l, "app", 2)
		synctest.Wait()
		wantStored(t, s, "app", 2)
		l.drop()
	})
}

// slow blocks reads until it is released.
type slow struct {
	*faulty
	usage chan struct{}
}

func (s slow) Usage(ctx context.Context, q driver.UsageQuery) ([]driver.Count, error) {
	<-s.usage
	return s.faulty.Usage(ctx, q)
}
