package webhook

import (
	"math/rand/v2"
	"net/http"
	"testing"
	"time"

	"github.com/keystile/keystile/storage"
)

// For every answer of a receiver, the next attempt is no sooner than the schedule says, no later
// than a tenth more or what Retry-After may ask for, and there are nine attempts.
func TestFailureKeepsTheSchedule(t *testing.T) {
	schedule := []time.Duration{
		5 * time.Second, 30 * time.Second, 5 * time.Minute, 30 * time.Minute,
		2 * time.Hour, 5 * time.Hour, 10 * time.Hour, 14 * time.Hour,
	}
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	spread := map[time.Duration]bool{}
	for range 5000 {
		o := outcome{status: 400 + rand.IntN(200), fault: "why", after: time.Duration(rand.Int64N(int64(40 * time.Hour)))}
		if rand.IntN(2) == 0 {
			o.after = 0
		}
		d := storage.Delivery{ID: "id", Attempts: 1 + rand.IntN(9), NextAt: now.Add(time.Minute),
			ExpiresAt: now.Add(storage.DeliveryLife)}
		got := o.failed(d, now)
		if got.LastStatus != o.status || got.LastError != "why" || got.Attempts != d.Attempts || got.ID != "id" {
			t.Fatalf("after %+v the delivery is %+v", o, got)
		}
		if got.Waiting() != (d.Attempts <= len(schedule)) {
			t.Fatalf("after %d attempts, waiting is %t", d.Attempts, got.Waiting())
		}
		if !got.Waiting() {
			if !got.GivenUpAt.Equal(now) || !got.ExpiresAt.Equal(now.Add(storage.DeliveryLife)) {
				t.Fatalf("given up at %v until %v", got.GivenUpAt, got.ExpiresAt)
			}
			continue
		}
		wait, least := got.NextAt.Sub(now), schedule[d.Attempts-1]
		most := max(least+least/10, min(o.after, 14*time.Hour))
		if wait < max(least, min(o.after, 14*time.Hour)) || wait > most {
			t.Fatalf("after %d attempts and Retry-After %v the pause is %v, want %v to %v", d.Attempts, o.after, wait, least,
				most)
		}
		if d.Attempts == 8 && o.after == 0 {
			spread[wait] = true
		}
	}
	if len(spread) < 50 {
		t.Errorf("%d different pauses: receivers that fail together are asked together", len(spread))
	}
}

func TestDeliveryIsGivenUpBeforeItExpiresUnseen(t *testing.T) {
	now := time.Now()
	d := storage.Delivery{Attempts: 1, ExpiresAt: now.Add(5 * time.Second)}
	if got := (outcome{status: 500}).failed(d, now); got.Waiting() || !got.ExpiresAt.After(d.ExpiresAt) {
		t.Errorf("waiting %t until %v; it would be swept before its next attempt", got.Waiting(), got.ExpiresAt)
	}
	d.ExpiresAt = now.Add(time.Minute)
	if got := (outcome{status: 500}).failed(d, now); !got.Waiting() || !got.ExpiresAt.Equal(d.ExpiresAt) {
		t.Errorf("waiting %t until %v, want it to wait as long as before", got.Waiting(), got.ExpiresAt)
	}
}

func TestRetryAfterIsReadFromTheAnswersItIsFor(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, c := range []struct {
		status int
		text   string
		want   time.Duration
	}{
		{429, "120", 2 * time.Minute},
		{503, " 7 ", 7 * time.Second},
		{503, "Sat, 01 Aug 2026 13:00:00 GMT", time.Hour},
		{503, "Sat, 01 Aug 2026 11:00:00 GMT", 0},
		{429, "18446744073709551615", 14 * time.Hour},
		{429, "99999999999999999999999", 0},
		{429, "-5", 0},
		{429, "soon", 0},
		{429, "", 0},
		{500, "120", 0},
		{301, "120", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.text)
		if got := retryAfter(c.status, h, now); got != c.want {
			t.Errorf("retryAfter(%d, %q) = %v, want %v", c.status, c.text, got, c.want)
		}
	}
}

func TestScheduleEndsWhatIsDeliveredOrRefusedForGood(t *testing.T) {
	for status, want := range map[int][2]bool{
		0: {false, false}, 199: {false, false}, 200: {true, true}, 204: {true, true}, 299: {true, true},
		300: {false, false}, 302: {false, false}, 404: {false, false}, 410: {false, true}, 500: {false, false},
	} {
		o := outcome{status: status}
		if got := [2]bool{o.delivered(), o.over()}; got != want {
			t.Errorf("%d: delivered, over = %v, want %v", status, got, want)
		}
	}
}
