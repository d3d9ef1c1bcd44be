package webhook

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

func TestEventsOfACapabilityArriveInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		failures := 2
		h.answer = func(c call, _ *http.Request) (*http.Response, error) {
			if c.event == "e1" && failures > 0 {
				failures--
				return events(http.StatusInternalServerError), nil
			}
			return events(http.StatusOK), nil
		}
		h.change("m", "e1", "e2", "e3")
		h.change("other", "x1")
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		h.change("m", "e4")
		s.Wake()
		synctest.Wait()
		if got := h.events(); got != "e1 x1" && got != "x1 e1" {
			t.Errorf("%q arrived, want e1, and x1 which does not wait for it", got)
		}
		time.Sleep(5 * time.Second * 11 / 10)
		synctest.Wait()
		time.Sleep(30 * time.Second * 11 / 10) // and not a lease longer
		synctest.Wait()
		if got := h.events(); !strings.HasSuffix(got, "1 e1 e1 e2 e3 e4") {
			t.Errorf("%q arrived, want e2, e3, e4 behind the last e1", got)
		}
		h.wantQueued("m", 0)
	})
}

func TestNextEventFollowsOneThatWasGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = func(c call, _ *http.Request) (*http.Response, error) {
			if c.event == "e1" {
				return events(http.StatusInternalServerError), nil
			}
			return events(http.StatusOK), nil
		}
		h.change("m", "e1", "e2")
		s := h.sender()
		defer h.close(s)
		time.Sleep(40 * time.Hour)
		synctest.Wait()
		h.wantArrived(strings.Repeat("e1 ", 9) + "e2")
		calls := h.got()
		if late := calls[9].at.Sub(calls[8].at); late != 0 {
			t.Errorf("e2 came %v after e1 was given up, want at once", late)
		}
	})
}

// Three lines, more than a page, wait for what another process has under a lease.
func TestDeliveriesThatWaitDoNotHoldUpOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		for _, m := range []string{"m1", "m2", "m3"} {
			for range storage.MaxWaiting {
				h.change(m, "e")
			}
			first := h.queued(m)[0]
			first.NextAt = time.Now().Add(lease)
			if _, err := h.store.SaveDelivery(t.Context(), first); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		h.change("other", "x")
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		h.wantArrived("x")
		for _, d := range h.queued("m1") {
			if !d.NextAt.Equal(h.queued("m1")[0].NextAt) {
				t.Errorf("one who waits is due at %v, want it to be when the first is", d.NextAt)
			}
		}
	})
}

// Another sender acts between the looking and the taking.
func TestDeliveryTakenByAnotherSenderIsNotSent(t *testing.T) {
	for method, act := range map[string]func(*fixture, storage.Delivery) error{
		"first": func(h *fixture, d storage.Delivery) error { return h.store.DeleteDelivery(h.Context(), d) },
		"save": func(h *fixture, d storage.Delivery) error {
			d.NextAt = time.Now().Add(lease)
			_, err := h.store.SaveDelivery(h.Context(), d)
			return err
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.change("m", "e1")
			d, once := h.queued("m")[0], true
			store := &faulty{Store: h.store, before: func(at string) (err error) {
				if at == method && once {
					once, err = false, act(h, d)
				}
				return err
			}}
			s := h.sender(func(c *Config) { c.Store = store })
			time.Sleep(lease - 1)
			synctest.Wait()
			h.close(s)
			h.wantArrived("")
			if once || h.log.String() != "" {
				t.Errorf("%s: came first %t, and the log says %q; want nothing to tell", method, !once, h.log.String())
			}
		})
	}
}

func TestDeliveryIsSentOnceByManySendersOverOneStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = func(call, *http.Request) (*http.Response, error) {
			time.Sleep(time.Second)
			return events(http.StatusOK), nil
		}
		for i := range 40 {
			h.change(fmt.Sprint("m", i%20), fmt.Sprint("e", i))
		}
		var senders []*Sender
		for range 4 {
			senders = append(senders, h.sender())
		}
		time.Sleep(2 * lease)
		synctest.Wait()
		seen := map[string]bool{}
		for _, c := range h.got() {
			if seen[c.event] {
				t.Errorf("%s arrived twice", c.event)
			}
			seen[c.event] = true
		}
		if len(seen) != 40 || h.most < 5 {
			t.Errorf("%d events arrived, up to %d at a time; want 40, from several senders", len(seen), h.most)
		}
		for _, s := range senders {
			h.close(s)
		}
		if strings.Contains(h.log.String(), "the store fails") {
			t.Error("a sender takes another's speed for trouble")
		}
	})
}
