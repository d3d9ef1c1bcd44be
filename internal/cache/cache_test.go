package cache

import (
	"fmt"
	"sync"
	"testing"
)

func Example() {
	c := New[string, int](1000)
	c.Put("a", 1)
	c.Update("a", func(v int) int { return v + 1 })
	fmt.Println(c.Get("a"))
	c.Delete("a")
	fmt.Println(c.Get("a"))
	// Output:
	// 2 true
	// 0 false
}

func TestCacheIsBoundedAndKeepsWhatIsUsed(t *testing.T) {
	const capacity = 10_000
	c := New[int, int](capacity)
	c.Put(-1, 7)
	for i := range 10 * capacity {
		c.Put(i, i)
		if v, ok := c.Get(-1); !ok || v != 7 {
			t.Fatalf("what is in use is forgotten after %d others", i)
		}
		if v, ok := c.Get(i); !ok || v != i {
			t.Fatalf("Get(%d) = %d, %t", i, v, ok)
		}
	}
	if n := c.Len(); n > capacity || n < capacity/4 {
		t.Errorf("%d values are remembered, want at most %d and no fewer than a quarter of them", n, capacity)
	}
	if _, ok := c.Get(0); ok {
		t.Error("what nobody has asked for is remembered for ever")
	}
}

func TestPuttingAgainPushesNothingOut(t *testing.T) {
	c := New[int, int](2 * shards) // one value in a generation of a shard
	for i := range 100 {
		c.Put(1, i)
	}
	if v, ok := c.Get(1); !ok || v != 99 || c.Len() != 1 {
		t.Errorf("Get = %d, %t of %d, want 99 of 1", v, ok, c.Len())
	}
}

func TestCacheKeepsNothingOfAnOldGeneration(t *testing.T) {
	c := New[int, string](2 * shards)
	same := []int{0} // keys of one shard
	for i := 1; len(same) < 3; i++ {
		if c.lockedShard(i) == c.lockedShard(0) {
			same = append(same, i)
		}
	}
	c.Put(same[0], "old")
	c.Put(same[1], "pushes it into the old generation")
	c.Put(same[0], "new")
	c.Delete(same[0])
	if v, ok := c.Get(same[0]); ok {
		t.Errorf("a key that is forgotten has %q", v)
	}
	c.Put(same[0], "old")
	c.Put(same[1], "again")
	c.Update(same[0], func(string) string { return "new" })
	if v, _ := c.Get(same[0]); v != "new" {
		t.Errorf("after Update it is %q", v)
	}
	c.Update(same[2], func(string) string { t.Error("a key that is not there is changed"); return "" })
	if _, ok := c.Get(same[2]); ok {
		t.Error("Update has made a key")
	}
}

func (c *Cache[K, V]) lockedShard(key K) *shard[K, V] {
	s := c.lock(key)
	s.mu.Unlock()
	return s
}

func TestCachePutByManyAtOnceGivesAllTheFirst(t *testing.T) {
	c := New[string, *int](1000)
	got := make([]*int, 32)
	var all sync.WaitGroup
	for i := range got {
		all.Go(func() { got[i] = c.GetOrPut("a", new(int)) })
	}
	all.Wait()
	for _, one := range got {
		if one == nil || one != got[0] {
			t.Fatal("two callers have different values")
		}
	}
}
