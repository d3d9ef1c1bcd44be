package cache

import (
	"hash/maphash"
	"math/bits"
	"strings"
	"sync"
	"sync/atomic"
)

// ways is the number of values that share a set, and the least capacity of a Texts.
const ways = 16

// Texts remembers values by secret texts of some length, such as bearer tokens. A lookup takes no
// lock and allocates nothing. It is safe for concurrent use. Make it with NewTexts.
//
// A text is found by a hash of 64 bits and then compared as a whole, so no two are ever mixed up.
// Somebody who guesses at texts learns nothing from the time that takes: a guess is compared with
// what is remembered only if the hash of all of it is the same, and the hash has a seed that never
// leaves the process. To be told how much of a guess is right, one would have to be right about that
// hash first, which one guess in 2^64 is.
//
// The texts themselves stay in memory while they are remembered. They are never shown: whoever can
// read the memory of the process also finds what it verifies and signs with.
type Texts[V any] struct {
	seed maphash.Seed
	mu   sync.Mutex // of those who put; those who get do not wait for them
	sets []atomic.Pointer[set[V]]
}

// set holds the values whose hashes lie close together. It is made when the first comes.
type set[V any] struct {
	sums   [ways]atomic.Uint64 // say where to look, and nothing else: the text decides
	texts  [ways]atomic.Pointer[text[V]]
	oldest int // where the search for a place begins; behind Texts.mu
}

type text[V any] struct {
	text  string
	value V
	used  atomic.Uint32 // rises up to most when it is asked for, falls when a place is looked for
}

// most bounds how many who look for a place pass by a text that is in use.
const most = 3

// NewTexts returns a Texts of at most capacity values, but no fewer than 16.
func NewTexts[V any](capacity int) *Texts[V] {
	return &Texts[V]{seed: maphash.MakeSeed(), sets: make([]atomic.Pointer[set[V]], max(1, capacity/ways))}
}

// Get returns the value of a text, if it is remembered.
func (c *Texts[V]) Get(key string) (v V, ok bool) {
	sum := maphash.String(c.seed, key)
	s := c.at(sum).Load()
	if s == nil {
		return v, false
	}
	for i := range s.sums {
		if s.sums[i].Load() != sum {
			continue
		}
		if t := s.texts[i].Load(); t != nil && t.text == key {
			if n := t.used.Load(); n < most { // not each time: whoever writes takes the line from the others
				t.used.Store(n + 1)
			}
			return t.value, true
		}
	}
	return v, false
}

// Put remembers a value in the place of what the text had. Where all places are taken, one goes
// that nobody has asked for in a while.
func (c *Texts[V]) Put(key string, v V) {
	sum := maphash.String(c.seed, key)
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.at(sum).Load()
	if s == nil {
		s = new(set[V])
		c.at(sum).Store(s)
	}
	i := s.place(key)
	s.sums[i].Store(sum)
	s.texts[i].Store(&text[V]{text: strings.Clone(key), value: v}) // a part of a header would keep all of it
}

// Len returns how many values are remembered.
func (c *Texts[V]) Len() (n int) {
	for i := range c.sets {
		if s := c.sets[i].Load(); s != nil {
			for j := range s.texts {
				if s.texts[j].Load() != nil {
					n++
				}
			}
		}
	}
	return n
}

func (c *Texts[V]) at(sum uint64) *atomic.Pointer[set[V]] {
	i, _ := bits.Mul64(sum, uint64(len(c.sets)))
	return &c.sets[i]
}

// place returns where a text goes: where it is, where nothing is, or else in the place of one that has not
// been asked for since it was passed by.
func (s *set[V]) place(key string) int {
	for i := range s.texts {
		if t := s.texts[i].Load(); t == nil || t.text == key {
			return i
		}
	}
	for range most * ways {
		i := s.next()
		t := s.texts[i].Load()
		n := t.used.Load()
		if n == 0 {
			return i
		}
		t.used.Store(n - 1)
	}
	return s.next()
}

func (s *set[V]) next() int {
	i := s.oldest
	s.oldest = (i + 1) % ways
	return i
}
