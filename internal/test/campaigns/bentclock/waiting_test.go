package bentclock

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/keystile/keystile/internal/test/campaigns/overlay"
	"github.com/keystile/keystile/internal/test/serving"
)

// askForCode asks for a code by mail, and reports whether one may be sent.
func (h *fixture) askForCode() bool {
	h.t.Helper()
	a, err := h.Post("/oauth/signin/email", url.Values{"address": {"somebody@example.com"}})
	h.must(err)
	if a.Status != http.StatusSeeOther && a.Status != http.StatusTooManyRequests {
		h.t.Fatalf("asking for a code is answered %v", a)
	}
	return a.Status == http.StatusSeeOther
}

// asksAgain: a mail that was asked for while the clock was ahead keeps nobody waiting later.
func (h *fixture) asksAgain(by time.Duration, live bool) []error {
	h.t.Helper()
	h.bend(by, live)
	h.want("while it is ahead: a first code is refused", h.askForCode())
	h.want("while it is ahead: a second code is sent at once", !h.askForCode())
	h.bend(0, live)
	h.want("right again: a code is refused", h.askForCode())
	h.want("right again: a second code is sent at once", !h.askForCode())
	return h.failed
}

// receiver is told of capabilities, and refuses to listen as long as it is told to.
type receiver struct {
	*httptest.Server
	deaf atomic.Bool
	came chan string // the types of events; those it refused begin with "refused "
}

func newReceiver(t *testing.T) *receiver {
	r := &receiver{came: make(chan string, 100)}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		var event struct{ Type string }
		json.NewDecoder(q.Body).Decode(&event)
		if r.deaf.Load() {
			w.WriteHeader(http.StatusServiceUnavailable)
			event.Type = "refused " + event.Type
		}
		r.came <- event.Type
	}))
	t.Cleanup(r.Close)
	return r
}

// register sends a revision of the capability.
func (h *fixture) register(r *receiver, revision int) {
	h.t.Helper()
	h.must(h.SignIn())
	a, err := h.PostJSON("/api/console/capabilities/register", fmt.Sprintf(
		`{"member":"told","upstream_url":"http://127.0.0.1:1","webhook_url":%q,"tools_static":[{"name":"r%d","httpMethod":"get","path":"/x"}]}`, r.URL, revision))
	h.must(err)
	if a.Status != http.StatusOK {
		h.t.Fatalf("a registration is answered %v", a)
	}
}

// goesOn: what could not be delivered while the clock was ahead is delivered when it is right
// again, and what happened since behind it.
func (h *fixture) goesOn(by, patience time.Duration) []error {
	h.t.Helper()
	r := newReceiver(h.t)
	r.deaf.Store(true)
	h.bend(by, true)
	h.register(r, 1)
	h.comes(r, "refused capability.registered", serving.Patience)
	h.stop()
	r.deaf.Store(false) // from the first attempt of the next life on
	h.bend(0, false)
	h.register(r, 2)
	for _, want := range []string{"capability.registered", "capability.updated"} {
		if !h.comes(r, want, patience) {
			break
		}
	}
	return h.failed
}

// comes waits for an event of a type. Before it, refused ones may have come again.
func (h *fixture) comes(r *receiver, want string, patience time.Duration) bool {
	h.t.Helper()
	end := time.After(patience)
	for {
		select {
		case came := <-r.came:
			if strings.HasPrefix(came, "refused ") && came != want {
				continue
			}
			h.want(fmt.Sprintf("the receiver is told %s, want %s", came, want), came == want)
			return came == want
		case <-end:
			h.want("the receiver is not told "+want, false)
			return false
		}
	}
}

func TestMailThatWasAskedForWhileTheClockWasAheadKeepsNobodyWaiting(t *testing.T) {
	binary := program(t)
	for _, by := range []time.Duration{2 * time.Hour, 400 * day} {
		for _, live := range []bool{true, false} {
			t.Run(fmt.Sprintf("%v, live %t", by, live), func(t *testing.T) {
				t.Parallel()
				for _, err := range open(t, binary).asksAgain(by, live) {
					t.Error(err)
				}
			})
		}
	}
}

func TestWebhookThatWasPutOffWhileTheClockWasAheadHoldsNothingUp(t *testing.T) {
	for _, err := range open(t, program(t)).goesOn(400*day, serving.Patience) {
		t.Error(err)
	}
}

// Without what was mended, the tests above fail.
func TestQueueFindsWhatWaitsForAClockThatWasAhead(t *testing.T) {
	program(t)
	for name, p := range map[string]struct {
		fault overlay.Change
		find  func(*fixture) []error
	}{
		"a mail of the future counts": {
			overlay.Change{File: "oauth/signin/internal/otp/count.go", Old: "ago < time.Hour && ago >= -clockSkew",
				New: "ago < time.Hour"},
			func(h *fixture) []error { return h.asksAgain(2*time.Hour, false) },
		},
		"a delivery waits for any time": {
			overlay.Change{File: "storage/internal/document/due.go", Old: "wait > 0 && wait <= maxDeferral", New: "wait > 0"},
			func(h *fixture) []error { return h.goesOn(400*day, 3*time.Second) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			binary, err := Build(t.Context(), t.TempDir(), oftener, p.fault)
			if err != nil {
				t.Fatal(err)
			}
			failed := p.find(open(t, binary))
			if len(failed) == 0 {
				t.Fatal("it is not found")
			}
			t.Logf("note: found: %v", failed[0])
		})
	}
}
