package feedwatch

import (
	"strings"
	"testing"
	"time"

	"github.com/keystile/keystile/storage/driver"
	"github.com/keystile/keystile/storage/memory"
)

// fed returns a watcher of a store with three records and revocations.
func fed(t *testing.T) *Watcher {
	t.Helper()
	s := memory.New()
	for _, id := range []string{"a", "b", "c"} {
		must(t, s.Append(t.Context(), driver.Record{At: time.Now()}))
		must(t, s.Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: id}))
	}
	return &Watcher{store: s, seen: map[uint64]bool{}, sums: map[uint64]uint64{}}
}

func TestWatcherOfGoodFeedsComplainsOfNothing(t *testing.T) {
	w := fed(t)
	w.look(t.Context())
	// which takes a new Seq
	must(t, w.store.(*memory.Store).Revoke(t.Context(), driver.Revocation{Kind: driver.RevokeJTI, ID: "a"}))
	w.look(t.Context())
	wrong, err := w.Check(t.Context())
	if must(t, err); len(wrong) > 0 || w.record != 3 || w.ended != 4 || w.rounds != 2 {
		t.Errorf("%d records, revocations up to %d in %d rounds: %q", w.record, w.ended, w.rounds, wrong)
	}
}

func TestWatcherFindsWhatFeedsMustNotDo(t *testing.T) {
	for want, plant := range map[string]func(*Watcher){
		"shows Seq 3 behind 1": func(w *Watcher) { w.follow([]driver.Record{{Seq: 1}, {Seq: 3}}) },
		"shows Seq 1 behind 1": func(w *Watcher) { w.follow([]driver.Record{{Seq: 1}, {Seq: 1}}) },
		"show Seq 2 behind 3": func(w *Watcher) {
			w.heed([]driver.Revocation{{Seq: 1}, {Seq: 3}, {Seq: 2}})
		},
		"with Seq 2 showed only when 3 had":    func(w *Watcher) { w.heed([]driver.Revocation{{Seq: 1}, {Seq: 3}}) },
		"audit trail ends at Seq 3, and 4 was": func(w *Watcher) { w.record = 4 },
		"the revocations end at Seq 3, and 9 was " +
			"": func(w *Watcher) { w.heed([]driver.Revocation{{Seq: 1}, {Seq: 2}, {Seq: 3}, {Seq: 9}}) },
	} {
		w := fed(t)
		plant(w)
		wrong, err := w.Check(t.Context())
		must(t, err)
		if found := strings.Join(wrong, "\n"); !strings.Contains(found, want) || len(wrong) != 1 {
			t.Errorf("the check says %q, want one violation with %q", found, want)
		}
	}
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
