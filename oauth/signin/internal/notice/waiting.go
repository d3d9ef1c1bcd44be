package notice

import "sync"

// waiting counts the notices that wait in the outbox. They never take all of its places, and
// those of one user only a few.
type waiting struct {
	mu  sync.Mutex
	all int
	of  map[string]int // by user: those who have any
}

func (n *waiting) take(sub string) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all >= maxWaiting || n.of[sub] >= PerUser {
		return false
	}
	if n.of == nil {
		n.of = map[string]int{}
	}
	n.all++
	n.of[sub]++
	return true
}

func (n *waiting) done(sub string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.all--
	if n.of[sub]--; n.of[sub] == 0 {
		delete(n.of, sub)
	}
}
