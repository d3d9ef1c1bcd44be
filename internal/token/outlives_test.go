package token

import (
	"testing"
	"time"
)

func TestRevocationIsKeptForTheLongestLifetimeAndTheErrorOfAClock(t *testing.T) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.FixedZone("", 3600))
	if got := Outlives(at, 5*time.Minute, 24*time.Hour, time.Hour); !got.Equal(at.Add(24*time.Hour+time.Minute)) ||
		got.Location() != time.UTC {
		t.Errorf("it is kept until %v", got)
	}
}
