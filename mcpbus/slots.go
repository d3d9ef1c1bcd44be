package mcpbus

import "sync"

// slots bound what is under way by key. It holds only keys with something under way.
type slots struct {
	limit int
	mu    sync.Mutex
	taken map[string]int
}

// acquire takes a slot, unless all are taken.
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
