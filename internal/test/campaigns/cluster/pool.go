package main

import (
	"math/rand/v2"
	"sync"
)

// pool keeps some of what was put into it, old and new alike.
type pool[T any] struct {
	mu   sync.Mutex
	n    int
	kept []T
}

// kept is a token with what it takes to present it.
type kept struct {
	app             application
	token, verifier string
}

const poolSize = 2000

func (p *pool[T]) put(r *rand.Rand, k T) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.n++
	switch i := r.IntN(p.n); {
	case len(p.kept) < poolSize:
		p.kept = append(p.kept, k)
	case i < poolSize:
		p.kept[i] = k
	}
}

// draw returns one, if there is any.
func (p *pool[T]) draw(r *rand.Rand) (one T, some bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.kept) == 0 {
		return one, false
	}
	return p.kept[r.IntN(len(p.kept))], true
}
