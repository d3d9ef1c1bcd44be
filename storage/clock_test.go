package storage_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

var clockKey = storage.NewMasterKey()

const day = 24 * time.Hour

// clocked returns a store whose mark has these times, and its backend.
func clocked(t *testing.T, highest, reached time.Time) (*storage.Store, driver.Backend) {
	t.Helper()
	backend := memory.New()
	text, err := json.Marshal(map[string]time.Time{"highest": highest, "reached": reached})
	if err == nil {
		_, err = backend.Put(t.Context(), driver.Doc{Kind: "clock", ID: "highest", Data: text})
	}
	if err != nil {
		t.Fatal(err)
	}
	return opened(t, backend, clockKey), backend
}

// sweeping runs SweepEvery for some time and returns what it complained of.
func sweeping(t *testing.T, s *storage.Store, d time.Duration) (got []error) {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), d)
	defer stop()
	s.SweepEvery(ctx, time.Minute, func(err error) { got = append(got, err) })
	return got
}

func revoked(t *testing.T, s *storage.Store) map[string]driver.Revocation {
	t.Helper()
	all, err := s.Revocations(t.Context(), 0, driver.Page)
	if err != nil {
		t.Fatal(err)
	}
	ids := map[string]driver.Revocation{}
	for _, r := range all {
		ids[r.ID] = r
	}
	return ids
}

func endAt(t *testing.T, s *storage.Store, id string, until time.Time) {
	t.Helper()
	if _, err := s.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: id, Until: until}); err != nil {
		t.Fatal(err)
	}
}

// A start with a clock that is days fast must not forget what was revoked, nor must the starts
// behind it, which find the mark of the first.
func TestStartWithAFastClockForgetsNoRevocation(t *testing.T) {
	for _, fast := range []time.Duration{8 * day, 400 * day} {
		synctest.Test(t, func(t *testing.T) {
			right := time.Now().Add(-fast)
			s, backend := clocked(t, right, right)
			endAt(t, s, "ended", right.Add(-time.Second))
			endAt(t, s, "soon", right.Add(90*time.Second))
			endAt(t, s, "a week", right.Add(7*day))
			got := sweeping(t, s, time.Second)
			if len(got) != 1 || !errors.Is(got[0], storage.ErrClock) {
				t.Errorf("%v ahead it says %v", fast, got)
			}
			if left := revoked(t, s); len(left) != 2 {
				t.Errorf("%v ahead, after a second %d revocations are left, want the 2 that have not ended", fast, len(left))
			}
			s = opened(t, backend, clockKey) // it finds its own mark
			if got := sweeping(t, s, 3*time.Minute+time.Second); len(got) != 1 || !errors.Is(got[0], storage.ErrClock) {
				t.Errorf("%v ahead, started again it says %v", fast, got)
			}
			if _, there := revoked(t, s)["a week"]; !there || len(revoked(t, s)) != 1 {
				t.Errorf("%v ahead, after three minutes %d revocations are left, want the one of a week", fast, len(revoked(t, s)))
			}
		})
	}
}

func TestClockThatIsRightForALongTimeIsTrusted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		before := time.Now().Add(-60 * day) // the service was stopped for so long
		s, backend := clocked(t, before, before)
		endAt(t, s, "a", time.Now())
		for range 6 {
			sweeping(t, s, day)
			s = opened(t, backend, clockKey)
		}
		if len(revoked(t, s)) != 1 {
			t.Error("it is believed after six days of running")
		}
		sweeping(t, s, day+time.Hour)
		if len(revoked(t, s)) != 0 {
			t.Error("it is not believed after seven days of running, over seven starts")
		}
		if got := sweeping(t, opened(t, backend, clockKey), time.Hour); len(got) != 0 {
			t.Errorf("the next start says %v", got)
		}
	})
}

func TestOrdinaryStopIsNoReasonToDoubtTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, away := range []time.Duration{0, time.Hour, 23 * time.Hour, -4 * time.Minute} {
			s, _ := clocked(t, time.Now().Add(-away), time.Now().Add(-away))
			endAt(t, s, "a", time.Now())
			if got := sweeping(t, s, time.Second); len(got) != 0 || len(revoked(t, s)) != 0 {
				t.Errorf("after %v it says %v, and %d revocations are left that have ended", away, got, len(revoked(t, s)))
			}
		}
		empty := opened(t, memory.New())
		endAt(t, empty, "a", time.Now())
		if got := sweeping(t, empty, time.Second); len(got) != 0 || len(revoked(t, empty)) != 0 {
			t.Errorf("a store without a mark says %v", got)
		}
	})
}

func TestHighestTimeIsWrittenOnceAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		backend := &failing{Backend: memory.New()}
		s := opened(t, backend, clockKey)
		sweeping(t, s, time.Second) // after which there is nothing older to be counted
		before := backend.puts.Load()
		ctx, stop := context.WithTimeout(t.Context(), 10*time.Minute+time.Second)
		defer stop()
		s.SweepEvery(ctx, time.Second, func(err error) { t.Error(err) })
		if wrote := backend.puts.Load() - before; wrote < 10 || wrote > 12 {
			t.Errorf("sweeping every second for ten minutes it was written %d times", wrote)
		}
		d, err := backend.Get(t.Context(), "clock", "highest")
		var mark struct{ Highest, Reached time.Time }
		if err == nil {
			err = json.Unmarshal(d.Data, &mark)
		}
		if now := time.Now(); err != nil || !mark.Highest.Equal(now) || !mark.Reached.Equal(now) {
			t.Errorf("at its end it left %+v, %v; want now, %v", mark, err, now)
		}
	})
}

// A grant that was made while the clock was ahead ends like all others. One that is made afterwards does not, and a
// second revocation ends that too.
func TestGrantMadeWhileTheClockWasAheadCanBeEnded(t *testing.T) {
	for _, kind := range []string{driver.RevokeUser, driver.RevokeApp, driver.RevokeConsent} {
		synctest.Test(t, func(t *testing.T) {
			now := time.Now()
			s, _ := clocked(t, now.Add(time.Hour), now)
			of := func(granted time.Time) driver.Token {
				return driver.Token{GrantedAt: granted, AppID: "a", UserID: "u", ExpiresAt: granted.Add(30 * day)}
			}
			id := map[string]string{driver.RevokeUser: "u", driver.RevokeApp: "a",
				driver.RevokeConsent: driver.ConsentID("a", "u")}[kind]
			end := func() driver.Revocation {
				r := driver.Revocation{Kind: kind, ID: id, Before: time.Now(), Until: time.Now().Add(30 * day)}
				if _, err := s.RevokeDated(t.Context(), r); err != nil {
					t.Fatal(err)
				}
				return revoked(t, s)[id]
			}
			ahead, right := of(now.Add(time.Hour)), of(now.Add(-time.Hour))
			unseen := of(now.Add(time.Hour + 59*time.Second)) // by a process that was killed before it wrote the time
			first := end()
			if !first.Covers(ahead) || !first.Covers(unseen) || !first.Covers(right) {
				t.Errorf("%s: before %v does not end all of what was granted", kind, first.Before)
			}
			if first.Until.Before(ahead.ExpiresAt) {
				t.Errorf("%s: it is forgotten at %v, and ends a token of %v", kind, first.Until, ahead.ExpiresAt)
			}
			next := of(s.Later(time.Now()))
			if first.Covers(next) {
				t.Errorf("%s: it ends what is granted behind it", kind)
			}
			if second := end(); !second.Covers(next) {
				t.Errorf("%s: a second one does not end what was granted behind the first", kind)
			}
			if got := sweeping(t, s, time.Second); len(got) != 1 || !errors.Is(got[0], storage.ErrClock) {
				t.Errorf("%s: an hour behind it says %v", kind, got)
			}
		})
	}
}

// The clock is ahead for a moment in the life of one process, and no sweep has seen it.
func TestGrantProvesTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, memory.New())
		granted := s.Later(time.Now().Add(time.Hour))
		if _, err := s.RevokeDated(t.Context(), driver.Revocation{Kind: driver.RevokeUser, ID: "u",
			Before: time.Now()}); err != nil {
			t.Fatal(err)
		}
		if r := revoked(t, s)["u"]; !r.Covers(driver.Token{UserID: "u", GrantedAt: granted}) {
			t.Errorf("before %v does not end what was granted at %v", r.Before, granted)
		}
	})
}

func TestRightClockChangesNoRevocation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := opened(t, memory.New())
		s.Later(time.Now())
		for i, r := range []driver.Revocation{
			{Kind: driver.RevokeUser, ID: "u", Before: time.Now().Add(-day), Until: time.Now().Add(day)},
			{Kind: driver.RevokeGrant, ID: "g", Until: time.Now().Add(day)},
			{Kind: driver.RevokeApp, ID: "a", Before: time.Now()},
		} {
			if got := s.Dated(r)[0]; fmt.Sprint(got) != fmt.Sprint(r) {
				t.Errorf("%d: %v is dated %v", i, r, got)
			}
		}
	})
}

func TestStoreSaysThatTheClockIsWrong(t *testing.T) {
	for how, mark := range map[string]time.Duration{"right": 0, "ahead": -8 * day, "behind": time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			seen := time.Now().Add(mark)
			s, _ := clocked(t, seen, seen)
			for range 3 { // and not once alone
				if err := s.ClockErr(); errors.Is(err, storage.ErrClock) != (how != "right") {
					t.Errorf("a clock that is %s: %v", how, err)
				}
				sweeping(t, s, time.Second)
			}
			if time.Sleep(2 * time.Hour); how == "behind" && s.ClockErr() != nil {
				t.Errorf("it is behind no more, and %v", s.ClockErr())
			}
		})
	}
}
