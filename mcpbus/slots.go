package mcpbus

import "sync"

// slots limits how many operations run at a time for each key. Idle keys take no memory.
type slots struct {
	limit int
	mu    sync.Mutex
	taken map[string]int
}

// acquire takes a slot and reports whether one was free.
func (s *slots) acquire(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] >= s.limit {
		return false
	}
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	s.taken[key]++
	return true
}

func (s *slots) release(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key]--; s.taken[key] == 0 {
		delete(s.taken, key)
	}
}
