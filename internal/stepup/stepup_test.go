package stepup

import (
	"testing"
	"time"
)

// Entry 57 of the decisions.
func TestASignInIsFreshForTenMinutes(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{
		0: true, MaxAge: true, MaxAge + 1: false, 24 * time.Hour: false,
		-time.Minute: true, -time.Minute - 1: false, -time.Hour: false,
	} {
		if got := Fresh(now.Add(-age), now); got != want {
			t.Errorf("%v after a sign-in it is fresh: %t, want %t", age, got, want)
		}
	}
	if Fresh(time.Time{}, now) {
		t.Error("a session that does not know its sign-in is fresh")
	}
}
