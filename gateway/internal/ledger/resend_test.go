package ledger

import (
	"context"
	"errors"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage/driver"
)

func TestLedgerSendsAtOnceWhatAnEarlierProcessLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		data, _ := small()
		folder, s := left(t, data), newStore()
		s.setFaults(errAway, nil)
		l := opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
		if l.rows != 4*3 {
			t.Errorf("%d rows are held, want the 4 of the journal and 2 of the service beside each: memory is bounded by "+
				"their number", l.rows)
		}
		synctest.Wait()
		s.setFaults(nil, nil)
		time.Sleep(time.Second)
		synctest.Wait()
		wantStored(t, s, "app", 4)
		if l.rows != 0 || len(files(t, folder, "")) != 1 {
			t.Errorf("%d rows and %v are left, want none, and the lock", l.rows, files(t, folder, ""))
		}
		l.drop()
	})
}

func TestLedgerReadsOnceWhatAnEarlierProcessLeft(t *testing.T) {
	for _, arrived := range []bool{true, false} {
		s, folder := newStore(), t.TempDir()
		if s.before = errAway; arrived {
			s.before, s.after = nil, errAway
		}
		l := opened(t, Config{Store: s, Path: folder})
		charge(t, l, "app", 4)
		if err := l.flush(t.Context()); !errors.Is(err, errAway) {
			t.Fatalf("flush() = %v, want the store's error", err)
		}
		l.drop()
		s.setFaults(nil, nil)
		l = opened(t, Config{Store: s, Path: folder, FlushEvery: time.Hour})
		wantUsed(t, l, "app", 4)
		charge(t, l, "app", 1)
		wantUsed(t, l, "app", 5)
		closed(t, l)
		wantStored(t, s, "app", 5)
	}
}

func TestStoreThatDoesNotAnswerIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		l := opened(t, Config{Store: silent{s}, Path: t.TempDir()})
		charge(t, l, "app", 1)
		time.Sleep(time.Second + patience + time.Second)
		synctest.Wait()
		if n := len(s.attempts()); n != 2 {
			t.Errorf("%d attempts, want a second one when the first has taken %v", n, patience)
		}
		if err := l.Health(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Health() = %v, want that the store does not answer", err)
		}
		started := time.Now()
		if l.drop(); time.Since(started) != 0 {
			t.Errorf("the attempt went on for %v when its ledger was stopped", time.Since(started))
		}
	})
}

// silent never answers, but hears its context.
type silent struct{ *faulty }

func (s silent) Count(ctx context.Context, b driver.Batch, counts []driver.Count) error {
	s.faulty.mu.Lock()
	s.sent = append(s.sent, b)
	s.faulty.mu.Unlock()
	<-ctx.Done()
	return ctx.Err()
}

func TestStopIsNoTroubleOfTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		out := &lines{}
		l := opened(t, Config{Store: silent{newStore()}, Path: t.TempDir(), Log: out.log()})
		charge(t, l, "app", 1)
		time.Sleep(2 * time.Second)
		l.drop()
		if l.Health() != nil || out.times("level=ERROR") != 0 {
			t.Errorf("Health() = %v and the log says %q after a stop amid a send, want nothing", l.Health(), out.text.String())
		}
	})
}

// Batches after an unanswered one must wait for it: the store ignores a lower number.
func TestBatchesKeepTheirOrderThroughAnOutage(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, folder := newStore(), t.TempDir()
		s.setFaults(nil, errAway)
		for range 4 {
			l := opened(t, Config{Store: s, Path: folder})
			for range 3 {
				charge(t, l, "app", 1)
				time.Sleep(1500 * time.Millisecond)
			}
			l.drop()
		}
		s.setFaults(nil, nil)
		closed(t, opened(t, Config{Store: s, Path: folder}))
		wantStored(t, s, "app", 12)
		last := map[string]uint64{}
		for _, b := range slices.Compact(s.attempts()) {
			if b.Seq < last[b.Node] {
				t.Errorf("batch %v was sent after number %d", b, last[b.Node])
			}
			last[b.Node] = b.Seq
		}
		if left, _ := filepath.Glob(filepath.Join(folder, "*"+ofRecords)); len(left) != 0 {
			t.Errorf("files %v are left", left)
		}
	})
}
