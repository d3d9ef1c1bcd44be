package limit

import (
	"testing"
	"time"
)

func TestTimeOnlyGoesForward(t *testing.T) {
	l := open(t, Config{MaxKeys: 1})
	spend(t, l, "a", 1, 2, start)
	spend(t, l, "a", 1, 2, start.Add(10*time.Second))
	// A request that is late comes at the latest time seen, when nothing had left yet; the wait is
	// told on the clock of the caller.
	if v := wantRefused(t, l, "a", 2, start.Add(-time.Hour)); v.RetryAfter != time.Hour+time.Minute {
		t.Errorf("RetryAfter = %v an hour ago, want %v", v.RetryAfter, time.Hour+time.Minute)
	}
	spend(t, l, "a", 1, 2, start.Add(time.Minute))
	wantRefused(t, l, "a", 2, start.Add(time.Minute-1))
	// The first has left and stays away, though 10 s are in the window of a late request.
	wantRefused(t, l, "a", 2, start.Add(61*time.Second))
	spend(t, l, "a", 1, 2, start.Add(70*time.Second))
}

func TestLateRequestStaysAsLongAsTheLatest(t *testing.T) {
	l := open(t, Config{})
	spend(t, l, "a", 1, 2, start.Add(10*time.Second))
	spend(t, l, "a", 1, 2, start)
	if v := wantRefused(t, l, "a", 2, start.Add(time.Minute)); v.RetryAfter != 10*time.Second {
		t.Errorf("RetryAfter = %v, want the 10 s until both leave", v.RetryAfter)
	}
	spend(t, l, "a", 2, 2, start.Add(70*time.Second))
}

func TestLimitHoldsAtAnyTime(t *testing.T) {
	far := time.Duration(farthest)
	for _, at := range []time.Time{{}, start.AddDate(-3000, 0, 0), start, start.AddDate(3000, 0, 0)} {
		l := open(t, Config{})
		spend(t, l, "a", 2, 2, at)
		if v := wantRefused(t, l, "a", 2, at); v.RetryAfter != time.Minute {
			t.Errorf("at %v: RetryAfter = %v, want a minute", at, v.RetryAfter)
		}
		if v := wantRefused(t, l, "a", 2, time.Time{}); v.RetryAfter < time.Minute || v.RetryAfter > 2*far+time.Minute {
			t.Errorf("after %v, at the zero time: RetryAfter = %v", at, v.RetryAfter)
		}
	}
}
