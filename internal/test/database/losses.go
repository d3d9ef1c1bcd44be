package database

import (
	"slices"
	"sync"
)

// Losses says which answers of a server get lost on a wire (Through). The zero value loses none.
type Losses struct {
	mu   sync.Mutex
	gaps []int
	lost int
	came int
}

// Begin has answers lost: the first of gaps is the number of the first from now on, and each other one that of the
// next behind the one before.
func (l *Losses) Begin(gaps ...int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps, l.lost, l.came = slices.Clone(gaps), 0, 0
}

// End ends what Begin began, and returns how many answers were lost.
func (l *Losses) End() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = nil
	return l.lost
}

// Came returns how many answers have come since Begin.
func (l *Losses) Came() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.came
}

// Next reports whether the answer that has come gets lost, and whether it is the last that does.
func (l *Losses) Next() (lost, last bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.came++
	if len(l.gaps) == 0 {
		return false, false
	}
	if l.gaps[0]--; l.gaps[0] > 0 {
		return false, false
	}
	l.gaps = l.gaps[1:]
	l.lost++
	return true, len(l.gaps) == 0
}
