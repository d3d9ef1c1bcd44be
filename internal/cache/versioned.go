package cache

// Versioned remembers decoded records by the version they were read at. The document is read
// from the backend all the same; the memo saves decoding it and opening its secrets. A
// version is never used twice, so a record that changed anywhere is decoded anew. A record that
// this process writes, removes, is told of or does not find any more is dropped at once: an
// erased user is not kept in memory.
type Versioned[T any] struct {
	clone func(T) T // the caller may change the result
	known *Cache[string, *remembered[T]]
}

type remembered[T any] struct {
	version int64
	record  T
}

// MaxVersioned bounds the records that a Versioned remembers.
const MaxVersioned = 16_384

// NewVersioned returns an empty Versioned, which keeps and returns copies.
func NewVersioned[T any](clone func(T) T) *Versioned[T] {
	return &Versioned[T]{clone: clone, known: New[string, *remembered[T]](MaxVersioned)}
}

// Get returns the record of an id, if it is remembered at this version.
func (m *Versioned[T]) Get(id string, version int64) (v T, ok bool) {
	e, ok := m.known.Get(id)
	if !ok || e.version != version || version == 0 {
		return v, false
	}
	return m.clone(e.record), true
}

// Put remembers a record in the place of what the id had.
func (m *Versioned[T]) Put(id string, version int64, v T) {
	m.known.Put(id, &remembered[T]{version, m.clone(v)})
}

// Forget drops the record of an id.
func (m *Versioned[T]) Forget(id string) { m.known.Delete(id) }

// ForgetAll drops all records.
func (m *Versioned[T]) ForgetAll() { m.known.Clear() }

// Len returns how many records are remembered.
func (m *Versioned[T]) Len() int { return m.known.Len() }
