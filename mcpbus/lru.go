package mcpbus

import (
	"container/list"
	"sync"
)

// lru caches the most recently used values, up to a total cost. The zero value with a limit is
// ready to use.
type lru[K comparable, V any] struct {
	limit int // of the total cost

	mu      sync.Mutex
	cost    int
	entries map[K]*list.Element
	used    list.List // of *lruEntry, the most recent first
}

type lruEntry[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

func (c *lru[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.entries[key]
	if !ok {
		return v, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*lruEntry[K, V]).value, true
}

// getOrPut returns the cached value; if there is none, it caches v and returns it.
func (c *lru[K, V]) getOrPut(key K, v V, cost int) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, there := c.entries[key]; there {
		c.used.MoveToFront(e)
		return e.Value.(*lruEntry[K, V]).value
	}
	if c.entries == nil {
		c.entries = map[K]*list.Element{}
	}
	c.entries[key] = c.used.PushFront(&lruEntry[K, V]{key, v, cost})
	for c.cost += cost; c.cost > c.limit; {
		gone := c.used.Remove(c.used.Back()).(*lruEntry[K, V])
		delete(c.entries, gone.key)
		c.cost -= gone.cost
	}
	return v
}
