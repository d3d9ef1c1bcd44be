package stepup_test

import (
	"testing"
	"time"

	"github.com/keystile/keystile/internal/stepup"
)

func TestASignInIsFreshForTenMinutesAndNeverBeforeItWasMade(t *testing.T) {
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		auth  time.Time
		fresh bool
	}{
		"just now":                   {now, true},
		"at the bound":               {now.Add(-stepup.MaxAge), true},
		"past the bound":             {now.Add(-stepup.MaxAge - time.Nanosecond), false},
		"yesterday":                  {now.AddDate(0, 0, -1), false},
		"another node's fast clock":  {now.Add(30 * time.Second), true},
		"a clock that was wrong":     {now.Add(2 * time.Minute), false},
		"a year in the future":       {now.AddDate(1, 0, 0), false},
		"no sign-in":                 {time.Time{}, false},
		"longer ago than a Duration": {now.AddDate(-400, 0, 0), false},
		"further than a Duration":    {now.AddDate(400, 0, 0), false},
	} {
		if got := stepup.Fresh(c.auth, now); got != c.fresh {
			t.Errorf("%s: fresh = %v, want %v", name, got, c.fresh)
		}
	}
	if stepup.MaxAge != 10*time.Minute {
		t.Errorf("MaxAge = %v, want 10m", stepup.MaxAge)
	}
}
