package mcpbus

import (
	"container/list"
	"sync"
)

// lru remembers what was used last, up to a cost. The zero value with a most is ready.
type lru[K comparable, V any] struct {
	most int // of the costs of all

	mu    sync.Mutex
	cost  int
	known map[K]*list.Element
	used  list.List // of *remembered, the latest first
}

type remembered[K comparable, V any] struct {
	key   K
	value V
	cost  int
}

func (c *lru[K, V]) get(key K) (v V, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.known[key]
	if !ok {
		return v, false
	}
	c.used.MoveToFront(e)
	return e.Value.(*remembered[K, V]).value, true
}

// keep remembers a value, unless there is one: it returns the one that is remembered.
func (c *lru[K, V]) keep(key K, v V, cost int) V {
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, there := c.known[key]; there {
		c.used.MoveToFront(e)
		return e.Value.(*remembered[K, V]).value
	}
	if c.known == nil {
		c.known = map[K]*list.Element{}
	}
	c.known[key] = c.used.PushFront(&remembered[K, V]{key, v, cost})
	for c.cost += cost; c.cost > c.most; {
		gone := c.used.Remove(c.used.Back()).(*remembered[K, V])
		delete(c.known, gone.key)
		c.cost -= gone.cost
	}
	return v
}
