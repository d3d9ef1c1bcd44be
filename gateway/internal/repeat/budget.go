package repeat

import (
	"sync"
	"time"
)

// budget bounds how many calls are newly remembered: most at once, and as many again in the course
// of Life. So no more than twice as many are remembered at a time.
type budget struct {
	mu   sync.Mutex
	most float64
	left float64
	at   time.Time
}

func newBudget(most int, at time.Time) *budget {
	return &budget{most: float64(most), left: float64(most), at: at}
}

// take takes one, if there is one.
func (b *budget) take(at time.Time) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if since := at.Sub(b.at); since > 0 {
		b.left, b.at = min(b.most, b.left+b.most*since.Seconds()/Life.Seconds()), at
	}
	if b.left < 1 {
		return false
	}
	b.left--
	return true
}

// giveBack returns one that was not used.
func (b *budget) giveBack() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.left = min(b.most, b.left+1)
}
