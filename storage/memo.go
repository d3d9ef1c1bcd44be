package storage

import "sync"

// memo remembers decoded records by the version they were read at. The document is read
// from the backend all the same; what is saved is decoding it and opening its secrets. A
// version is never used twice, so a record that changed anywhere is decoded anew.
//
// It holds two generations: when the young one is full, the old one is dropped, and what
// is still in use moves over as it is asked for.
type memo[T any] struct {
	clone func(T) T // the caller may change what it is handed

	mu         sync.RWMutex
	young, old map[string]memorized[T]
}

type memorized[T any] struct {
	version int64
	record  T
}

const memoRoom = 8192 // records in one generation

func newMemo[T any](clone func(T) T) *memo[T] {
	return &memo[T]{clone: clone, young: map[string]memorized[T]{}}
}

func (m *memo[T]) get(id string, version int64) (v T, ok bool) {
	m.mu.RLock()
	e, young := m.young[id]
	if !young {
		e = m.old[id]
	}
	m.mu.RUnlock()
	if e.version != version || version == 0 {
		return v, false
	}
	if !young {
		m.keep(id, e)
	}
	return m.clone(e.record), true
}

func (m *memo[T]) put(id string, version int64, v T) {
	m.keep(id, memorized[T]{version, m.clone(v)})
}

func (m *memo[T]) keep(id string, e memorized[T]) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.young) >= memoRoom {
		m.old, m.young = m.young, map[string]memorized[T]{}
	}
	m.young[id] = e
}
