package token

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
)

// lossy is a feed that can lose what it has, and joins as a store does.
type lossy struct {
	*wire
	last uint64
}

func (l *lossy) Revoke(_ context.Context, rs ...driver.Revocation) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.err != nil {
		return l.err
	}
	for _, r := range rs {
		for i, old := range l.facts {
			if old.Kind == r.Kind && old.ID == r.ID {
				r = r.Join(old)
				l.facts = append(l.facts[:i:i], l.facts[i+1:]...)
				break
			}
		}
		l.last++
		r.Seq = l.last
		l.facts = append(l.facts, r)
	}
	return nil
}

func (l *lossy) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	return rs, l.Revoke(ctx, rs...)
}

func (l *lossy) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	return l.Revoke(ctx, rs...)
}

func (l *lossy) Revocations(ctx context.Context, after uint64, n int) (page []driver.Revocation, err error) {
	all, err := l.wire.Revocations(ctx, 0, 1<<20)
	for _, r := range all {
		if r.Seq > after && len(page) < n {
			page = append(page, r)
		}
	}
	return page, err
}

// lose drops all but the first n, and gives their numbers again.
func (l *lossy) lose(n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.facts, l.last = l.facts[:n:n], 0
	for _, r := range l.facts {
		l.last = max(l.last, r.Seq)
	}
}

// sweep removes what has ended, as the store does.
func (l *lossy) sweep(now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	var stay []driver.Revocation
	for _, r := range l.facts {
		if !over(r, now) {
			stay = append(stay, r)
		}
	}
	l.facts = stay
}

func (l *lossy) has(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, r := range l.facts {
		if r.ID == id {
			return true
		}
	}
	return false
}

func jti(id string, life time.Duration) driver.Revocation {
	return driver.Revocation{Kind: driver.RevokeJTI, ID: id, Until: time.Now().Add(life)}
}

// follower is a set that follows a feed each second.
type follower struct {
	*Revoked
	mu     sync.Mutex
	forgot []error
	turned []error
}

func follow(t *testing.T, feed Feed) *follower {
	t.Helper()
	f := &follower{Revoked: opened(t, feed)}
	ctx, cancel := context.WithCancel(t.Context())
	c := every(time.Second, 10*time.Second)
	note := func(list *[]error) func(error) {
		return func(err error) {
			f.mu.Lock()
			defer f.mu.Unlock()
			*list = append(*list, err)
		}
	}
	c.Forgot, c.Turned = note(&f.forgot), note(&f.turned)
	var work sync.WaitGroup
	work.Go(func() { f.Follow(ctx, c) })
	t.Cleanup(func() { cancel(); work.Wait() })
	time.Sleep(time.Millisecond)
	synctest.Wait()
	return f
}

func second() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func (f *follower) stops(id string) bool { return f.Stops(storage.Caller{TokenID: id}) }

func TestLossIsNoticedWhateverFollowsIt(t *testing.T) {
	for _, c := range []struct {
		name string
		then func(l *lossy)
	}{
		{"nothing", func(*lossy) {}},
		{"fewer than were lost", func(l *lossy) { l.Revoke(t.Context(), jti("x", week)) }},
		{"as many as were lost", func(l *lossy) { l.Revoke(t.Context(), jti("x", week), jti("y", week)) }},
		{"more than were lost", func(l *lossy) { l.Revoke(t.Context(), jti("x", week), jti("y", week), jti("z", week)) }},
		{"the same again, with other numbers",
			func(l *lossy) { l.Revoke(t.Context(), jti("x", week), jti("b", week), jti("c", week)) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lossy{wire: &wire{}}
				l.Revoke(t.Context(), jti("a", week), jti("b", week), jti("c", week))
				f := follow(t, l)
				l.lose(1)
				c.then(l)
				second()
				for _, id := range []string{"a", "b", "c"} {
					if !f.stops(id) || !l.has(id) {
						t.Errorf("%s: refused here %v, stored %v, want both", id, f.stops(id), l.has(id))
					}
				}
				for _, id := range []string{"x", "y", "z"} {
					if l.has(id) != f.stops(id) {
						t.Errorf("%s: stored %v, refused here %v", id, l.has(id), f.stops(id))
					}
				}
				second()
				if f.Regressions() != 1 || len(f.forgot) != 1 || !errors.Is(f.forgot[0], storage.ErrRegressed) ||
					f.Stale(time.Now()) != nil {
					t.Errorf("noticed %d times, told %v, stale: %v", f.Regressions(), f.forgot, f.Stale(time.Now()))
				}
			})
		})
	}
}

// No other process remembers what this one stored a moment ago.
func TestLossOfWhatWasNeverReadBackIsNoticed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lossy{wire: &wire{}}
		l.Revoke(t.Context(), jti("a", week))
		f := follow(t, l)
		time.Sleep(100 * time.Millisecond)
		f.Revoke(t.Context(), jti("mine", week))
		l.lose(1)
		second()
		if f.Regressions() != 1 || !f.stops("mine") || !l.has("mine") {
			t.Errorf("noticed %d times; refused here %v, stored again %v", f.Regressions(), f.stops("mine"), l.has("mine"))
		}
	})
}

// slow is a feed whose writes, and another one behind each, are there before they are answered.
type slow struct{ *lossy }

func (s slow) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	err := s.lossy.Revoke(ctx, rs...)
	s.lossy.Revoke(ctx, jti("behind "+rs[0].ID, week))
	time.Sleep(2500 * time.Millisecond)
	return err
}

func (s slow) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	return rs, s.Revoke(ctx, rs...)
}

func (s slow) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	return s.Revoke(ctx, rs...)
}

func TestRevocationReadBackBeforeItsAnswerIsNoLoss(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := follow(t, slow{&lossy{wire: &wire{}}})
		f.Revoke(t.Context(), jti("mine", week))
		f.Revoke(t.Context(), jti("mine", 2*week))
		f.Revoke(t.Context(), jti("another", week))
		second()
		second()
		if f.Regressions() != 0 || !f.stops("mine") {
			t.Errorf("noticed %d losses: %v", f.Regressions(), f.forgot)
		}
	})
}

// Nothing of this is a loss.
func TestFollowerAllowsWhatAStoreMayDo(t *testing.T) {
	for name, do := range map[string]func(f *follower, l *lossy){
		"nothing":                     func(*follower, *lossy) {},
		"the last one is joined":      func(_ *follower, l *lossy) { l.Revoke(t.Context(), jti("c", 2*week)) },
		"the last one is joined here": func(f *follower, _ *lossy) { f.Revoke(t.Context(), jti("c", 2*week)) },
		"all are joined, in turn": func(_ *follower,
			l *lossy) {
			l.Revoke(t.Context(), jti("c", week), jti("b", week), jti("a", week))
		},
		"the last one ends":            func(_ *follower, l *lossy) { time.Sleep(2 * time.Hour); l.sweep(time.Now()) },
		"the last one ends, and stays": func(*follower, *lossy) { time.Sleep(2 * time.Hour) },
		"all end": func(_ *follower, l *lossy) {
			time.Sleep(4 * time.Hour)
			l.sweep(time.Now())
			l.Revoke(t.Context(), jti("d", week))
		},
		"many are stored at once": func(_ *follower, l *lossy) {
			for i := range 3 * driver.Page {
				l.Revoke(t.Context(), jti(strconv.Itoa(i), week))
			}
			l.Revoke(t.Context(), jti("c", week)) // far behind where it was
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &lossy{wire: &wire{}}
				l.Revoke(t.Context(), jti("a", 3*time.Hour), jti("b", 3*time.Hour), jti("c", time.Hour))
				f := follow(t, l)
				do(f, l)
				second()
				second()
				l.Revoke(t.Context(), jti("last", week))
				second()
				if f.Regressions() != 0 || !f.stops("last") {
					t.Errorf("noticed %d losses (%v), the next one is refused: %v", f.Regressions(), f.forgot, f.stops("last"))
				}
			})
		})
	}
}

func TestRevocationsAreTrustedOnlyAfterRereadingAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &lossy{wire: &wire{}}
		for i := range 3 * driver.Page {
			l.Revoke(t.Context(), jti(strconv.Itoa(i), week))
		}
		f := follow(t, l)
		l.lose(2*driver.Page + 1)
		l.mu.Lock()
		l.slow = 300 * time.Millisecond // a page
		l.mu.Unlock()
		time.Sleep(1500 * time.Millisecond) // noticed, and one page read anew
		synctest.Wait()
		if err := f.Stale(time.Now()); !errors.Is(err, ErrStale) || !errors.Is(err, storage.ErrRegressed) {
			t.Errorf("Stale() = %v while it is read anew, want ErrStale because of ErrRegressed", err)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		if err := f.Stale(time.Now()); err != nil {
			t.Errorf("Stale() = %v once all is read", err)
		}
		for i := range 3 * driver.Page {
			if id := strconv.Itoa(i); !f.stops(id) || !l.has(id) {
				t.Fatalf("%s: refused here %v, stored %v, want both", id, f.stops(id), l.has(id))
			}
		}
	})
}

func TestRevocationsOwedToTheStoreAreStoredOnceItCanBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := &unwritable{lossy: &lossy{wire: &wire{}}}
		for i := range 250 {
			l.lossy.Revoke(t.Context(), jti(strconv.Itoa(i), week))
		}
		f := follow(t, l)
		l.lose(0)
		second()
		if err := f.Stale(time.Now()); err != nil || !f.stops("0") || l.has("0") {
			t.Errorf("Stale() = %v, refused here %v, stored %v: want it trusted, refused and not stored", err, f.stops("0"),
				l.has("0"))
		}
		l.mu.Lock()
		l.open = true
		l.mu.Unlock()
		second()
		for i := range 250 {
			if id := strconv.Itoa(i); !l.has(id) {
				t.Errorf("%s is not stored again", id)
			}
		}
		if f.Regressions() != 1 {
			t.Errorf("noticed %d losses", f.Regressions())
		}
	})
}

// unwritable is a feed that takes nothing until it is open.
type unwritable struct {
	*lossy
	open bool
}

func (u *unwritable) Revoke(ctx context.Context, rs ...driver.Revocation) error {
	u.mu.Lock()
	open := u.open
	u.mu.Unlock()
	if !open {
		return errAway
	}
	return u.lossy.Revoke(ctx, rs...)
}

func (u *unwritable) RevokeDated(ctx context.Context, rs ...driver.Revocation) ([]driver.Revocation, error) {
	return rs, u.Revoke(ctx, rs...)
}

func (u *unwritable) RestoreRevocations(ctx context.Context, rs ...driver.Revocation) error {
	return u.Revoke(ctx, rs...)
}

func TestTurnOfTheFeedIsToldOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		f := follow(t, w)
		for range 3 {
			w.fail(errAway)
			time.Sleep(time.Minute)
			synctest.Wait()
			w.fail(nil)
			time.Sleep(time.Minute)
			synctest.Wait()
		}
		if got := fmt.Sprint(f.turned); len(f.turned) != 6 || f.turned[1] != nil || !errors.Is(f.turned[0], errAway) {
			t.Errorf("told %s, want three failures and three recoveries", got)
		}
	})
}

func TestAgeIsThatOfTheLastGoodRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &wire{}
		if age := opened(t, w).Age(time.Now().Add(time.Hour)); age != 0 {
			t.Errorf("Age(nobody follows) = %v, want 0", age)
		}
		f := follow(t, w)
		time.Sleep(500 * time.Millisecond)
		if age := f.Age(time.Now()); age < 500*time.Millisecond || age > time.Second {
			t.Errorf("Age() = %v, want about half a second", age)
		}
		w.fail(errAway)
		time.Sleep(time.Minute)
		if age := f.Age(time.Now()); age < time.Minute || age > time.Minute+time.Second {
			t.Errorf("Age() = %v a minute after it failed", age)
		}
	})
}
