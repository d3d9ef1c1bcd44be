package webhook

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/storage"
)

// Whether a delivery was made is asked of the receiver: here the process dies after the
// answer, before it can say so to the store.
func TestDeliveryThatIsNotKnownToBeMadeIsMadeAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.change("m", "e1", "e2")
		store := &faulty{Store: h.store, before: func(method string) error {
			if method == "delete" {
				return errAway
			}
			return nil
		}}
		s := h.sender(func(c *Config) { c.Store = store })
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		s.Close(ctx)
		h.wantArrived("e1")
		h.wantQueued("m", 2)

		s = h.sender()
		defer h.close(s)
		time.Sleep(lease)
		synctest.Wait()
		h.wantArrived("e1 e1 e2")
		if calls := h.got(); calls[0].id != calls[1].id {
			t.Errorf("it came as %s, then as %s; the receiver cannot tell it is the same", calls[0].id, calls[1].id)
		}
		h.wantQueued("m", 0)
	})
}

func TestOutcomeIsRetriedAsLongAsTheLeaseLasts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.change("m", "e1")
		away := time.Now().Add(lease - 15*time.Second)
		store := &faulty{Store: h.store, before: func(method string) error {
			if method == "delete" && time.Now().Before(away) {
				return errAway
			}
			return nil
		}}
		s := h.sender(func(c *Config) { c.Store = store })
		time.Sleep(10 * lease)
		h.close(s)
		h.wantArrived("e1")
		h.wantQueued("m", 0)
	})
}

func TestOutcomeThatCannotBeStoredIsForgottenWithItsLease(t *testing.T) {
	for name, store := range map[string]func(Store) Store{
		"fails": func(s Store) Store {
			return &faulty{Store: s, before: func(method string) error {
				if method == "delete" {
					return errAway
				}
				return nil
			}}
		},
		"hangs": func(s Store) Store { return hung{s, "delete"} },
	} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.change("m", "e1")
			s := h.sender(func(c *Config) { c.Store = store(h.store) })
			time.Sleep(lease + lease/2)
			h.wantArrived("e1 e1")
			if n := strings.Count(h.log.String(), "cannot be stored; it is sent again"); n != 1 {
				t.Errorf("%s: the log tells it %d times, want once, when the lease has ended", name, n)
			}
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s.Close(ctx)
		})
	}
}

func TestOutcomeThatNobodyWaitsForIsDroppedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = func(call, *http.Request) (*http.Response, error) { // the owner moves the webhook meanwhile
			return events(http.StatusOK), h.store.DeleteDelivery(h.Context(), h.queued("m")[0])
		}
		h.change("m", "e1")
		s := h.sender()
		synctest.Wait()
		if !strings.Contains(h.log.String(), "somebody else has taken it over") {
			t.Errorf("the log says %q, want that the outcome is not needed", h.log.String())
		}
		h.close(s)
		h.wantArrived("e1")
	})
}

func TestProcessThatDiesOfADeliveryGetsToTheEndOfItsAttempts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = hangs
		h.change("m", "e1")
		for range 20 {
			s := h.sender()
			time.Sleep(5 * time.Second) // amid the attempt
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			s.Close(ctx)
			if d := h.queued("m")[0]; d.Waiting() { // as if the lease were over
				d.NextAt = time.Now()
				if _, err := h.store.SaveDelivery(t.Context(), d); err != nil {
					t.Fatal(err)
				}
			}
		}
		if d := h.queued("m")[0]; d.Waiting() || d.Attempts != 9 || len(h.got()) != 9 {
			t.Errorf("after 20 lives: waiting %t, %d attempts counted, %d made; want it given up after 9", d.Waiting(),
				d.Attempts, len(h.got()))
		}
	})
}

func TestDeliveryThatHasExpiredIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.change("m", "e1")
		time.Sleep(storage.DeliveryLife)
		h.change("m", "e2")
		next := h.queued("m")[1]
		next.NextAt = time.Now().Add(30 * time.Minute)
		if _, err := h.store.SaveDelivery(t.Context(), next); err != nil {
			t.Fatal(err)
		}
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		h.wantArrived("e2")
		if list := h.queued("m"); len(list) != 1 || list[0].Waiting() || list[0].Event != "e1" ||
			list[0].LastError != "it could not be sent in time" {
			t.Errorf("in the store: %+v, want e1, given up", list)
		}
	})
}
