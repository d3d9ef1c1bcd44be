package document

import (
	"github.com/keystile/keystile/internal/cache"
)

// memo remembers decoded records by the version they were read at. The document is read
// from the backend all the same; the memo saves decoding it and opening its secrets. A
// version is never used twice, so a record that changed anywhere is decoded anew.
type memo[T any] struct {
	clone func(T) T // the caller may change the result
	known *cache.Cache[string, *memorized[T]]
}

type memorized[T any] struct {
	version int64
	record  T
}

const maxMemorized = 16_384 // records

func newMemo[T any](clone func(T) T) *memo[T] {
	return &memo[T]{clone: clone, known: cache.New[string, *memorized[T]](maxMemorized)}
}

func (m *memo[T]) get(id string, version int64) (v T, ok bool) {
	e, ok := m.known.Get(id)
	if !ok || e.version != version || version == 0 {
		return v, false
	}
	return m.clone(e.record), true
}

func (m *memo[T]) put(id string, version int64, v T) {
	m.known.Put(id, &memorized[T]{version, m.clone(v)})
}
