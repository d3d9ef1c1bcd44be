package token

import (
	"slices"
	"time"
)

// Outlives returns a time by which everything issued before at has expired, whichever of the
// lifetimes it has and whatever the error of a clock. A revocation that is kept until then misses
// nothing.
func Outlives(at time.Time, lifetimes ...time.Duration) time.Time {
	return at.Add(slices.Max(lifetimes) + Skew).UTC()
}
