package document

import (
	"github.com/keystile/keystile/internal/cache"
	"github.com/keystile/keystile/storage/state"
)

// memo remembers decoded records by the version they were read at. The document is read
// from the backend all the same; the memo saves decoding it and opening its secrets. A
// version is never used twice, so a record that changed anywhere is decoded anew. A record that
// this process writes, removes, is told of or does not find any more is dropped at once: an
// erased user is not kept in memory.
type memo[T any] struct {
	clone func(T) T // the caller may change the result
	known *cache.Cache[string, *memorized[T]]
}

type memorized[T any] struct {
	version int64
	record  T
}

const maxMemorized = 16_384 // records

// forgetter is a memo of whatever records.
type forgetter interface {
	forget(id string)
	forgetAll()
}

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

func (m *memo[T]) forget(id string) { m.known.Delete(id) }

func (m *memo[T]) forgetAll() { m.known.Clear() }

// forget drops what is remembered of a document.
func (s *Store) forget(kind, id string) {
	if m, ok := s.memos.Load(kind); ok {
		m.(forgetter).forget(id)
	}
}

// forgetChanged drops what is remembered of documents that another process may have changed.
func (s *Store) forgetChanged(c state.Change) {
	m, ok := s.memos.Load(c.Kind)
	switch {
	case !ok:
	case c.IDs == nil:
		m.(forgetter).forgetAll()
	default:
		for _, id := range c.IDs {
			m.(forgetter).forget(id)
		}
	}
}
