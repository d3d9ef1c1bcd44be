package ledger

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestBatchIsSentUntilTheStoreAnswersAndCountsOnce(t *testing.T) {
	for name, c := range map[string]struct{ before, after error }{
		"it fails":                       {before: errAway},
		"it fails when it has counted":   {after: errAway},
		"both, one after the other once": {before: errAway, after: errAway},
	} {
		synctest.Test(t, func(t *testing.T) {
			s, out := newStore(), &lines{}
			s.setFaults(c.before, c.after)
			l := opened(t, Config{Store: s, Path: t.TempDir(), Log: out.log()})
			charge(t, l, "app", 2)
			time.Sleep(90 * time.Second)
			charge(t, l, "app", 3)
			if err := l.Health(); !errors.Is(err, errAway) {
				t.Errorf("%s: Health() = %v, want the store's error", name, err)
			}
			s.setFaults(nil, c.after)
			time.Sleep(90 * time.Second)
			s.setFaults(nil, nil)
			time.Sleep(90 * time.Second)
			wantStored(t, s, "app", 5)
			wantUsed(t, l, "app", 5)
			if err := l.Health(); err != nil {
				t.Errorf("%s: Health(afterwards) = %v, want nil", name, err)
			}
			if n := len(s.attempts()); n < 4 || n > 20 {
				t.Errorf("%s: %d attempts in an outage of 2 to 3 minutes, want some, and few", name, n)
			}
			if n := out.times("level=ERROR"); n != 1 {
				t.Errorf("%s: %d lines about one outage, want 1", name, n)
			}
			l.drop()
		})
	}
}

func TestLedgerAddsOneSumPerRowAfterAnOutage(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.setFaults(errAway, nil)
		l := opened(t, Config{Store: s, Path: t.TempDir()})
		for range 3600 {
			charge(t, l, "app", 1)
			time.Sleep(time.Second)
		}
		if l.rows > 6 || len(files(t, l.journal.folder, ofRecords)) > 2 {
			t.Errorf("%d rows and %d files wait after an hour, want 2 files at most, with 3 rows each", l.rows,
				len(files(t, l.journal.folder, ofRecords)))
		}
		s.setFaults(nil, nil)
		time.Sleep(maxPause)
		synctest.Wait()
		wantStored(t, s, "app", 3600)
		l.drop()
	})
}

// A batch whose answer was lost is in the store or is not: only the store knows.
func TestReadNeverGuessesWhetherABatchArrived(t *testing.T) {
	for _, arrived := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			s := newStore()
			if arrived {
				s.setFaults(nil, errAway)
			} else {
				s.setFaults(errAway, nil)
			}
			l := opened(t, Config{Store: s, Path: t.TempDir()})
			charge(t, l, "app", 2)
			time.Sleep(time.Second)
			synctest.Wait()
			charge(t, l, "app", 1)
			got, err := used(t.Context(), l, "app", dayOf(noon).From, dayOf(noon).To)
			if !errors.Is(err, errAway) || got != 3 {
				t.Errorf("arrived %t: Used() = %d, %v, want the 3 that are known, and the store's error", arrived, got, err)
			}
			s.setFaults(nil, nil)
			wantUsed(t, l, "app", 3)
			wantStored(t, s, "app", 2)
			l.drop()
		})
	}
}

func TestReadDuringASendWaitsForItsOutcome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.hang = make(chan struct{})
		l := opened(t, Config{Store: s, Path: t.TempDir()})
		charge(t, l, "app", 2)
		time.Sleep(time.Second)
		synctest.Wait()
		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if n, err := used(short, l, "app", dayOf(noon).From, dayOf(noon).To); n != 2 ||
			!errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Used(while the store hangs) = %d, %v, want the 2 that are known, and the end of the context", n, err)
		}
		started := time.Now()
		if _, err := used(t.Context(), l, "app", noon, noon); err == nil || time.Since(started) != patience {
			t.Errorf("Used(without a deadline) = %v after %v, want an error after %v", err, time.Since(started), patience)
		}
		go func() {
			time.Sleep(time.Second)
			charge(t, l, "app", 1)
			close(s.hang)
		}()
		wantUsed(t, l, "app", 3)
		wantStored(t, s, "app", 2)
		l.drop()
	})
}

func TestChargeNeverWaitsForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.hang = make(chan struct{})
		l := opened(t, Config{Store: s, Path: t.TempDir()})
		charge(t, l, "app", 1)
		time.Sleep(time.Minute)
		started := time.Now()
		charge(t, l, "app", 1000)
		if took := time.Since(started); took != 0 || s.requested != 0 {
			t.Errorf("1000 charges took %v and asked the store %d times, want neither", took, s.requested)
		}
		close(s.hang)
		closed(t, l)
		wantStored(t, s, "app", 1001)
	})
}

func TestSendWaitsForTheReadsBeforeIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		l := opened(t, Config{Store: s})
		synctest.Wait()
		charge(t, l, "app", 1)
		if err := l.readLock.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Second)
		if n := len(s.attempts()); n != 0 {
			t.Errorf("%d batches were sent while a read was under way, want 0", n)
		}
		late := make(chan error)
		go func() { late <- l.readLock.enter(t.Context()) }()
		synctest.Wait()
		select {
		case <-late:
			t.Error("a read went in before the send that waits: reads could keep it waiting for ever")
		default:
		}
		l.readLock.leave()
		if err := <-late; err != nil {
			t.Fatal(err)
		}
		wantStored(t, s, "app", 1)
		l.readLock.leave()
		l.drop()
	})
}

func TestSendThatGivesUpLetsReadsIn(t *testing.T) {
	var g readLock
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	g.enter(t.Context())
	if err := g.begin(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("begin(beside a read, canceled) = %v, want canceled", err)
	}
	if err := g.enter(ctx); err != nil {
		t.Errorf("enter() = %v after a send gave up, want nil", err)
	}
}

func TestCloseReportsWhereTheUnsentCallsAre(t *testing.T) {
	for path, want := range map[string]string{"": "3 calls were not counted and are lost",
		t.TempDir(): "3 calls wait in"} {
		s := newStore()
		l := opened(t, Config{Store: s, Path: path})
		charge(t, l, "app", 3)
		s.setFaults(errAway, nil)
		if err := l.Close(t.Context()); !errors.Is(err, errAway) || !strings.Contains(err.Error(), want) {
			t.Errorf("Close(store away) = %v, want %q", err, want)
		}
		if path == "" {
			continue
		}
		s.setFaults(nil, nil)
		closed(t, opened(t, Config{Store: s, Path: path}))
		wantStored(t, s, "app", 3)
	}
}

func TestCloseWithNothingToSendIsNoError(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for range 20 {
		if err := opened(t, Config{Store: newStore()}).Close(ctx); err != nil {
			t.Fatalf("Close(canceled, nothing charged) = %v, want no error", err)
		}
	}
}

func TestCloseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newStore()
		s.hang = make(chan struct{})
		l := opened(t, Config{Store: s, Path: t.TempDir()})
		charge(t, l, "app", 3)
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := l.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("Close(while the store hangs) = %v, want the end of the context", err)
		}
		again := newStore()
		closed(t, opened(t, Config{Store: again, Path: l.journal.folder}))
		wantStored(t, again, "app", 3)
		close(s.hang)
	})
}
