package webhook

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/keystile/keystile/internal/jobs"
	"github.com/keystile/keystile/internal/test/webhooktest"
	"github.com/keystile/keystile/storage"
)

func TestEventIsSentAtOnceAndThenForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		s := h.sender()
		defer h.close(s)
		time.Sleep(10 * time.Second)
		h.change("m", "e1")
		id := h.queued("m")[0].ID
		s.Wake()
		synctest.Wait()
		h.wantQueued("m", 0)
		calls := h.got()
		if len(calls) != 1 || calls[0].id != id || calls[0].url != "https://hook.example/m?key=URL-SECRET" {
			t.Fatalf("%+v arrived, want %s once", calls, id)
		}
		header := calls[0].header
		if header.Get("Content-Type") != "application/json" || header.Get("User-Agent") != "keystile" {
			t.Errorf("it came with %v", header)
		}
		if err := webhooktest.Verify(hookSecret, header, []byte(`"e1"`)); err != nil {
			t.Errorf("Verify() = %v, want no error", err)
		}
	})
}

func TestWebhookIsUnsignedWithoutASecret(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		d := storage.Delivery{Event: "e1", URL: "https://hook.example/", Payload: []byte(`"e1"`)}
		if _, err := h.store.SaveCapability(t.Context(), storage.Capability{Member: "m"}, nil, d); err != nil {
			t.Fatal(err)
		}
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		if calls := h.got(); len(calls) != 1 || calls[0].id == "" || calls[0].header.Values("webhook-signature") != nil {
			t.Errorf("%+v arrived, want it once and without webhook-signature", calls)
		}
	})
}

func TestSenderSendsWhatAnEarlierProcessLeftAtTheStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		for i := range 2*jobs.PageSize + 1 {
			h.change(fmt.Sprint("m", i), "e")
		}
		s := h.sender()
		defer h.close(s)
		synctest.Wait()
		if n := len(h.got()); n != 2*jobs.PageSize+1 {
			t.Errorf("%d arrived, want %d", n, 2*jobs.PageSize+1)
		}
	})
}

func TestSenderFindsWhatAnotherProcessLeftWithinEvery(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		s := h.sender(func(c *Config) { c.Every = time.Hour })
		defer h.close(s)
		synctest.Wait()
		h.change("m", "e1")
		time.Sleep(time.Hour - 1)
		synctest.Wait()
		h.wantArrived("")
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		h.wantArrived("e1")
	})
}

func TestFailureIsRepeatedNineTimesOver32Hours(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = always(http.StatusTeapot)
		h.change("m", "e1")
		s := h.sender()
		defer h.close(s)
		time.Sleep(40 * time.Hour)
		synctest.Wait()
		calls := h.got()
		if len(calls) != 9 {
			t.Fatalf("%d attempts, want 9", len(calls))
		}
		for i, c := range calls {
			if c.id != calls[0].id || c.header.Get("webhook-timestamp") != strconv.FormatInt(c.at.Unix(), 10) {
				t.Errorf("attempt %d has the id %s and the time %s", i+1, c.id, c.header.Get("webhook-timestamp"))
			}
			if i == 0 {
				continue
			}
			if p, waited := pauses[i-1], c.at.Sub(calls[i-1].at); waited < p || waited > p+p/10 {
				t.Errorf("attempt %d came after %v, want %v and up to a tenth more", i+1, waited, p)
			}
		}
		list := h.queued("m")
		if len(list) != 1 || list[0].Waiting() || list[0].Attempts != 9 || list[0].LastStatus != http.StatusTeapot ||
			list[0].LastError != "the answer was 418" {
			t.Errorf("in the store: %+v, want it given up after 9 attempts", list)
		}
		if n := strings.Count(h.log.String(), "given up"); n != 1 {
			t.Errorf("the log says %d times that it was given up, want once", n)
		}
	})
}

func TestReceiverIsLeftAloneAsLongAsItAsks(t *testing.T) {
	for asked, want := range map[string]time.Duration{"3600": time.Hour, "1000000": 14 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			h := built(t)
			h.answer = always(http.StatusServiceUnavailable, "Retry-After", asked)
			h.change("m", "e1")
			s := h.sender()
			defer h.close(s)
			time.Sleep(want - 1)
			synctest.Wait()
			if n := len(h.got()); n != 1 {
				t.Errorf("Retry-After %s: %d attempts before %v, want 1", asked, n, want)
			}
			time.Sleep(time.Nanosecond)
			synctest.Wait()
			if n := len(h.got()); n != 2 {
				t.Errorf("Retry-After %s: %d attempts after %v, want 2", asked, n, want)
			}
		})
	}
}

func TestEventThatIsNotWantedIsDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := built(t)
		h.answer = always(http.StatusGone)
		h.change("m", "e1")
		s := h.sender()
		defer h.close(s)
		time.Sleep(time.Hour)
		synctest.Wait()
		h.wantArrived("e1")
		h.wantQueued("m", 0)
		if !strings.Contains(h.log.String(), "410 Gone") {
			t.Error("the log does not tell of it")
		}
	})
}
