package webhook

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestCloseWaitsForWhatIsUnderWayAndBeginsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = func(call, *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Second)
			return events(http.StatusOK), nil
		}
		for i := range 6 {
			h.change(fmt.Sprint("m", i), "e")
		}
		s := h.sender()
		synctest.Wait()
		began := time.Now()
		h.close(s)
		h.close(s)
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("Close() took %v, want 10 s", took)
		}
		s.Wake()
		time.Sleep(time.Hour)
		h.wantArrived("e e e e")
		if due, err := h.store.DueDeliveries(t.Context(), time.Now(), 10); err != nil || len(due) != 2 {
			t.Errorf("%d deliveries are due, %v, want the 2 that were not begun", len(due), err)
		}
	})
}

func TestWebhookBeginsNothingAfterClose(t *testing.T) {
	for range 10 { // select picks any of what is ready
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.change("m", "e1")
			slow := &faulty{Store: h.store, before: func(string) error { time.Sleep(time.Second); return nil }}
			s := h.sender(func(c *Config) { c.Store = slow })
			synctest.Wait()
			h.close(s)
			h.wantArrived("")
		})
	}
}

func TestCloseCutsOffWhatTakesTooLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = func(c call, r *http.Request) (*http.Response, error) {
			defer time.Sleep(time.Second) // to heed the end
			return hangs(c, r)
		}
		h.change("m", "e1")
		s := h.sender()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 2*time.Second {
			t.Errorf("Close() = %v after %v, want the context's error when all has ended, after 2 s", err, time.Since(began))
		}
		if h.log.String() != "" {
			t.Errorf("the log says %q, but nobody knows what came of it", h.log.String())
		}
		h.answer = nil
		s = h.sender()
		defer h.close(s)
		time.Sleep(lease - 2*time.Second)
		synctest.Wait()
		calls := h.got()
		if len(calls) != 2 || calls[0].id != calls[1].id || calls[1].at.Sub(began) != lease {
			t.Errorf("%+v arrived, want e1 again when its lease has ended", calls)
		}
		h.wantQueued("m", 0)
	})
}

func TestCloseGivesUpAStoreThatHangs(t *testing.T) {
	for _, method := range []string{"due", "save", "delete"} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.change("m", "e1")
			s := h.sender(func(c *Config) { c.Store = hung{h.store, method} })
			synctest.Wait()
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			began := time.Now()
			if err := s.Close(ctx); err == nil || time.Since(began) != time.Second {
				t.Errorf("%s hangs: Close() = %v after %v, want an error after 1 s", method, err, time.Since(began))
			}
			if strings.Contains(h.log.String(), "the store fails") {
				t.Errorf("%s hangs: Close() is logged as trouble", method)
			}
		})
	}
}
