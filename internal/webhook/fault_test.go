package webhook

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/jobs"
)

// The store fails at its k-th call, for every k, before or after the call was done, and
// stays away for some more calls.
func TestStoreFailuresLoseNothing(t *testing.T) {
	for _, done := range []bool{false, true} {
		for _, times := range []int{1, 3, 12} {
			failed := true
			for k := 1; failed; k++ {
				synctest.Test(t, func(t *testing.T) { failed = failsAt(t, k, times, done) })
			}
		}
	}
}

func failsAt(t *testing.T, k, times int, done bool) (failed bool) {
	h := built(t)
	calls := 0
	hook := func(string) error {
		if calls++; calls >= k && calls < k+times {
			failed = true
			return errAway
		}
		return nil
	}
	store := &faulty{Store: h.store, before: hook}
	if done {
		store.before, store.after = nil, hook
	}
	first := true
	h.answer = func(c call, _ *http.Request) (*http.Response, error) {
		if c.event == "e2" && first {
			first = false
			return events(http.StatusInternalServerError), nil
		}
		return events(http.StatusOK), nil
	}
	h.change("m", "e1", "e2")
	s := h.sender(func(c *Config) { c.Store = store })
	time.Sleep(time.Second)
	h.change("m", "e3")
	s.Wake()
	time.Sleep(10 * time.Minute)
	h.close(s)
	h.wantQueued("m", 0)
	var order []string
	ids := map[string]string{}
	for _, c := range h.got() {
		if len(order) == 0 || order[len(order)-1] != c.event {
			order = append(order, c.event)
		}
		if id, again := ids[c.event]; again && id != c.id {
			t.Errorf("call %d fails %d times, done %t: %s came with two ids", k, times, done, c.event)
		}
		ids[c.event] = c.id
	}
	if got := strings.Join(order, " "); got != "e1 e2 e3" {
		t.Errorf("call %d fails %d times, done %t: %s arrived, want e1 e2 e3", k, times, done, h.events())
	}
	if n := len(h.got()); n != 4 && times < 12 || n > 5 { // a trouble longer than a lease may send one again
		t.Errorf("call %d fails %d times, done %t: %d attempts, want 4", k, times, done, n)
	}
	return failed
}

func TestFailingStoreIsRetriedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		store := &faulty{Store: h.store, before: func(string) error { return errAway }}
		s := h.sender(func(c *Config) { c.Store = store })
		defer h.close(s)
		for range 3600 {
			time.Sleep(time.Second)
			s.Wake()
		}
		if n := store.looks(); n < 350 || n > 375 {
			t.Errorf("%d calls in an hour, want about one in 10 s", n)
		}
		h.change("m", "e1")
		store.set(nil, nil)
		time.Sleep(jobs.LongWait)
		synctest.Wait()
		h.wantArrived("e1")
		store.set(func(string) error { return errAway }, nil)
		s.Wake()
		synctest.Wait()
		before := store.looks()
		time.Sleep(jobs.FirstWait + 2*jobs.FirstWait)
		synctest.Wait()
		if n := store.looks() - before; n != 2 {
			t.Errorf("%d more calls after a new failure, want 2: the pauses begin anew", n)
		}
		store.set(nil, nil)
		if log := h.log.String(); strings.Count(log, "the store fails") != 2 || strings.Count(log, "delivered again") != 1 {
			t.Errorf("the log tells it otherwise than once for each trouble: %s", log)
		}
	})
}

func TestWriteThatHangsIsRetried(t *testing.T) {
	for _, method := range []string{"due", "save"} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.change("m", "e1")
			s := h.sender(func(c *Config) { c.Store = hung{h.store, method} })
			time.Sleep(jobs.LongWait)
			synctest.Wait()
			if !strings.Contains(h.log.String(), "the store fails") {
				t.Errorf("%s hangs: after %v the log says %q", method, jobs.LongWait, h.log.String())
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s.Close(ctx)
		})
	}
}
