package cache

import (
	"strconv"
	"strings"
	"sync"
	"testing"
)

func TestTextsAreBoundedAndKeepWhatIsUsed(t *testing.T) {
	for _, capacity := range []int{1, 1_000, 10_000} {
		c := NewTexts[int](capacity)
		c.Put("used", 7)
		for i := range 10 * max(capacity, ways) {
			if v, ok := c.Get("used"); !ok || v != 7 {
				t.Fatalf("capacity %d: what is in use is forgotten after %d others", capacity, i)
			}
			c.Put(strconv.Itoa(i), i)
			if v, ok := c.Get(strconv.Itoa(i)); !ok || v != i {
				t.Fatalf("capacity %d: Get(%d) = %d, %t", capacity, i, v, ok)
			}
		}
		if n, most := c.Len(), max(capacity, ways); n > most || n < most*9/10 {
			t.Errorf("capacity %d: %d values are remembered, want at most %d, and most of them", capacity, n, most)
		}
		if _, ok := c.Get("0"); ok {
			t.Errorf("capacity %d: what nobody asks for is remembered for ever", capacity)
		}
	}
}

// Half as many as the capacity have a place each: sets are not filled evenly.
func TestHalfTheCapacityIsRememberedAtOnce(t *testing.T) {
	c := NewTexts[int](100_000)
	for i := range 50_000 {
		c.Put(strconv.Itoa(i), i)
	}
	missing := 0
	for i := range 50_000 {
		if v, ok := c.Get(strconv.Itoa(i)); !ok {
			missing++
		} else if v != i {
			t.Fatalf("Get(%d) = %d", i, v)
		}
	}
	if missing > 250 { // the expectation is 65
		t.Errorf("%d of 50,000 are not remembered", missing)
	}
}

func TestTextIsKnownByEveryByteWhateverItsHash(t *testing.T) {
	c := NewTexts[int](1) // one set: all that is asked for is in it
	known := strings.Repeat("abcdefgh", 64)
	c.Put(known, 1)
	sum := c.sets[0].Load().sums[0].Load()
	for i := range known {
		other := []byte(known)
		other[i] ^= 1
		if _, ok := c.Get(string(other)); ok {
			t.Fatalf("byte %d makes no difference", i)
		}
	}
	c.Put("other", 2)
	for i := range ways { // as if all hashes were the same
		c.sets[0].Load().sums[i].Store(sum)
	}
	if v, ok := c.Get(known); !ok || v != 1 {
		t.Errorf("Get = %d, %t, want 1 of the text that was put", v, ok)
	}
	c.sets[0].Load().texts[0].Store(&text[int]{text: known + "x", value: 3})
	if v, ok := c.Get(known); ok {
		t.Errorf("a text of the same hash is taken for another: %d", v)
	}
}

func TestPuttingATextAgainReplacesItsValue(t *testing.T) {
	c := NewTexts[int](1)
	for i := range 100 {
		c.Put("a", i)
	}
	if v, ok := c.Get("a"); !ok || v != 99 || c.Len() != 1 {
		t.Errorf("Get = %d, %t of %d, want 99 of 1", v, ok, c.Len())
	}
}

// Run with -race: who asks waits for nobody, and sees a text with its own value or nothing.
func TestTextsAreAskedForWhileTheyArePut(t *testing.T) {
	c := NewTexts[string](1)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for i := range 20_000 {
				key := strconv.Itoa(i % 40)
				if v, ok := c.Get(key); ok && v != key {
					t.Errorf("Get(%s) = %s", key, v)
					return
				}
				if i%3 == 0 {
					c.Put(key, key)
				}
			}
		})
	}
	all.Wait()
}

func TestAskingForATextAllocatesNothing(t *testing.T) {
	c := NewTexts[*int](1_000)
	known := strings.Repeat("abcdefgh", 64)
	c.Put(known, new(int))
	if n := testing.AllocsPerRun(100, func() { c.Get(known); c.Get("unknown") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkTexts(b *testing.B) {
	c := NewTexts[int](100_000)
	keys := make([]string, 20_000)
	for i := range keys {
		keys[i] = strings.Repeat(strconv.Itoa(10_000+i), 100)
		c.Put(keys[i], i)
	}
	b.Run("one", func(b *testing.B) {
		for b.Loop() {
			c.Get(keys[0])
		}
	})
	b.Run("of 20,000", func(b *testing.B) {
		i := 0
		for b.Loop() {
			i = (i + 7919) % len(keys)
			c.Get(keys[i])
		}
	})
	b.Run("one, all cores", func(b *testing.B) {
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				c.Get(keys[0])
			}
		})
	})
}
