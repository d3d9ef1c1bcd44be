package signin

import (
	"testing"
	"time"
)

// Somebody has asked for a code while the clock was a year ahead; then it was set right.
func TestAMailOfTheFutureKeepsNobodyWaiting(t *testing.T) {
	now := time.Date(2026, 5, 20, 10, 15, 0, 0, time.UTC)
	for _, c := range []struct {
		ahead time.Duration
		want  time.Duration
	}{
		{400 * 24 * time.Hour, 0}, {2 * time.Minute, 0},
		{30 * time.Second, 90 * time.Second}, // another machine's clock
		{-30 * time.Second, 30 * time.Second},
		{-time.Minute, 0},
	} {
		text := mailings{{now.Add(c.ahead), "192.0.2.1/32"}}.String()
		if got := mailsIn(text, now).wait("192.0.2.1/32", now); got != c.want {
			t.Errorf("with a mail %v ahead, the next one waits %v, want %v", c.ahead, got, c.want)
		}
	}
}
