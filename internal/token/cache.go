package token

import (
	"cmp"
	"crypto/sha256"
	"sync"
)

const (
	shards       = 64
	defaultCache = 100_000
)

// cache remembers good tokens by the hash of their whole text, in two generations: when
// the young one is full it becomes the old one, and what was used meanwhile has moved up.
// It holds at most the size asked for, but no fewer than two tokens a shard.
type cache struct {
	limit  int // of one generation of one shard
	shards [shards]shard
}

type shard struct {
	mu         sync.Mutex // held for map work only
	young, old map[[sha256.Size]byte]*passed
}

func newCache(size int) *cache {
	c := &cache{limit: max(1, cmp.Or(size, defaultCache)/shards/2)}
	for i := range c.shards {
		c.shards[i].young = map[[sha256.Size]byte]*passed{}
		c.shards[i].old = map[[sha256.Size]byte]*passed{}
	}
	return c
}

func (c *cache) get(sum [sha256.Size]byte) *passed {
	s := &c.shards[sum[0]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if t := s.young[sum]; t != nil {
		return t
	}
	t := s.old[sum]
	if t != nil {
		s.put(sum, t, c.limit)
	}
	return t
}

func (c *cache) put(sum [sha256.Size]byte, t *passed) {
	s := &c.shards[sum[0]%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(sum, t, c.limit)
}

func (s *shard) put(sum [sha256.Size]byte, t *passed, limit int) {
	if len(s.young) >= limit {
		s.young, s.old = s.old, s.young
		clear(s.young)
	}
	s.young[sum] = t
}
