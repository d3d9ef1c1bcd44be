package strikes

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// A flood of names shares one count; whoever was counted before keeps their own.
func TestGuessersPastTheLimitShareOneCount(t *testing.T) {
	var s Strikes
	now := time.Unix(1700000000, 0)
	first := By(netip.MustParseAddr("192.0.2.1"), "1000")
	for i := range strikeRoom {
		s.Count(By(first.address, fmt.Sprint(i)), now)
	}
	late := By(first.address, "late")
	for range strikeLimit {
		if wait := s.RetryAfter(late, now); wait != "" {
			t.Fatalf("RetryAfter = %s before the shared count is full", wait)
		}
		s.Count(By(first.address, "another"), now)
	}
	if s.RetryAfter(late, now) != "60" {
		t.Error("one who is unknown is not stopped by the others' guesses")
	}
	if wait := s.RetryAfter(first, now); wait != "" {
		t.Errorf("one who is known is stopped by them, for %s s", wait)
	}
	if len(s.known) != strikeRoom {
		t.Errorf("%d are remembered, want %d", len(s.known), strikeRoom)
	}
	s.Count(late, now.Add(strikeWindow))
	if wait := s.RetryAfter(late, now.Add(strikeWindow)); wait != "" || len(s.known) != 1 {
		t.Errorf("a minute later %d are remembered and RetryAfter = %q, want one and none", len(s.known), wait)
	}
}

func TestALongNameIsCutBeforeItIsRemembered(t *testing.T) {
	if got := By(netip.Addr{}, string(make([]byte, 1<<16))); len(got.clientID) != 64 {
		t.Errorf("%d bytes are remembered, want 64", len(got.clientID))
	}
}
