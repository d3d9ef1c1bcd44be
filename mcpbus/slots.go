package mcpbus

import "sync"

// slots bound what is under way by key. It holds only keys with something under way.
type slots struct {
	most  int
	mu    sync.Mutex
	taken map[string]int
}

// take takes a slot, unless all are taken.
func (s *slots) take(key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key] >= s.most {
		return false
	}
	if s.taken == nil {
		s.taken = map[string]int{}
	}
	s.taken[key]++
	return true
}

func (s *slots) give(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.taken[key]--; s.taken[key] == 0 {
		delete(s.taken, key)
	}
}
