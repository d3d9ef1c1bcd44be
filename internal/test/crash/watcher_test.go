package main

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// fed returns a watcher of a store with three records and revocations.
func fed(t *testing.T) *watcher {
	t.Helper()
	s := memory.New()
	for _, id := range []string{"a", "b", "c"} {
		must(t)(0, s.Append(t.Context(), driver.Record{At: time.Now()}))
		must(t)(0, s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: id}))
	}
	return &watcher{store: s, seen: map[uint64]bool{}}
}

func TestAWatcherOfGoodFeedsComplainsOfNothing(t *testing.T) {
	w, j := fed(t), newJournal()
	w.look(t.Context())
	must(t)(0, w.store.(*memory.Store).Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: "a"})) // which takes a new Seq
	w.look(t.Context())
	must(t)(0, w.check(j))
	if len(j.violations) > 0 || w.record != 3 || w.ended != 4 || w.rounds != 2 {
		t.Errorf("%d records, revocations up to %d in %d rounds: %q", w.record, w.ended, w.rounds, j.violations)
	}
}

func TestAWatcherFindsWhatFeedsMustNotDo(t *testing.T) {
	for want, plant := range map[string]func(*watcher){
		"shows Seq 3 behind 1":                     func(w *watcher) { w.follow([]driver.Record{{Seq: 1}, {Seq: 3}}) },
		"shows Seq 1 behind 1":                     func(w *watcher) { w.follow([]driver.Record{{Seq: 1}, {Seq: 1}}) },
		"show Seq 2 behind 3":                      func(w *watcher) { w.heed([]driver.Revocation{{Seq: 1}, {Seq: 3}, {Seq: 2}}) },
		"with Seq 2 showed only when 3 had":        func(w *watcher) { w.heed([]driver.Revocation{{Seq: 1}, {Seq: 3}}) },
		"audit trail ends at Seq 3, and 4 was":     func(w *watcher) { w.record = 4 },
		"the revocations end at Seq 3, and 9 was ": func(w *watcher) { w.heed([]driver.Revocation{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 9}}) },
	} {
		w, j := fed(t), newJournal()
		plant(w)
		must(t)(0, w.check(j))
		if found := strings.Join(j.violations, "\n"); !strings.Contains(found, want) || len(j.violations) != 1 {
			t.Errorf("the check says %q, want one violation with %q", found, want)
		}
	}
}
