// Package cache remembers a bounded number of values in memory.
//
// It holds two generations: when the young one is full, the old one is dropped, and what is still
// in use moves over as it is asked for. So what is asked for often stays, nothing has to be
// ordered, and there is no moment at which all is forgotten.
//
// Keys are spread over shards by a hash with a seed of the process, so that callers seldom wait
// for each other, and nobody outside can aim at one shard.
//
// [Versioned] is for records of the store, and [Texts] for what is asked for by a long secret text on every request.
package cache

import (
	"hash/maphash"
	"sync"
)

const shards = 64

// Cache remembers values by key. It is safe for concurrent use. Make it with New.
type Cache[K comparable, V any] struct {
	seed   maphash.Seed
	limit  int // of one generation of one shard
	shards [shards]shard[K, V]
}

type shard[K comparable, V any] struct {
	mu         sync.Mutex // held for map work only
	young, old map[K]V
}

// New returns a Cache of at most capacity values, but no fewer than two a shard.
func New[K comparable, V any](capacity int) *Cache[K, V] {
	return &Cache[K, V]{seed: maphash.MakeSeed(), limit: max(1, capacity/shards/2)}
}

// Get returns the value of a key, if it is remembered.
func (c *Cache[K, V]) Get(key K) (v V, ok bool) {
	s := c.lock(key)
	defer s.mu.Unlock()
	return s.get(key, c.limit)
}

// Put remembers a value in the place of what the key had.
func (c *Cache[K, V]) Put(key K, v V) {
	s := c.lock(key)
	defer s.mu.Unlock()
	s.put(key, v, c.limit)
}

// GetOrPut returns the value of a key, and remembers v if there was none.
func (c *Cache[K, V]) GetOrPut(key K, v V) V {
	s := c.lock(key)
	defer s.mu.Unlock()
	if known, ok := s.get(key, c.limit); ok {
		return known
	}
	s.put(key, v, c.limit)
	return v
}

// Update puts what change returns in the place of a value that is remembered. Of other keys it
// does nothing. The cache is locked meanwhile, so change must be quick and not ask it.
func (c *Cache[K, V]) Update(key K, change func(V) V) {
	s := c.lock(key)
	defer s.mu.Unlock()
	if v, ok := s.get(key, c.limit); ok {
		s.put(key, change(v), c.limit)
	}
}

// Delete forgets a key.
func (c *Cache[K, V]) Delete(key K) {
	s := c.lock(key)
	defer s.mu.Unlock()
	delete(s.young, key)
	delete(s.old, key)
}

// Clear forgets all keys.
func (c *Cache[K, V]) Clear() {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		clear(s.young)
		clear(s.old)
		s.mu.Unlock()
	}
}

// Len returns how many values are remembered; one that has moved over counts twice.
func (c *Cache[K, V]) Len() (n int) {
	for i := range c.shards {
		s := &c.shards[i]
		s.mu.Lock()
		n += len(s.young) + len(s.old)
		s.mu.Unlock()
	}
	return n
}

func (c *Cache[K, V]) lock(key K) *shard[K, V] {
	s := &c.shards[maphash.Comparable(c.seed, key)%shards]
	s.mu.Lock()
	return s
}

func (s *shard[K, V]) get(key K, limit int) (v V, ok bool) {
	if v, ok = s.young[key]; ok {
		return v, true
	}
	if v, ok = s.old[key]; ok {
		s.put(key, v, limit)
	}
	return v, ok
}

// put takes the memory of the old generation for the next young one.
func (s *shard[K, V]) put(key K, v V, limit int) {
	if _, there := s.young[key]; !there && len(s.young) >= limit {
		s.young, s.old = s.old, s.young
		clear(s.young)
	}
	if s.young == nil {
		s.young = map[K]V{}
	}
	s.young[key] = v
}
