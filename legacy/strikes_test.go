package legacy

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// A flood of names shares one count; whoever was counted before keeps their own.
func TestGuessersPastTheLimitShareOneCount(t *testing.T) {
	s := strikes{known: map[striker][]time.Time{}}
	now := time.Unix(1700000000, 0)
	first := newStriker(netip.MustParseAddr("192.0.2.1"), "1000")
	for i := range strikeRoom {
		s.strike(newStriker(first.address, fmt.Sprint(i)), now)
	}
	late := newStriker(first.address, "late")
	for range strikeLimit {
		if err := s.check(late, now); err != nil {
			t.Fatalf("check = %v before the shared count is full", err)
		}
		s.strike(newStriker(first.address, "another"), now)
	}
	if s.check(late, now) == nil {
		t.Error("one who is unknown is not stopped by the others' guesses")
	}
	if err := s.check(first, now); err != nil {
		t.Errorf("one who is known is stopped by them: %v", err)
	}
	if len(s.known) != strikeRoom {
		t.Errorf("%d are remembered, want %d", len(s.known), strikeRoom)
	}
	s.strike(late, now.Add(strikeWindow))
	if err := s.check(late, now.Add(strikeWindow)); err != nil || len(s.known) != 1 {
		t.Errorf("a minute later %d are remembered and check = %v, want one and no error", len(s.known), err)
	}
}

func TestALongNameIsCutBeforeItIsRemembered(t *testing.T) {
	if got := newStriker(netip.Addr{}, string(make([]byte, 1<<16))); len(got.appID) != 64 {
		t.Errorf("%d bytes are remembered, want 64", len(got.appID))
	}
}
