package mcpbus

import (
	"strconv"
	"sync"
	"testing"
)

// The records of a client go with it: these are the only maps that clients fill.
func TestListenersThatAreOverAreForgotten(t *testing.T) {
	var l listeners
	var work sync.WaitGroup
	for range 2000 {
		news, ok := l.add(&work)
		if !ok {
			t.Fatal("it is closed")
		}
		l.remove(news, &work)
	}
	work.Wait()
	if len(l.all) != 0 {
		t.Errorf("%d streams are known after all have ended", len(l.all))
	}
	s := slots{limit: 2}
	for i := range 2000 {
		key := strconv.Itoa(i)
		if first, second, third := s.acquire(key), s.acquire(key), s.acquire(key); !first || !second || third {
			t.Fatalf("of 2 slots for %s: %t, %t, %t", key, first, second, third)
		}
		s.release(key)
		s.release(key)
	}
	if len(s.taken) != 0 {
		t.Errorf("%d callers are known after all their calls are over", len(s.taken))
	}
}
