package dpop

import (
	"crypto/sha256"
	"sync"
	"time"
)

// maxRemembered bounds the proofs of one generation: some 8 MB.
const maxRemembered = 1 << 17

// verdict says whether a proof comes for the first time.
type verdict int

const (
	first    verdict = iota
	repeated         // it has come before
	tooOld           // whether it has is forgotten
)

// proofID identifies a proof: its key and its jti.
type proofID [sha256.Size]byte

// memory remembers the proofs that have come, for as long as their nonces are good. It forgets by generations: each
// proof of the one before last has a nonce that is refused by now.
type memory struct {
	mu        sync.Mutex
	now, last generation
	forgotten time.Time // nonces that were made until then are refused
	limit     int
}

type generation struct {
	began, newest time.Time // when its first proof came, and the latest time of a nonce in it
	seen          map[proofID]struct{}
}

// add remembers a proof whose nonce was made at a time.
func (m *memory) add(id proofID, nonce, at time.Time) verdict {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.now.seen) >= m.limit || at.Sub(m.now.began) >= nonceLife {
		if m.last.newest.After(m.forgotten) {
			m.forgotten = m.last.newest
		}
		m.last, m.now = m.now, generation{began: at, seen: map[proofID]struct{}{}}
	}
	if !nonce.After(m.forgotten) {
		return tooOld
	}
	_, now := m.now.seen[id]
	_, before := m.last.seen[id]
	if now || before {
		return repeated
	}
	m.now.seen[id] = struct{}{}
	if nonce.After(m.now.newest) {
		m.now.newest = nonce
	}
	return first
}
