package stepup

import (
	"testing"
	"time"
)

// Decision 57: ten minutes, and no clock that ran ahead makes them longer.
func TestASignInIsFreshForTenMinutes(t *testing.T) {
	now := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	for age, want := range map[time.Duration]bool{
		0: true, 10 * time.Minute: true, 10*time.Minute + 1: false, 24 * time.Hour: false,
		-time.Minute: true, -time.Minute - 1: false, -24 * time.Hour: false,
	} {
		if Fresh(now.Add(-age), now) != want {
			t.Errorf("a sign-in %v ago is fresh: %v", age, !want)
		}
	}
	if Fresh(time.Time{}, now) {
		t.Error("a session without a time of its sign-in is fresh")
	}
}
