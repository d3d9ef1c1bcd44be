package claims

import (
	"sync"
	"time"

	"github.com/keystile/keystile/internal/cache"
)

// maxAge bounds how long something is kept. It is for changes that nobody tells of: by a node of an older
// version, or by a second Store that a host has opened on the Backend of one process.
const maxAge = 5 * time.Second

// memo keeps what was read until it is told of a change.
type memo[K comparable, V any] struct {
	known *cache.Cache[K, aged[V]]

	mu      sync.Mutex // held to keep and to drop, not to find
	changes uint64
}

type aged[V any] struct {
	v    V
	read time.Time
}

// begun holds when a reading began.
type begun struct {
	at      time.Time
	changes uint64
}

func newMemo[K comparable, V any](capacity int) *memo[K, V] {
	return &memo[K, V]{known: cache.New[K, aged[V]](capacity)}
}

// get returns what is kept, or what put has to be given once it has been read.
func (m *memo[K, V]) get(key K) (v V, b begun, ok bool) {
	now := time.Now()
	if k, ok := m.known.Get(key); ok && now.Sub(k.read) < maxAge {
		return k.v, begun{}, true
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return v, begun{now, m.changes}, false
}

// put keeps what was read, unless something has changed since the reading began.
func (m *memo[K, V]) put(key K, v V, b begun) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if b.changes == m.changes {
		m.known.Put(key, aged[V]{v, b.at})
	}
}

// drop forgets what has changed, or all of it.
func (m *memo[K, V]) drop(all bool, changed ...K) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.changes++; all {
		m.known.Clear()
	}
	for _, key := range changed {
		m.known.Delete(key)
	}
}
