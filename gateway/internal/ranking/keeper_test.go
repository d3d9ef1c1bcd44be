package ranking

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/gateway/internal/ledger"
	"github.com/keystile/keystile/internal/record/ranking"
	"github.com/keystile/keystile/storage"
	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// desk is a store that counts what it is asked, and can be made to fail.
type desk struct {
	*storage.Store
	mu           sync.Mutex
	saves        int
	before, lost error
}

func (s *desk) SaveRanking(ctx context.Context, r ranking.Ranking) (ranking.Ranking, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.saves++
	if s.before != nil {
		return r, s.before
	}
	saved, err := s.Store.SaveRanking(ctx, r)
	if s.lost != nil {
		return r, s.lost
	}
	return saved, err
}

func (s *desk) setFaults(before, lost error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.before, s.lost = before, lost
}

func newDesk(t *testing.T) *desk {
	t.Helper()
	store, err := storage.Open(t.Context(), memory.New(), storage.NewMasterKey())
	if err != nil {
		t.Fatal(err)
	}
	return &desk{Store: store}
}

func keeper(s Store) *Keeper { return New(s, slog.New(slog.DiscardHandler)) }

func call(app, tool, user string, n int64) ledger.Call {
	return ledger.Call{App: app, Tool: tool, User: user, At: time.Now(), Calls: n, Errors: n / 2}
}

// held returns what the store has, as name calls.
func (s *desk) held(t *testing.T, of string, days int) (out []string) {
	t.Helper()
	today := driver.Day(time.Now())
	all, more, err := s.Rankings(t.Context(), of, today.AddDate(0, 0, 1-days), today.AddDate(0, 0, 1))
	if err != nil || more {
		t.Fatal(more, err)
	}
	for _, r := range all {
		for i, name := range r.Names {
			out = append(out, fmt.Sprint(name, " ", r.Calls[i]))
		}
	}
	slices.Sort(out)
	return out
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestRankingIsSavedOnceAMinuteAndAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		k := keeper(s)
		for range 50 {
			k.Add(slices.Values([]ledger.Call{call("app", "shop__order", "u1", 2), call("client sub", "", "", 1),
				{App: "app", Agent: "planner", At: time.Now(), Calls: 3}}))
			time.Sleep(time.Second)
		}
		want(t, s.held(t, ranking.Apps, 1))
		if live := k.Live(ranking.Apps, time.Now(), time.Now().Add(1)); len(live) != 1 || live[0].Calls[0] != 250 {
			t.Errorf("live are %+v", live)
		}
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, s.held(t, ranking.Apps, 1), "app 250", "client 50")
		want(t, s.held(t, ranking.Tools, 1), "shop__order 100")
		want(t, s.held(t, ranking.Users, 1), "sub 50", "u1 100")
		want(t, s.held(t, ranking.Agents, 1), "app 100", "client 50", "planner 150")
		time.Sleep(time.Hour)
		synctest.Wait()
		if s.saves != len(ranking.Kinds()) {
			t.Errorf("%d documents were written, want one of each kind: nothing was called since", s.saves)
		}
		k.Add(slices.Values([]ledger.Call{call("app", "", "", 1)}))
		if err := k.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, s.held(t, ranking.Apps, 1), "app 251", "client 50")
	})
}

func TestDayAndEachProcessHasItsOwnDocument(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		for range 2 {
			k := keeper(s)
			k.Add(slices.Values([]ledger.Call{call("app", "", "", 1)}))
			if err := k.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		k := keeper(s)
		for range 6 {
			time.Sleep(24 * time.Hour)
			k.Add(slices.Values([]ledger.Call{call("app", "", "", 5)}))
		}
		if days := k.held(); len(days) > 3 {
			t.Errorf("%d days are in memory", len(days))
		}
		if err := k.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, s.held(t, ranking.Apps, 1), "app 5")
		want(t, s.held(t, ranking.Apps, 7), "app 1", "app 1", "app 5", "app 5", "app 5", "app 5", "app 5", "app 5")
	})
}

func TestOldJournalDoesNotGrowTheMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := keeper(newDesk(t))
		for day := range 100 {
			c := call("app", "tool", "user", 1)
			c.At = c.At.AddDate(0, 0, -day)
			k.Add(slices.Values([]ledger.Call{c}))
		}
		if days := k.held(); len(days) != maxDays {
			t.Errorf("%d days are in memory, want %d", len(days), maxDays)
		}
		k.Close(t.Context())
	})
}

func TestStoreThatFailsIsAskedAgainAndCountsNothingTwice(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		k := keeper(s)
		add := func() { k.Add(slices.Values([]ledger.Call{call("app", "", "", 10)})) }
		add()
		s.setFaults(errors.New("away"), nil)
		time.Sleep(5 * time.Minute)
		s.setFaults(nil, nil)
		add()
		time.Sleep(time.Minute)
		synctest.Wait()
		want(t, s.held(t, ranking.Apps, 1), "app 20")
		add()
		s.setFaults(nil, errors.New("the answer is lost"))
		time.Sleep(time.Minute)
		synctest.Wait()
		s.setFaults(nil, nil)
		time.Sleep(time.Minute) // the conflict is noticed
		synctest.Wait()
		add()
		if err := k.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		want(t, s.held(t, ranking.Apps, 1), "app 10", "app 30")
	})
}

func TestRankingEndsWithTheRowsOfHours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newDesk(t)
		k := keeper(s)
		k.Add(slices.Values([]ledger.Call{call("app", "", "", 1)}))
		k.Close(t.Context())
		for _, c := range []struct{ days, left int }{{399, 1}, {401, 0}} {
			if _, err := s.Sweep(t.Context(), time.Now().AddDate(0, 0, c.days)); err != nil {
				t.Fatal(err)
			}
			if got := s.held(t, ranking.Apps, 1); len(got) != c.left {
				t.Errorf("after %d days %q are there, want %d", c.days, got, c.left)
			}
		}
	})
}
