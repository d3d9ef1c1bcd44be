package limit

import (
	"testing"
	"time"
)

// Decision 24: the charge moves from the address to the application.
func TestCancelledRequestWasNeverMade(t *testing.T) {
	l := open(t, Config{})
	for range 1000 {
		l.Cancel(spend(t, l, "a", 1, 1, start)[0])
	}
	r := spend(t, l, "a", 3, 3, start)
	l.Cancel(r[1])
	if v := l.Allow("a", 3, start); !v.OK || v.Remaining != 0 {
		t.Errorf("after one of three is cancelled: %+v, want one more", v)
	}
	wantRefused(t, l, "a", 3, start)
}

func TestCancelTakesBackExactlyThatRequest(t *testing.T) {
	for cancelled, waits := range [][]time.Duration{{20, 30, 40}, {10, 30, 40}, {10, 20, 40}, {10, 20, 30}} {
		l := open(t, Config{})
		var r []Receipt
		for i := range 4 {
			r = append(r, spend(t, l, "a", 1, 4, start.Add(time.Duration(10+10*i)*time.Second))...)
		}
		l.Cancel(r[cancelled])
		for i, wait := range waits {
			v := wantRefused(t, l, "a", 3-i, start.Add(50*time.Second))
			if want := (10 + waits[i]) * time.Second; v.RetryAfter != want {
				t.Errorf("request %d cancelled, limit %d: RetryAfter = %v, want %v: %v s is gone", cancelled, 3-i, v.RetryAfter,
					want, wait)
			}
		}
	}
}

func TestCancellingTwiceIsCancellingOnce(t *testing.T) {
	l := open(t, Config{})
	for _, n := range []int{1, 2, 5} {
		at := start.Add(time.Duration(n) * time.Hour)
		for _, r := range spend(t, l, "a", n, n, at) {
			l.Cancel(r)
			spend(t, l, "a", 1, n, at) // at the same nanosecond as the one that is gone
			l.Cancel(r)
			wantRefused(t, l, "a", n, at)
		}
	}
}

func TestCancellingWhatHasLeftHasNoEffect(t *testing.T) {
	l := open(t, Config{MaxKeys: 2})
	old := spend(t, l, "a", 3, 3, start)
	spend(t, l, "a", 3, 3, start.Add(time.Minute))
	for _, r := range old {
		l.Cancel(r)
	}
	wantRefused(t, l, "a", 3, start.Add(time.Minute))
	// Its key has gone too.
	spend(t, l, "b", 1, 1, start.Add(time.Hour))
	for _, r := range old {
		l.Cancel(r)
	}
	wantRefused(t, l, "b", 1, start.Add(time.Hour))
}

func TestCancelNeedsTheReceiptOfTheRequest(t *testing.T) {
	l, other := open(t, Config{}), open(t, Config{})
	spend(t, l, "a", 1, 1, start)
	l.Cancel(Receipt{})
	l.Cancel(spend(t, l, "b", 1, 1, start)[0])
	l.Cancel(l.Allow("a", Unlimited, start).Receipt)
	l.Cancel(wantRefused(t, l, "a", 1, start).Receipt)
	l.Cancel(spend(t, other, "a", 1, 1, start)[0])
	wantRefused(t, l, "a", 1, start)
}
