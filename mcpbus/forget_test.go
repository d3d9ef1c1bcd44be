package mcpbus

import (
	"strconv"
	"sync"
	"testing"
)

// What is kept of a client goes with it: these are the only maps that clients fill.
func TestWhatIsOverIsForgotten(t *testing.T) {
	var l listeners
	var work sync.WaitGroup
	for range 2000 {
		news, ok := l.join(&work)
		if !ok {
			t.Fatal("it is closed")
		}
		l.leave(news, &work)
	}
	work.Wait()
	if len(l.all) != 0 {
		t.Errorf("%d streams are known after all have ended", len(l.all))
	}
	s := slots{most: 2}
	for i := range 2000 {
		key := strconv.Itoa(i)
		if first, second, third := s.take(key), s.take(key), s.take(key); !first || !second || third {
			t.Fatalf("of 2 slots for %s: %t, %t, %t", key, first, second, third)
		}
		s.give(key)
		s.give(key)
	}
	if len(s.taken) != 0 {
		t.Errorf("%d callers are known after all their calls are over", len(s.taken))
	}
}
